//! A check of a provider's server: how it differs from what its API says, and which settings it needs.

use std::time::Duration;

use neuron_provider_http::{Candidate, Checkup, Cure, Examined, Finding};
use neuron_types::AgentSpec;
use url::Url;

use crate::agent_file::{
    definitions::Definitions,
    error::AgentFileError,
    open::{
        options::OpenOptions,
        provider::{Clients, base_url, in_turn},
    },
    providers::{Kind, ProviderSettings, openai::Dialect},
    tables::models,
    text::table::dotted,
};

/// A provider of an agent file whose server is to be checked. Nothing is sent before [`ProviderCheckup::examine`].
#[derive(Debug)]
pub struct ProviderCheckup {
    provider: String,
    settings: ProviderSettings,
    base_url: Option<String>,
    model: String,
    trials: Vec<Trial>,
    options: OpenOptions,
}

/// Settings that are tried together.
#[derive(Debug)]
struct Trial {
    changes: Vec<Change>,
    cure: Cure,
}

/// One changed setting.
#[derive(Debug, Clone)]
enum Change {
    BaseUrl(String),
    Kind(Kind),
    Dialect(Dialect),
}

impl Change {
    /// Returns the setting as a line of the provider's table.
    fn line(&self) -> String {
        match self {
            Self::BaseUrl(url) => format!("base_url = {}", toml::Value::from(url.as_str())),
            Self::Kind(kind) => format!("kind = {}", toml::Value::from(kind.name())),
            Self::Dialect(dialect) => dialect.line(),
        }
    }
}

impl ProviderCheckup {
    pub(crate) fn new(
        file: &Definitions,
        provider: &str,
        model: Option<&str>,
        options: OpenOptions,
    ) -> Result<Self, AgentFileError> {
        let settings = file.providers.get(provider);
        let settings = settings.ok_or_else(|| AgentFileError::NoProvider {
            name: provider.to_owned(),
            known: file.providers.keys().cloned().collect(),
        })?;
        if matches!(settings.kind, Kind::Script | Kind::Demo) {
            let provider = provider.to_owned();
            return Err(AgentFileError::NoServer { provider });
        }
        let agents = file.agents.values().map(|agent| &agent.spec);
        let model = model.map(|name| own_name(provider, name).to_owned());
        let model = model.or_else(|| model_of(agents, provider));
        let model = model.ok_or_else(|| AgentFileError::NoModel {
            provider: provider.to_owned(),
        })?;
        let base_url = base_url(settings, &*options.environment);
        Ok(Self {
            provider: provider.to_owned(),
            trials: trials(settings, base_url.as_deref()),
            settings: settings.clone(),
            base_url,
            model,
            options,
        })
    }

    /// Returns the model that is asked, as the server names it.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns the server's address without what may be secret in it: scheme, host and port. `None` if it is the
    /// vendor's own.
    #[must_use]
    pub fn server(&self) -> Option<String> {
        let url = Url::parse(self.base_url.as_deref()?.trim()).ok()?;
        Some(url.origin().ascii_serialization())
    }

    /// Returns the heading of the provider's table in an agent file: `[providers.NAME]`.
    #[must_use]
    pub fn table(&self) -> String {
        format!("[{}]", dotted(&["providers", &self.provider]))
    }

    /// Asks the server, with at most [`MAX_REQUESTS`](neuron_provider_http::MAX_REQUESTS) requests. Each may take
    /// `timeout`. `found` is called with each finding as soon as it is there.
    ///
    /// # Errors
    ///
    /// [`AgentFileError::MissingKey`], [`AgentFileError::Unencrypted`] and [`AgentFileError::Client`]. A server that
    /// does not answer is a finding and not an error.
    pub async fn examine(
        &self,
        timeout: Duration,
        found: impl FnMut(&Finding),
    ) -> Result<Examined, AgentFileError> {
        let candidates = self.trials.iter().map(|trial| Candidate {
            lines: trial.changes.iter().map(Change::line).collect(),
            cure: trial.cure,
        });
        let checkup = Checkup {
            model: self.model.clone(),
            candidates: candidates.collect(),
            timeout,
        };
        let client = |adopted: &[usize]| {
            let (settings, base_url) = self.with(adopted);
            let environment = &*self.options.environment;
            let base_url = base_url.as_deref();
            let made = Clients::of(&self.provider, &settings, base_url, timeout, environment)?;
            Ok(in_turn(
                &self.provider,
                &settings,
                made.shared,
                &self.options,
            ))
        };
        checkup.examine(client, found).await
    }

    /// Returns the settings with some of the trials.
    fn with(&self, adopted: &[usize]) -> (ProviderSettings, Option<String>) {
        let mut settings = self.settings.clone();
        let mut base_url = self.base_url.clone();
        let trials = adopted.iter().filter_map(|place| self.trials.get(*place));
        for change in trials.flat_map(|trial| &trial.changes) {
            match change {
                Change::BaseUrl(url) => base_url = Some(url.clone()),
                Change::Kind(kind) => settings.kind = *kind,
                Change::Dialect(dialect) => settings.openai.adopt(dialect),
            }
        }
        (settings, base_url)
    }
}

/// Returns the settings that may help with a server of this kind, in the order in which they are tried.
fn trials(settings: &ProviderSettings, base_url: Option<&str>) -> Vec<Trial> {
    let address = base_url.and_then(|url| other_address(settings.kind, url));
    let address = address.map(Change::BaseUrl);
    let mut trials = Vec::new();
    let mut no_path = |changes| {
        trials.push(Trial {
            changes,
            cure: Cure::NoSuchPath,
        });
    };
    if let Some(address) = &address {
        no_path(vec![address.clone()]);
    }
    // Few servers other than the vendor's have the newer API.
    if settings.kind == Kind::OpenAiResponses && base_url.is_some() {
        let chat = Change::Kind(Kind::OpenAiChat);
        no_path(vec![chat.clone()]);
        if let Some(address) = address {
            no_path(vec![chat, address]);
        }
    }
    if matches!(settings.kind, Kind::OpenAiChat | Kind::OpenAiResponses) {
        trials.extend(Dialect::all().into_iter().map(|(dialect, cure)| Trial {
            changes: vec![Change::Dialect(dialect)],
            cure,
        }));
    }
    trials
}

/// Returns the address with the version of the API appended, or removed, as servers of this kind usually have it.
fn other_address(kind: Kind, base_url: &str) -> Option<String> {
    let url = base_url.trim().trim_end_matches('/');
    // A whole address of requests, as it stands in examples of servers.
    let paths = [
        "/chat/completions",
        "/responses",
        "/v1/messages",
        "/api/chat",
    ];
    if let Some(short) = paths.iter().find_map(|path| url.strip_suffix(path)) {
        return Some(short.to_owned());
    }
    // If an address has more than a path, it is unknown where its paths end.
    if url.contains(['?', '#', '@']) {
        return None;
    }
    match kind {
        Kind::OpenAiChat | Kind::OpenAiResponses if !url.ends_with("/v1") => {
            Some(format!("{url}/v1"))
        }
        Kind::Anthropic | Kind::Ollama => url.strip_suffix("/v1").map(ToOwned::to_owned),
        _ => None,
    }
}

/// Returns a model's name without its provider's.
fn own_name<'a>(provider: &str, name: &'a str) -> &'a str {
    let named = models::split(name).filter(|model| model.provider == provider);
    named.map_or(name, |model| model.name)
}

/// Returns a model of this provider that an agent has: the agent's first model before its fallbacks.
fn model_of<'a>(
    agents: impl Iterator<Item = &'a AgentSpec> + Clone,
    provider: &str,
) -> Option<String> {
    let is_own = |agent: &&AgentSpec| agent.head.provider.as_deref() == Some(provider);
    let first = agents.clone().find(is_own);
    let first = first.map(|agent| agent.head.model.clone());
    first.or_else(|| {
        let mut others = agents.flat_map(|agent| &agent.head.fallback_models);
        others.find_map(|name| {
            let model = models::split(name)?;
            (model.provider == provider).then(|| model.name.to_owned())
        })
    })
}
