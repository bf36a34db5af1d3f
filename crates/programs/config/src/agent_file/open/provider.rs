//! The clients of the file's providers, with their keys.

use std::{sync::Arc, time::Duration};

use neuron_provider_ollama::base_url_of_host;
use neuron_types::{AgentSpec, DynProvider, ProviderError};

use crate::agent_file::{
    definitions::Definitions,
    environment::{Environment, set},
    error::AgentFileError,
    providers::{BEARER_VARIABLE, Kind, ProviderSettings, anthropic::Credential, openai::Access},
};
use crate::{DemoModel, ScriptModel};

/// A provider of the file, for requests that no agent makes. Else what is missing for it, for people.
pub(crate) fn provider_of(
    file: &Definitions,
    name: &str,
    environment: &dyn Environment,
) -> Result<Arc<dyn DynProvider>, String> {
    let settings = file.providers.get(name);
    let settings = settings.ok_or_else(|| format!("there is no provider {name}"))?;
    let base_url = base_url(settings, environment);
    let timeout = AgentSpec::default().model_timeout;
    let made = provider(name, settings, base_url, timeout, environment);
    made.map_err(|error| error.to_string())
}

/// Where the API is, if the file or the environment says so.
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

/// A client of a provider of the file.
pub(crate) fn provider(
    name: &str,
    settings: &ProviderSettings,
    base_url: Option<String>,
    timeout: Duration,
    environment: &dyn Environment,
) -> Result<Arc<dyn DynProvider>, AgentFileError> {
    let key = settings.key(environment);
    if key.is_none() && !settings.key_variables.is_empty() && !settings.key_optional {
        return Err(AgentFileError::MissingKey {
            provider: name.to_owned(),
            variables: settings.key_variables.clone(),
        });
    }
    let client = |source: ProviderError| AgentFileError::Client {
        provider: name.to_owned(),
        source: Box::new(source),
    };
    Ok(match settings.kind {
        Kind::OpenAiResponses | Kind::OpenAiChat => {
            let access = Access {
                key: key.map(|key| key.value),
                base_url,
                timeout,
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
            let anthropic = settings.anthropic.client(credential, base_url, timeout);
            Arc::new(anthropic.map_err(client)?)
        }
        Kind::Ollama => {
            let key = key.map(|key| key.value);
            Arc::new(
                settings
                    .ollama
                    .client(key, base_url, timeout)
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
