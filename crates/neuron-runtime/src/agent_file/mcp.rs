//! The MCP servers of the file: starting them, and the tools that they give to agents.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use neuron_mcp::{McpClientHandler, McpRoot, McpServerSpec, McpServers, McpTransport};
use neuron_types::{AgentSpec, ToolDyn};

use super::{
    AgentFile, AgentFileError, Environment, connect,
    environment::set,
    mcp_answers::{Answers, Sampler},
    mcp_settings::{McpSettings, Sampling},
};

/// What stands before a server's name in `tools`, `approve` and `deny`.
const PREFIX: &str = "mcp:";
/// What stands between a server's name and a tool's.
pub(super) const SEPARATOR: &str = "__";
/// The most tokens of an answer that a model gives to a server.
const SAMPLING_MAX_TOKENS: u64 = 4096;

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
            let spec = spec(name, settings, &hidden, environment)?;
            specs.push((spec, answers(file, settings, cwd, environment)));
        }
    }
    let servers = McpServers::start(specs).await?;
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
    cwd: &Path,
    environment: &dyn Environment,
) -> Result<(McpServerSpec, Arc<dyn McpClientHandler>), AgentFileError> {
    match file.mcp.get(name) {
        Some(settings) => {
            let spec = spec(name, settings, &hidden(file), environment)?;
            Ok((spec, answers(file, settings, cwd, environment)))
        }
        None => Err(AgentFileError::UnknownMcpServer {
            name: name.to_owned(),
            known: file.mcp.keys().cloned().collect(),
        }),
    }
}

/// What a server is answered when it asks.
fn answers(
    file: &AgentFile,
    settings: &McpSettings,
    cwd: &Path,
    environment: &dyn Environment,
) -> Arc<dyn McpClientHandler> {
    let sampler = match &settings.sampling {
        Sampling::Nobody | Sampling::Agents => None,
        Sampling::Model { provider, model } => Some(Sampler {
            provider: connect::provider_of(file, provider, environment),
            model: model.clone(),
            max_tokens: settings.sampling_max_tokens.unwrap_or(SAMPLING_MAX_TOKENS),
        }),
    };
    Arc::new(Answers {
        roots: vec![McpRoot::folder(cwd)],
        elicitation: settings.elicitation,
        person: file.person.clone(),
        sampler,
    })
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
