//! The clients of the file's providers, with their keys.

use std::{sync::Arc, time::Duration};

use neuron_executor::RateLimiter;
use neuron_provider_ollama::base_url_of_host;
use neuron_types::{
    AgentSpec, CompletionRequest, CompletionResponse, DynProvider, FailureKind, Provider,
    ProviderError,
};

use crate::agent_file::{
    address::unencrypted_host,
    definitions::Definitions,
    environment::{Environment, set},
    error::AgentFileError,
    open::{limiters::InTurn, options::OpenOptions},
    providers::{
        ApiKey, BEARER_VARIABLE, Kind, ProviderSettings, anthropic::Credential, openai::Access,
    },
};
use crate::{DemoModel, ScriptModel};

/// Returns a provider of the file, for requests that belong to no agent. The error is what is missing for it, for
/// people.
pub(crate) fn provider_of(
    file: &Definitions,
    name: &str,
    options: &OpenOptions,
) -> Result<Arc<dyn DynProvider>, String> {
    let environment = &*options.environment;
    let settings = file.providers.get(name);
    let settings = settings.ok_or_else(|| format!("there is no provider {name}"))?;
    let base_url = base_url(settings, environment);
    let timeout = AgentSpec::default().model_timeout;
    let made = Clients::of(name, settings, base_url.as_deref(), timeout, environment);
    let provider = made.map_err(|error| error.to_string())?.shared;
    Ok(in_turn(name, settings, provider, options))
}

/// Returns the client, limited to the rate of the provider's own key, if it has one.
pub(crate) fn in_turn(
    name: &str,
    settings: &ProviderSettings,
    provider: Arc<dyn DynProvider>,
    options: &OpenOptions,
) -> Arc<dyn DynProvider> {
    match shared_limiter(name, settings, options) {
        None => provider,
        Some(limiter) => Arc::new(InTurn { provider, limiter }),
    }
}

/// Returns the address of the API, if the file or the environment names one.
pub(crate) fn base_url(
    settings: &ProviderSettings,
    environment: &dyn Environment,
) -> Option<String> {
    settings.base_url.clone().or_else(|| {
        let variable = settings.base_url_variable()?;
        let value = set(environment, variable)?;
        Some(match settings.kind {
            Kind::Ollama => base_url_of_host(&value),
            _ => value,
        })
    })
}

/// Returns the limiter of requests with the provider's own key, if the key has a rate.
pub(crate) fn shared_limiter(
    name: &str,
    settings: &ProviderSettings,
    options: &OpenOptions,
) -> Option<RateLimiter> {
    let key = settings.key(&*options.environment);
    let key = key.map(|key| key.value);
    options.limiters.of(name, settings, key.as_deref())
}

/// Returns the limiter as [`shared_limiter`] does, for a tenant that has a key of its own.
pub(crate) fn tenant_limiter(
    name: &str,
    settings: &ProviderSettings,
    tenant: &str,
    options: &OpenOptions,
) -> Option<RateLimiter> {
    let variable = settings.tenant_keys.get(tenant)?;
    let key = set(&*options.environment, variable);
    options.limiters.of(name, settings, key.as_deref())
}

/// The clients of a provider of the file.
pub(crate) struct Clients {
    /// The client for runs without a tenant, and for tenants without a key of their own.
    pub(crate) shared: Arc<dyn DynProvider>,
    /// The clients by tenant.
    pub(crate) tenants: Vec<(String, Arc<dyn DynProvider>)>,
}

impl Clients {
    pub(crate) fn of(
        name: &str,
        settings: &ProviderSettings,
        base_url: Option<&str>,
        timeout: Duration,
        environment: &dyn Environment,
    ) -> Result<Self, AgentFileError> {
        let of_key = |key| client(name, settings, key, base_url, timeout);
        let missing = |variables: &[String]| AgentFileError::MissingKey {
            provider: name.to_owned(),
            variables: variables.to_owned(),
        };
        let shared: Arc<dyn DynProvider> = match settings.key(environment) {
            Some(key) => of_key(Some(key))?,
            None if settings.needs_key() => return Err(missing(&settings.key_variables)),
            None if settings.tenant_keys.is_empty() => of_key(None)?,
            None => Arc::new(NoKey {
                provider: name.to_owned(),
            }),
        };
        let mut tenants = Vec::with_capacity(settings.tenant_keys.len());
        for (tenant, variable) in &settings.tenant_keys {
            // A tenant that has its own key is never served with another key.
            let value = set(environment, variable);
            let value = value.ok_or_else(|| missing(std::slice::from_ref(variable)))?;
            let own = of_key(Some(ApiKey { variable, value }))?;
            tenants.push((tenant.clone(), own));
        }
        Ok(Self { shared, tenants })
    }
}

/// Takes the place of a provider without a key.
struct NoKey {
    provider: String,
}

impl Provider for NoKey {
    async fn complete(&self, _: &CompletionRequest) -> Result<CompletionResponse, ProviderError> {
        let name = &self.provider;
        let message = format!(
            "the provider {name} has keys for some tenants only, and none for the run's tenant"
        );
        Err(ProviderError::new(FailureKind::Authentication, message))
    }
}

/// Returns a client of a provider of the file.
fn client(
    name: &str,
    settings: &ProviderSettings,
    key: Option<ApiKey<'_>>,
    base_url: Option<&str>,
    timeout: Duration,
) -> Result<Arc<dyn DynProvider>, AgentFileError> {
    let host = base_url.and_then(unencrypted_host);
    if let (Some(host), Some(_), false) = (host, &key, settings.insecure) {
        let provider = name.to_owned();
        return Err(AgentFileError::Unencrypted { provider, host });
    }
    let base_url = base_url.map(ToOwned::to_owned);
    let client = |source: ProviderError| AgentFileError::Client {
        provider: name.to_owned(),
        source: Box::new(source),
    };
    let tag_headers = settings.tag_headers;
    Ok(match settings.kind {
        Kind::OpenAiResponses | Kind::OpenAiChat => {
            let access = Access {
                key: key.map(|key| key.value),
                base_url,
                timeout,
                tag_headers,
            };
            match settings.kind {
                Kind::OpenAiChat => settings.openai.chat(access),
                _ => settings.openai.responses(access),
            }
            .map_err(client)?
        }
        Kind::Anthropic => {
            let credential = key.map(|key| match key.variable {
                BEARER_VARIABLE => Credential::Bearer(key.value),
                _ => Credential::Key(key.value),
            });
            let anthropic = &settings.anthropic;
            let anthropic = anthropic.client(credential, base_url, timeout, tag_headers);
            Arc::new(anthropic.map_err(client)?)
        }
        Kind::Ollama => {
            let key = key.map(|key| key.value);
            Arc::new(
                settings
                    .ollama
                    .client(key, base_url, timeout, tag_headers)
                    .map_err(client)?,
            )
        }
        Kind::Script => {
            let path = settings.file.clone().unwrap_or_default();
            let script = ScriptModel::load(&path).map_err(|source| AgentFileError::Script {
                provider: name.to_owned(),
                source,
            })?;
            Arc::new(script)
        }
        Kind::Demo => Arc::new(DemoModel),
    })
}
