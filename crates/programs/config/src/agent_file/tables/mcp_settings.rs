//! The `[mcp.NAME]` tables.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use neuron_sandbox::Sandbox;

use crate::agent_file::{
    address::{UNENCRYPTED, unencrypted_host},
    tables::{
        agents::Agent, mcp_keys::McpKeys, mcp_names::SEPARATOR, model_name::read_name,
        models::Known, sandbox,
    },
    text::{
        problem::looks_like_a_key,
        table::{Table, Text},
    },
};

/// The longest name of a server: the names of its tools begin with it.
const MAX_NAME: usize = 32;

/// The headers that the protocol or the connection sets.
const RESERVED_HEADERS: [&str; 9] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];

/// A server as it stands in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct McpSettings {
    pub(crate) command: Vec<String>,
    pub(crate) url: Option<String>,
    pub(crate) env: Vec<String>,
    pub(crate) token_env: Option<String>,
    /// Headers of every request, by name.
    pub(crate) headers: BTreeMap<String, String>,
    /// Variables that hold such headers, by the header's name.
    pub(crate) headers_env: BTreeMap<String, String>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) start_timeout: Option<Duration>,
    /// Whether the agents of the server need it to start.
    pub(crate) required: bool,
    /// Whether the server may ask the person.
    pub(crate) elicitation: bool,
    pub(crate) sampling: Sampling,
    pub(crate) sampling_max_tokens: Option<u64>,
    /// Whether calls carry the run that they belong to, and its user, if the file sets that.
    pub(crate) tags: Option<bool>,
    /// What the server's program may reach, if the file sets that.
    pub(crate) sandbox: Option<Sandbox>,
}

/// The model that a server may ask.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Sampling {
    #[default]
    Nobody,
    /// The model of the agents that use the server.
    Agents,
    Model {
        provider: String,
        model: String,
    },
}

/// Reads the tables.
pub(crate) fn read(
    tables: &[(&str, McpKeys<'_>)],
    known: &Known<'_>,
) -> BTreeMap<String, McpSettings> {
    tables
        .iter()
        .map(|(name, table)| {
            check_name(name, table);
            ((*name).to_owned(), read_one(table, known))
        })
        .collect()
}

/// Finds the model for servers that ask the model of their agents.
pub(crate) fn settle_sampling(
    tables: &[(&str, McpKeys<'_>)],
    servers: &mut BTreeMap<String, McpSettings>,
    agents: &BTreeMap<String, Agent>,
) {
    for (name, table) in tables {
        let Some(settings) = servers.get_mut(*name) else {
            continue;
        };
        if settings.sampling != Sampling::Agents {
            continue;
        }
        let models: BTreeSet<(&str, &str)> = agents
            .values()
            .filter(|agent| agent.mcp.iter().any(|server| server == name))
            .filter_map(|agent| {
                let head = &agent.spec.head;
                Some((head.provider.as_deref()?, head.model.as_str()))
            })
            .collect();
        if models.len() > 1 {
            let message = "is true, and the agents that use this server have different models: \
                           write the model, as in \"openai/gpt-6.1-terra\"";
            table.problem("sampling", table.offset_of("sampling"), message);
        }
        if let Some((provider, model)) = models.first() {
            settings.sampling = Sampling::Model {
                provider: (*provider).to_owned(),
                model: (*model).to_owned(),
            };
        }
    }
}

fn read_sampling(table: &McpKeys<'_>, known: &Known<'_>) -> Sampling {
    if table.has("sampling_max_tokens") && !table.has("sampling") {
        let offset = table.offset_of("sampling_max_tokens");
        table.problem(
            "sampling_max_tokens",
            offset,
            "has no effect without sampling",
        );
    }
    let model = match table.sampling() {
        Ok(Some(true)) => return Sampling::Agents,
        Ok(_) => return Sampling::Nobody,
        Err(model) => model,
    };
    match model.and_then(|name| read_name(table, "sampling", name, known.providers)) {
        Some(model) => Sampling::Model {
            provider: model.provider.to_owned(),
            model: model.name.to_owned(),
        },
        None => Sampling::Nobody,
    }
}

fn check_name(name: &str, table: &Table<'_>) {
    let fits = !name.is_empty()
        && name.len() <= MAX_NAME
        && !name.contains(SEPARATOR)
        && !name.ends_with('_')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if !fits {
        table.problems.add(
            table.offset,
            format!(
                "{} names no MCP server: use at most {MAX_NAME} letters, digits, - and single _",
                table.place()
            ),
        );
    }
}

fn read_one(table: &McpKeys<'_>, known: &Known<'_>) -> McpSettings {
    let command = table.command();
    let url = table.url();
    match (table.has("command"), table.has("url")) {
        (false, false) => table.missing("command = [\"program\", \"argument\"] or url = \"…\""),
        (true, true) => table.problem(
            "url",
            table.offset_of("url"),
            "is set beside command: keep one of them",
        ),
        (true, false) if command.is_empty() => table.problem(
            "command",
            table.offset_of("command"),
            "names no program: write [\"program\", \"argument\"]",
        ),
        _ => {}
    }
    for text in command.iter().chain(&url) {
        if looks_like_a_key(text.value) {
            let key = if table.has("url") { "url" } else { "command" };
            let message =
                "contains what looks like a key: pass it in a variable, with env or token_env";
            table.problem(key, text.offset, message);
        }
    }
    if let Some(url) = &url
        && !(url.value.starts_with("http://") || url.value.starts_with("https://"))
    {
        let message = "is not an address: write one that begins with http:// or https://";
        table.problem("url", url.offset, message);
    }
    for (key, other) in [
        ("env", "url"),
        ("token_env", "command"),
        ("headers", "command"),
        ("headers_env", "command"),
        ("insecure", "command"),
        (sandbox::KEY, "url"),
    ] {
        if table.has(key) && table.has(other) {
            let message = format!("has no effect beside {other}: remove it");
            table.problem(key, table.offset_of(key), &message);
        }
    }
    let variables = table.env();
    let token = table.token_env();
    let headers = read_headers(table, "headers", table.headers());
    let secret_headers = read_headers(table, "headers_env", table.headers_env());
    for (name, value) in &headers {
        if looks_like_a_key(value.value) {
            let message = "contains what looks like a key: pass it in a variable, with headers_env";
            table.problem("headers", value.offset, message);
        } else if value.value.contains(char::is_control) {
            let message = format!("gives {name} a value with control characters: remove them");
            table.problem("headers", value.offset, &message);
        }
    }
    for (name, value) in &secret_headers {
        if headers.contains_key(name) {
            let message = format!("has {name}, and so has headers: keep one of them");
            table.problem("headers_env", value.offset, &message);
        }
    }
    if token.is_some() {
        for (key, headers) in [("headers", &headers), ("headers_env", &secret_headers)] {
            if let Some(value) = headers.get("authorization") {
                let message = "has Authorization, which token_env sends: keep one of them";
                table.problem(key, value.offset, message);
            }
        }
    }
    let is_insecure = table.insecure().unwrap_or_default();
    let is_login = |name: &str| headers.contains_key(name);
    let has_secret = token.is_some()
        || !secret_headers.is_empty()
        || is_login("authorization")
        || is_login("cookie");
    if let (Some(url), true, false) = (&url, has_secret, is_insecure)
        && unencrypted_host(url.value).is_some()
    {
        table.problem("url", url.offset, UNENCRYPTED);
    }
    for (key, text) in variables
        .iter()
        .map(|text| ("env", text))
        .chain(token.iter().map(|text| ("token_env", text)))
        .chain(secret_headers.values().map(|text| ("headers_env", text)))
    {
        if looks_like_a_key(text.value) || text.value.contains('=') || text.value.is_empty() {
            let message = "contains a value that is not the name of a variable: write the name, not the value";
            table.problem(key, text.offset, message);
        }
    }
    let own = |text: &Text<'_>| text.value.to_owned();
    McpSettings {
        command: command.iter().map(own).collect(),
        url: url.as_ref().map(own),
        env: variables.iter().map(own).collect(),
        token_env: token.as_ref().map(own),
        headers: owned(&headers),
        headers_env: owned(&secret_headers),
        timeout: table.timeout(),
        start_timeout: table.start_timeout(),
        required: table.required().unwrap_or(true),
        elicitation: table.elicitation().unwrap_or_default(),
        sampling: read_sampling(table, known),
        sampling_max_tokens: table.sampling_max_tokens(),
        tags: table.tags(),
        sandbox: table.sandbox(),
    }
}

/// Returns headers by their names, which are equal whatever case they are written in.
fn read_headers<'a>(
    table: &Table<'a>,
    key: &str,
    headers: Option<Table<'a>>,
) -> BTreeMap<String, Text<'a>> {
    let Some(headers) = headers else {
        return BTreeMap::new();
    };
    let mut read = BTreeMap::new();
    for (name, value) in headers.texts_by_key() {
        let own_name = name.to_ascii_lowercase();
        if !is_token(name) {
            let message = format!("has {name:?}, which is not the name of a header");
            table.problem(key, value.offset, &message);
        } else if RESERVED_HEADERS.contains(&own_name.as_str()) {
            let message = format!("has {name}, which the protocol sets: remove it");
            table.problem(key, value.offset, &message);
        }
        read.insert(own_name, value);
    }
    read
}

/// Returns whether the name is a token as RFC 9110 defines it.
fn is_token(name: &str) -> bool {
    let is_mark = |c: char| "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || is_mark(c))
}

fn owned(headers: &BTreeMap<String, Text<'_>>) -> BTreeMap<String, String> {
    let headers = headers.iter();
    headers
        .map(|(name, value)| (name.clone(), value.value.to_owned()))
        .collect()
}
