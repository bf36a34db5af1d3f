//! From a definition to what acts: clients with their keys, tools in their directory.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc, time::Duration};

use neuron_provider_anthropic::Anthropic;
use neuron_provider_openai::{OpenAiChat, OpenAiResponses};
use neuron_tool::BUILTIN_TOOLS;
use neuron_types::{AgentSpec, DynProvider, ProviderError};

use super::{
    AgentFile, AgentFileError, Environment, context,
    environment::set,
    models,
    providers::{BEARER_VARIABLE, Kind, ProviderSettings},
    tools::{self, Workplace},
};
use crate::{DemoModel, Executor, ScriptModel};

pub(super) fn executor(
    file: &AgentFile,
    agent: &AgentSpec,
    cwd: PathBuf,
    environment: &dyn Environment,
) -> Result<Executor, AgentFileError> {
    let workplace = file
        .agents
        .get(&agent.name)
        .map_or_else(Workplace::default, |known| known.workplace.clone());
    let mut options = tools::options(agent, &workplace);
    // The keys of this file's providers are none of a command's business, whatever they are called.
    options.hidden_environment = file
        .providers
        .values()
        .flat_map(|settings| settings.key_variables.clone())
        .collect();
    let mut builder = Executor::builder()
        .tools(tools::registry(&tool_names(agent)?, &options))
        .prices(file.prices.clone())
        .cwd(cwd);
    if let Some(bytes) = workplace.tool_output_bytes {
        builder = builder.max_result_bytes(bytes);
    }
    for name in provider_names(agent) {
        let settings = file
            .providers
            .get(name)
            .ok_or_else(|| AgentFileError::UnknownProvider {
                agent: agent.name.clone(),
                name: name.to_owned(),
                known: file.providers.keys().cloned().collect(),
            })?;
        builder = builder.shared_provider(
            name,
            provider(name, settings, agent.model_timeout, environment)?,
        );
    }
    Ok(builder.build())
}

fn tool_names(agent: &AgentSpec) -> Result<Vec<&str>, AgentFileError> {
    let mut names = Vec::new();
    for tool in &agent.request.tools {
        if !BUILTIN_TOOLS.contains(&tool.name.as_str()) {
            return Err(AgentFileError::UnknownTool {
                agent: agent.name.clone(),
                name: tool.name.clone(),
                known: BUILTIN_TOOLS
                    .iter()
                    .map(|name| (*name).to_owned())
                    .collect(),
            });
        }
        names.push(tool.name.as_str());
    }
    Ok(names)
}

/// The agent's own provider and those that summarise for it.
fn provider_names(agent: &AgentSpec) -> BTreeSet<&str> {
    let own = agent.request.provider.as_deref();
    let summaries = context::summary_models(&agent.context)
        .filter_map(models::split)
        .map(|model| model.provider);
    own.into_iter().chain(summaries).collect()
}

/// A key and the variable that it comes from.
pub(super) struct Key<'a> {
    variable: &'a str,
    value: String,
}

/// The provider's key, if one of its variables is set.
pub(super) fn key<'a>(
    settings: &'a ProviderSettings,
    environment: &dyn Environment,
) -> Option<Key<'a>> {
    settings.key_variables.iter().find_map(|variable| {
        let value = set(environment, variable)?;
        Some(Key { variable, value })
    })
}

fn provider(
    name: &str,
    settings: &ProviderSettings,
    timeout: Duration,
    environment: &dyn Environment,
) -> Result<Arc<dyn DynProvider>, AgentFileError> {
    let key = key(settings, environment);
    if key.is_none() && !settings.key_variables.is_empty() {
        return Err(AgentFileError::MissingKey {
            provider: name.to_owned(),
            variables: settings.key_variables.clone(),
        });
    }
    let base_url = settings.base_url.clone().or_else(|| {
        let variable = settings.base_url_variable()?;
        set(environment, variable)
    });
    let client = |source: ProviderError| AgentFileError::Client {
        provider: name.to_owned(),
        source: Box::new(source),
    };
    Ok(match settings.kind {
        Kind::OpenAiResponses => {
            let mut builder = OpenAiResponses::builder().timeout(timeout);
            if let Some(key) = key {
                builder = builder.api_key(key.value);
            }
            if let Some(url) = base_url {
                builder = builder.base_url(url);
            }
            Arc::new(builder.build().map_err(client)?)
        }
        Kind::OpenAiChat => {
            let mut builder = OpenAiChat::builder().timeout(timeout);
            if let Some(key) = key {
                builder = builder.api_key(key.value);
            }
            if let Some(url) = base_url {
                builder = builder.base_url(url);
            }
            Arc::new(builder.build().map_err(client)?)
        }
        Kind::Anthropic => {
            let mut builder = Anthropic::builder().timeout(timeout);
            if let Some(key) = key {
                builder = if key.variable == BEARER_VARIABLE {
                    builder.auth_token(key.value)
                } else {
                    builder.api_key(key.value)
                };
            }
            if let Some(url) = base_url {
                builder = builder.base_url(url);
            }
            Arc::new(builder.build().map_err(client)?)
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
