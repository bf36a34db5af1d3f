//! From a definition to what acts: clients with their keys, tools in their directory.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc, time::Duration};

use neuron_provider_ollama::base_url_of_host;
use neuron_tool::BUILTIN_TOOLS;
use neuron_types::{AgentSpec, DynProvider, ProviderError, ToolDyn};

use super::{
    AgentFile, AgentFileError, Environment,
    anthropic::Credential,
    context,
    environment::set,
    mcp, models,
    openai::Access,
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
    let mut prices = file.prices.clone();
    let mut registry = tools::registry(&builtin_names(agent), &options);
    for tool in other_tools(file, agent)? {
        registry.register_dyn(tool);
    }
    for (tool, limits) in &workplace.limits {
        limits.add_to(&mut registry, tool, tools::attempt_timeout(agent, tool));
    }
    let mut builder = Executor::builder().tools(registry).cwd(cwd);
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
        let base_url = base_url(settings, environment);
        // The environment may lead to a server that is not the vendor.
        if settings.price_list(base_url.as_deref()).is_none() {
            prices.drop_list(name);
        }
        let timeout = agent.model_timeout;
        let provider = provider(name, settings, base_url, timeout, environment)?;
        builder = builder.shared_provider(name, provider);
    }
    Ok(builder.prices(prices).build())
}

/// A provider of the file, for requests that no agent makes. Else what is missing for it, for people.
pub(super) fn provider_of(
    file: &AgentFile,
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

fn builtin_names(agent: &AgentSpec) -> Vec<&str> {
    let names = agent.request.tools.iter().map(|tool| tool.name.as_str());
    names.filter(|name| BUILTIN_TOOLS.contains(name)).collect()
}

/// The tools of MCP servers.
fn other_tools(
    file: &AgentFile,
    agent: &AgentSpec,
) -> Result<Vec<Arc<dyn ToolDyn>>, AgentFileError> {
    let mut tools = Vec::new();
    for tool in &agent.request.tools {
        if BUILTIN_TOOLS.contains(&tool.name.as_str()) {
            continue;
        }
        let found = mcp::tool(file, agent, &tool.name)?;
        tools.push(found.ok_or_else(|| {
            AgentFileError::UnknownTool {
                agent: agent.name.clone(),
                name: tool.name.clone(),
                known: BUILTIN_TOOLS
                    .iter()
                    .map(|name| (*name).to_owned())
                    .collect(),
            }
        })?);
    }
    Ok(tools)
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

/// Where the API is, if the file or the environment says so.
fn base_url(settings: &ProviderSettings, environment: &dyn Environment) -> Option<String> {
    settings.base_url.clone().or_else(|| {
        let variable = settings.base_url_variable()?;
        let value = set(environment, variable)?;
        Some(match settings.kind {
            Kind::Ollama => base_url_of_host(&value),
            _ => value,
        })
    })
}

fn provider(
    name: &str,
    settings: &ProviderSettings,
    base_url: Option<String>,
    timeout: Duration,
    environment: &dyn Environment,
) -> Result<Arc<dyn DynProvider>, AgentFileError> {
    let key = key(settings, environment);
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
