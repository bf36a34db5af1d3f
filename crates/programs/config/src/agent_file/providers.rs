//! The `[providers.NAME]` tables, and the providers that exist without a table.

use std::{collections::BTreeMap, path::PathBuf};

use neuron_executor::PriceList;
use serde_json::Value;

use crate::agent_file::{
    address::{UNENCRYPTED, unencrypted_host},
    environment::{Environment, set},
    providers::{
        anthropic::{AnthropicKeys, AnthropicSettings},
        api::{ApiKeys, KindKeys, RateKeys},
        ollama::{OllamaKeys, OllamaSettings},
        openai::{ChatKeys, OpenAiSettings, ResponsesKeys},
    },
    text::{
        keys::{Key, Keys, keys, names, object_by_kind},
        kinds::{Choices, Part, Required, Words},
        problem::{looks_like_a_key, shown},
        table::{Table, Text},
    },
};

pub(crate) mod anthropic;
pub(crate) mod api;
pub(crate) mod ollama;
pub(crate) mod openai;

pub(crate) use api::Kind;

impl Kind {
    /// Returns the kind as it stands in the file.
    pub(crate) fn name(self) -> &'static str {
        let mut kinds = Self::words().into_iter();
        kinds
            .find(|(_, kind)| *kind == self)
            .map_or("", |(name, _)| name)
    }

    fn keys(self) -> Vec<Key> {
        match self {
            Self::OpenAiResponses => ResponsesKeys::keys(),
            Self::OpenAiChat => ChatKeys::keys(),
            Self::Anthropic => AnthropicKeys::keys(),
            Self::Ollama => OllamaKeys::keys(),
            Self::Script => ScriptKeys::keys(),
            Self::Demo => DemoKeys::keys(),
        }
    }
}

/// A secret and the variable that it comes from.
pub(crate) struct ApiKey<'a> {
    pub(crate) variable: &'a str,
    pub(crate) value: String,
}

/// The variable whose value is sent as a bearer token, whereas Anthropic's key has a header of its own.
pub(crate) const BEARER_VARIABLE: &str = "ANTHROPIC_AUTH_TOKEN";

keys! {
    struct ScriptKeys {
        _kind: Part<KindKeys<'_>>,
        /// The path of the script, relative to the folder of the agent file.
        file: Required<Words>,
        _rates: Part<RateKeys<'_>>,
    }
}

keys! {
    struct DemoKeys {
        _kind: Part<KindKeys<'_>>,
        _rates: Part<RateKeys<'_>>,
    }
}

/// The keys of all kinds. Which of them a table may have depends on its kind.
pub(crate) enum ProviderKeys {}

impl Keys for ProviderKeys {
    type Of<'a> = Table<'a>;

    fn of<'a>(table: &Table<'a>) -> Table<'a> {
        table.clone()
    }

    fn keys() -> Vec<Key> {
        let kinds = Kind::words().into_iter();
        kinds.flat_map(|(_, kind)| kind.keys()).collect()
    }

    /// The keys of a table are checked when its kind is known.
    fn check(_table: &Table<'_>) {}

    fn schema() -> Value {
        let kinds = Kind::words().into_iter();
        let kinds = kinds.map(|(word, kind)| (word, kind.keys()));
        object_by_kind(&kinds.collect::<Vec<_>>())
    }
}

/// How fast one key may be used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rates {
    pub(crate) requests_per_minute: Option<u32>,
    pub(crate) tokens_per_minute: Option<u64>,
}

/// A provider as the file describes it. Nothing is looked up before it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProviderSettings {
    pub(crate) kind: Kind,
    pub(crate) base_url: Option<String>,
    /// The variables that may hold the key; the first that is set is used. Empty if no key is sent.
    pub(crate) key_variables: Vec<String>,
    /// Whether the file names the variable.
    pub(crate) key_is_named: bool,
    /// The variable with the key of each tenant that has one of its own.
    pub(crate) tenant_keys: BTreeMap<String, String>,
    /// How many requests may start in a minute, and how many tokens they may use, for each key.
    pub(crate) rates: Rates,
    /// Whether keys may be sent unencrypted.
    pub(crate) insecure: bool,
    /// Whether the headers of requests name the run that they belong to, and its user.
    pub(crate) tag_headers: bool,
    /// Whether no key is needed. One that is set is sent.
    pub(crate) key_optional: bool,
    pub(crate) anthropic: AnthropicSettings,
    pub(crate) ollama: OllamaSettings,
    pub(crate) openai: OpenAiSettings,
    /// The path of the script, for that kind.
    pub(crate) file: Option<PathBuf>,
}

impl ProviderSettings {
    fn of_kind(kind: Kind) -> Self {
        let variables: &[&str] = match kind {
            Kind::OpenAiResponses | Kind::OpenAiChat => &["OPENAI_API_KEY"],
            Kind::Anthropic => &["ANTHROPIC_API_KEY", BEARER_VARIABLE],
            Kind::Ollama => &["OLLAMA_API_KEY"],
            Kind::Script | Kind::Demo => &[],
        };
        Self {
            kind,
            key_is_named: false,
            insecure: false,
            tag_headers: false,
            tenant_keys: BTreeMap::new(),
            rates: Rates::default(),
            key_optional: kind == Kind::Ollama,
            anthropic: AnthropicSettings::default(),
            ollama: OllamaSettings::default(),
            openai: OpenAiSettings::default(),
            base_url: None,
            key_variables: variables.iter().map(|name| (*name).to_owned()).collect(),
            file: None,
        }
    }

    /// Returns the provider's key, if one of its variables is set.
    pub(crate) fn key(&self, environment: &dyn Environment) -> Option<ApiKey<'_>> {
        self.key_variables.iter().find_map(|variable| {
            let value = set(environment, variable)?;
            Some(ApiKey { variable, value })
        })
    }

    /// Returns whether nothing can be asked without the shared key: the file names the key's variable, or no tenant has
    /// a key of its own.
    pub(crate) fn needs_key(&self) -> bool {
        let is_named = self.key_is_named || self.tenant_keys.is_empty();
        is_named && !self.key_variables.is_empty() && !self.key_optional
    }

    /// Returns the price list of the API at this address. `None` is the vendor's own address.
    pub(crate) fn price_list(&self, base_url: Option<&str>) -> Option<PriceList> {
        let list = match self.kind {
            Kind::OpenAiResponses | Kind::OpenAiChat => PriceList::OpenAi,
            Kind::Anthropic if self.anthropic.caches_for_an_hour() => return None,
            Kind::Anthropic => PriceList::Anthropic,
            Kind::Ollama | Kind::Script | Kind::Demo => return None,
        };
        list.at(base_url)
    }

    /// Returns the variable in which the environment may name the address, unless the file does.
    pub(crate) const fn base_url_variable(&self) -> Option<&'static str> {
        match self.kind {
            Kind::OpenAiResponses | Kind::OpenAiChat => Some("OPENAI_BASE_URL"),
            Kind::Anthropic => Some("ANTHROPIC_BASE_URL"),
            Kind::Ollama => Some("OLLAMA_HOST"),
            Kind::Script | Kind::Demo => None,
        }
    }
}

/// Returns the providers that need no table.
pub(crate) fn defaults() -> BTreeMap<String, ProviderSettings> {
    [
        ("openai", Kind::OpenAiResponses),
        ("anthropic", Kind::Anthropic),
        ("ollama", Kind::Ollama),
        ("demo", Kind::Demo),
    ]
    .map(|(name, kind)| (name.to_owned(), ProviderSettings::of_kind(kind)))
    .into()
}

/// Reads the tables into the defaults.
pub(crate) fn read(tables: &[(&str, Table<'_>)]) -> BTreeMap<String, ProviderSettings> {
    let mut providers = defaults();
    for (name, table) in tables {
        if name.is_empty() || name.contains('/') {
            table.problems.add(
                table.offset,
                format!(
                    "{} has an empty name or a name with \"/\": rename it",
                    table.place()
                ),
            );
        }
        let default = providers.get(*name).map(|settings| settings.kind);
        if let Some(settings) = read_one(table, default) {
            providers.insert((*name).to_owned(), settings);
        } else {
            // The provider is kept as known, so that an agent that names it is not a second problem.
            providers
                .entry((*name).to_owned())
                .or_insert_with(|| ProviderSettings::of_kind(Kind::Demo));
        }
    }
    providers
}

fn read_one(table: &Table<'_>, default: Option<Kind>) -> Option<ProviderSettings> {
    if refuse_keys(table) {
        return None;
    }
    let kind = match KindKeys::of(table).kind() {
        Some(kind) => kind,
        None if table.has("kind") => return None,
        None => default.or_else(|| {
            table.missing("kind = \"openai-chat\", or another of the kinds");
            None
        })?,
    };
    table.expect_keys_but(&names(&kind.keys()), &[]);
    let api = ApiKeys::of(table);
    let mut settings = ProviderSettings::of_kind(kind);
    settings.base_url = api.base_url().and_then(|url| base_url(table, url));
    if let Some(name) = api.api_key_env() {
        let variable = variable(table, "api_key_env", name);
        settings.key_variables = variable.into_iter().collect();
        settings.key_optional = false;
        settings.key_is_named = true;
    } else if default.is_none() && settings.base_url.is_some() {
        // A key for the vendor is not for another server at this address.
        settings.key_variables.clear();
    }
    if let Some(keys) = api.tenant_keys() {
        let named = keys.texts_by_key().into_iter();
        let tenants = named.filter_map(|(tenant, name)| {
            Some((tenant.to_owned(), variable(&keys, &shown(tenant), name)?))
        });
        settings.tenant_keys = tenants.collect();
    }
    let rates = RateKeys::of(table);
    settings.rates = Rates {
        requests_per_minute: rates.requests_per_minute(),
        tokens_per_minute: rates.tokens_per_minute(),
    };
    settings.insecure = api.insecure().unwrap_or_default();
    settings.tag_headers = api.tag_headers().unwrap_or_default();
    check_encryption(table, &settings);
    match kind {
        Kind::Anthropic => settings.anthropic = AnthropicSettings::read(table),
        Kind::OpenAiResponses | Kind::OpenAiChat => settings.openai = OpenAiSettings::read(table),
        Kind::Ollama => settings.ollama = OllamaSettings::read(table),
        _ => {}
    }
    if kind == Kind::Script {
        settings.file = ScriptKeys::of(table).file().map(|file| {
            let folder = table.problems.folder(file.offset);
            folder.join(file.value)
        });
        if !table.has("file") {
            table.missing("file = \"script.json\"");
        }
    }
    Some(settings)
}

/// Notes an address that keys must not be sent to. The variables of the environment are checked where they are used.
fn check_encryption(table: &Table<'_>, settings: &ProviderSettings) {
    let sends_keys = settings.key_is_named || !settings.tenant_keys.is_empty();
    let host = settings.base_url.as_deref().and_then(unencrypted_host);
    if sends_keys && !settings.insecure && host.is_some() {
        table.problem("base_url", table.offset_of("base_url"), UNENCRYPTED);
    }
}

/// Notes keys that would hold a secret. Their values appear in no message.
fn refuse_keys(table: &Table<'_>) -> bool {
    let mut found = false;
    for key in [
        "api_key",
        "apikey",
        "key",
        "token",
        "auth_token",
        "secret",
        "password",
    ] {
        if table.has(key) {
            found = true;
            let message = "would put a key into this file: set an environment variable instead and \
                           name it with api_key_env";
            table.problem(key, table.offset_of(key), message);
        }
    }
    found
}

fn variable(table: &Table<'_>, key: &str, name: Text<'_>) -> Option<String> {
    let fits = name
        .value
        .starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && name
            .value
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    if fits && !looks_like_a_key(name.value) {
        return Some(name.value.to_owned());
    }
    let message = "is not the name of a variable: write a name of capitals, digits and \"_\", as in \
                   \"OPENAI_API_KEY\", and never the key itself";
    table.problem(key, name.offset, message);
    None
}

fn base_url(table: &Table<'_>, url: Text<'_>) -> Option<String> {
    let rest = ["https://", "http://"]
        .iter()
        .find_map(|scheme| url.value.strip_prefix(scheme));
    let host = rest
        .and_then(|rest| rest.split('/').next())
        .unwrap_or_default();
    if host.contains('@') {
        let message = "contains a user name or password: remove it and name a key's variable with api_key_env";
        table.problem("base_url", url.offset, message);
        None
    } else if host.is_empty() {
        let message = "is not an address: write one as in \"https://api.openai.com/v1\"";
        table.problem("base_url", url.offset, message);
        None
    } else {
        Some(url.value.to_owned())
    }
}
