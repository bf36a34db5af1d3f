//! The `[mcp.NAME]` tables, and the servers that they name.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
    time::Duration,
};

use neuron_mcp::{McpRoot, McpServerSpec, McpServers, McpTransport};
use neuron_types::{AgentSpec, ToolDyn};

use super::{
    AgentFile, AgentFileError, Environment,
    environment::set,
    problem::looks_like_a_key,
    table::{Table, Text},
};

/// What stands before a server's name in `tools`, `approve` and `deny`.
const PREFIX: &str = "mcp:";
/// What stands between a server's name and a tool's.
const SEPARATOR: &str = "__";
/// The longest name of a server: tools' names begin with it.
const MAX_NAME: usize = 32;
const KEYS: [&str; 5] = ["command", "url", "env", "token_env", "timeout"];

/// A server as the file names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct McpSettings {
    command: Vec<String>,
    url: Option<String>,
    env: Vec<String>,
    token_env: Option<String>,
    timeout: Option<Duration>,
}

/// Reads the tables.
pub(super) fn read(root: &Table<'_>) -> BTreeMap<String, McpSettings> {
    root.named_tables("mcp")
        .into_iter()
        .map(|(name, table)| {
            check_name(name, &table);
            (name.to_owned(), read_one(&table))
        })
        .collect()
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

fn read_one(table: &Table<'_>) -> McpSettings {
    table.expect_keys(&KEYS);
    let command = table.texts("command");
    let url = table.text("url");
    match (table.has("command"), table.has("url")) {
        (false, false) => table.missing("command = [\"program\", \"argument\"] or url = \"…\""),
        (true, true) => table.problem(
            "url",
            table.offset_of("url"),
            "stands beside command: keep one of them",
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
                "holds what looks like a key: pass it in a variable, with env or token_env";
            table.problem(key, text.offset, message);
        }
    }
    if let Some(url) = &url
        && !(url.value.starts_with("http://") || url.value.starts_with("https://"))
    {
        let message = "is no address: write one that begins with http:// or https://";
        table.problem("url", url.offset, message);
    }
    for (key, other) in [("env", "url"), ("token_env", "command")] {
        if table.has(key) && table.has(other) {
            let message = format!("has no use beside {other}: remove it");
            table.problem(key, table.offset_of(key), &message);
        }
    }
    let variables = table.texts("env");
    let token = table.text("token_env");
    for (key, text) in variables
        .iter()
        .map(|text| ("env", text))
        .chain(token.iter().map(|text| ("token_env", text)))
    {
        if looks_like_a_key(text.value) || text.value.contains('=') || text.value.is_empty() {
            let message = "holds what is no name of a variable: write the name, not the value";
            table.problem(key, text.offset, message);
        }
    }
    let own = |text: &Text<'_>| text.value.to_owned();
    McpSettings {
        command: command.iter().map(own).collect(),
        url: url.as_ref().map(own),
        env: variables.iter().map(own).collect(),
        token_env: token.as_ref().map(own),
        timeout: table.duration("timeout"),
    }
}

/// The server that `mcp:NAME` means.
pub(super) fn server_name(entry: &str) -> Option<&str> {
    entry.strip_prefix(PREFIX)
}

/// The server of a tool, by the tool's name here.
pub(super) fn server_of(tool: &str) -> Option<&str> {
    tool.split_once(SEPARATOR).map(|(server, _)| server)
}

/// Starts servers of the file that do not run yet, and gives their tools to the agents that have all of theirs.
pub(super) async fn start(
    file: &mut AgentFile,
    wanted: BTreeSet<String>,
    cwd: &Path,
    environment: &dyn Environment,
) -> Result<McpServers, AgentFileError> {
    let hidden = hidden(file);
    let mut specs = Vec::new();
    for (name, settings) in &file.mcp {
        if wanted.contains(name) {
            specs.push(spec(name, settings, &hidden, environment)?);
        }
    }
    let roots = vec![McpRoot::folder(cwd)];
    let servers = McpServers::start(specs, Arc::new(roots)).await?;
    for agent in file.agents.values_mut() {
        let running: Vec<&str> = servers.names().collect();
        if agent
            .mcp
            .iter()
            .all(|name| running.contains(&name.as_str()))
        {
            let found = agent.mcp.iter().flat_map(|name| servers.definitions(name));
            let tools = &mut agent.spec.request.tools;
            tools.extend(found);
            tools.sort_by(|one, other| one.name.cmp(&other.name));
            spell_out(&mut agent.spec.approvals.allow, &servers);
            spell_out(&mut agent.spec.approvals.approve, &servers);
            spell_out(&mut agent.spec.approvals.deny, &servers);
        }
    }
    file.servers = Some(servers.clone());
    Ok(servers)
}

/// Puts the tools of a server in the place of `mcp:SERVER`: a run's rules hold for the tools that it has.
fn spell_out(rules: &mut Vec<String>, servers: &McpServers) {
    *rules = rules
        .iter()
        .flat_map(|rule| {
            let (except, name) = match rule.strip_prefix('!') {
                Some(name) => ("!", name),
                None => ("", rule.as_str()),
            };
            match server_name(name) {
                Some(server) => servers
                    .definitions(server)
                    .into_iter()
                    .map(|tool| format!("{except}{}", tool.name))
                    .collect(),
                None => vec![rule.clone()],
            }
        })
        .collect();
}

/// What it takes to start one server.
pub(super) fn one(
    file: &AgentFile,
    name: &str,
    environment: &dyn Environment,
) -> Result<McpServerSpec, AgentFileError> {
    match file.mcp.get(name) {
        Some(settings) => spec(name, settings, &hidden(file), environment),
        None => Err(AgentFileError::UnknownMcpServer {
            name: name.to_owned(),
            known: file.mcp.keys().cloned().collect(),
        }),
    }
}

/// The variables that no server gets unless it is named for it.
fn hidden(file: &AgentFile) -> Vec<String> {
    let settings = file.providers.values();
    settings
        .flat_map(|settings| settings.key_variables.clone())
        .collect()
}

/// Whether the servers of an agent were started.
pub(super) fn require_started(
    file: &AgentFile,
    agent: &str,
    servers: &[String],
) -> Result<(), AgentFileError> {
    let running = file.servers.as_ref();
    let is_running = |name: &String| running.is_some_and(|running| running.client(name).is_some());
    match servers.iter().find(|name| !is_running(name)) {
        None => Ok(()),
        Some(server) => Err(AgentFileError::McpNotStarted {
            agent: agent.to_owned(),
            server: server.clone(),
        }),
    }
}

fn spec(
    name: &str,
    settings: &McpSettings,
    hidden: &[String],
    environment: &dyn Environment,
) -> Result<McpServerSpec, AgentFileError> {
    let value_of = |variable: &String| {
        set(environment, variable).ok_or_else(|| AgentFileError::McpVariable {
            server: name.to_owned(),
            variable: variable.clone(),
        })
    };
    let mut spec = match &settings.url {
        Some(url) => McpServerSpec::http(name, url.as_str()),
        None => {
            let mut words = settings.command.iter().cloned();
            McpServerSpec::stdio(name, words.next().unwrap_or_default(), words)
        }
    };
    match &mut spec.transport {
        McpTransport::Stdio {
            environment,
            hidden_environment,
            ..
        } => {
            hidden_environment.extend_from_slice(hidden);
            for variable in &settings.env {
                environment.insert(variable.clone(), value_of(variable)?);
            }
        }
        McpTransport::Http { token, .. } => {
            *token = settings.token_env.as_ref().map(value_of).transpose()?;
        }
    }
    Ok(match settings.timeout {
        Some(timeout) => spec.timeout(timeout),
        None => spec,
    })
}

/// A tool of an agent that is no built-in one.
pub(super) fn tool(
    file: &AgentFile,
    agent: &AgentSpec,
    name: &str,
) -> Result<Option<Arc<dyn ToolDyn>>, AgentFileError> {
    let Some(server) = server_of(name).filter(|server| file.mcp.contains_key(*server)) else {
        return Ok(None);
    };
    let running = file.servers.as_ref();
    let Some(servers) = running.filter(|servers| servers.client(server).is_some()) else {
        return Err(AgentFileError::McpNotStarted {
            agent: agent.name.clone(),
            server: server.to_owned(),
        });
    };
    match servers.tool(name) {
        Some(tool) => Ok(Some(tool)),
        None => Err(AgentFileError::McpToolGone {
            agent: agent.name.clone(),
            server: server.to_owned(),
            tool: name.to_owned(),
        }),
    }
}
