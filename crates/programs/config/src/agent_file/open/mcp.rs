//! The MCP servers of the file: how they are started, and the tools that they give to agents.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use neuron_mcp::{McpClientHandler, McpRoot, McpServerSpec, McpTransport};
use neuron_types::{AgentSpec, AskRule, ToolDyn};

use crate::agent_file::{
    definitions::Definitions,
    environment::set,
    error::AgentFileError,
    open::{
        Servers,
        mcp_answers::{Answers, Sampler},
        options::{OpenOptions, Wanted},
        programs,
        provider::provider_of,
    },
    tables::{
        agents::Agent,
        mcp_names::{server_name, server_of},
        mcp_settings::{McpSettings, Sampling},
    },
};

/// The most tokens of an answer that a model gives to a server.
const SAMPLING_MAX_TOKENS: u64 = 4096;

/// Starts the wanted servers, and gives their tools to the agents whose servers all started.
pub(crate) async fn start(
    file: &mut Definitions,
    options: &OpenOptions,
) -> Result<Servers, AgentFileError> {
    let mut wanted = wanted(file, &options.wanted)?;
    let handed_to = options.handed_to.iter().map(String::as_str);
    let reached = file.reached_from(handed_to);
    wanted.extend(reached.values().flat_map(|agent| agent.mcp.iter().cloned()));
    let specs = file
        .mcp
        .keys()
        .filter(|name| wanted.contains(name.as_str()));
    let specs: Vec<_> = specs
        .map(|name| one(file, name, options))
        .collect::<Result<_, _>>()?;
    let servers = Servers::start(specs, options).await?;
    for agent in file.agents.values_mut() {
        if missing(&file.mcp, &servers, agent).is_none() {
            let found = agent.mcp.iter().flat_map(|name| servers.definitions(name));
            let tools = &mut agent.spec.head_mut().tools;
            tools.extend(found);
            tools.sort_by(|one, other| one.name.cmp(&other.name));
            spell_out(&mut agent.spec.approvals.allow, &servers);
            spell_out_questions(&mut agent.spec.approvals.approve, &servers);
            spell_out(&mut agent.spec.approvals.deny, &servers);
        }
    }
    Ok(servers)
}

/// Returns the names of the servers that are to be started. Some names may not be in the file.
fn wanted(file: &Definitions, wanted: &Wanted) -> Result<BTreeSet<String>, AgentFileError> {
    Ok(match wanted {
        Wanted::All => {
            let servers = file.agents.values().flat_map(|agent| &agent.mcp);
            servers.cloned().collect()
        }
        Wanted::Agents(names) => {
            let mut servers = BTreeSet::new();
            for name in names {
                file.agent(name)?;
            }
            let reached = file.reached_from(names.iter().map(String::as_str));
            servers.extend(reached.values().flat_map(|agent| agent.mcp.iter().cloned()));
            servers
        }
        Wanted::Tools(names) => servers_of(names).collect(),
        Wanted::ToolsAnd(names, agent) => {
            let current = file.reached_from([agent.as_str()]);
            let current = current.values().flat_map(|agent| &agent.mcp);
            // A server that was removed from the file is not needed by the file's definition.
            let own = servers_of(names).filter(|name| file.mcp.contains_key(name));
            own.chain(current.cloned()).collect()
        }
    })
}

fn servers_of(tools: &[String]) -> impl Iterator<Item = String> {
    let servers = tools.iter().filter_map(|tool| server_of(tool));
    servers.map(ToOwned::to_owned)
}

/// Replaces `mcp:SERVER` by the tools of the server: a run's rules apply to the tools that it has.
fn spell_out(rules: &mut Vec<String>, servers: &Servers) {
    *rules = rules
        .iter()
        .flat_map(|rule| spelled_out(rule, servers))
        .collect();
}

fn spell_out_questions(rules: &mut Vec<AskRule>, servers: &Servers) {
    let each = rules.iter().flat_map(|rule| {
        let calls = spelled_out(&rule.call, servers).into_iter();
        calls.map(|call| AskRule {
            call,
            ..rule.clone()
        })
    });
    *rules = each.collect();
}

fn spelled_out(rule: &str, servers: &Servers) -> Vec<String> {
    let (except, name) = match rule.strip_prefix('!') {
        Some(name) => ("!", name),
        None => ("", rule),
    };
    match server_name(name) {
        Some(server) => servers
            .definitions(server)
            .into_iter()
            .map(|tool| format!("{except}{}", tool.name))
            .collect(),
        None => vec![rule.to_owned()],
    }
}

/// Returns what it takes to start one server.
pub(crate) fn one(
    file: &Definitions,
    name: &str,
    options: &OpenOptions,
) -> Result<(McpServerSpec, Arc<dyn McpClientHandler>), AgentFileError> {
    match file.mcp.get(name) {
        Some(settings) => {
            let spec = spec(file, name, settings, options)?;
            Ok((spec, answers(file, settings, options)))
        }
        None => Err(AgentFileError::UnknownMcpServer {
            name: name.to_owned(),
            known: file.mcp.keys().cloned().collect(),
        }),
    }
}

/// Checks whether the servers that an agent needs have what they need here: their variables and their programs. No
/// server is started.
pub(crate) fn check(
    file: &Definitions,
    agent: &str,
    options: &OpenOptions,
) -> Result<(), AgentFileError> {
    for name in &file.agent(agent)?.mcp {
        let Some(settings) = file.mcp.get(name).filter(|server| server.required) else {
            continue;
        };
        spec(file, name, settings, options)?;
        if let Some(program) = settings.command.first()
            && !programs::exists(program, &options.cwd)
        {
            return Err(AgentFileError::McpProgram {
                server: name.clone(),
                program: program.clone(),
            });
        }
    }
    Ok(())
}

/// Returns what the requests of a server are answered.
fn answers(
    file: &Definitions,
    settings: &McpSettings,
    options: &OpenOptions,
) -> Arc<dyn McpClientHandler> {
    let sampler = match &settings.sampling {
        Sampling::Nobody | Sampling::Agents => None,
        Sampling::Model { provider, model } => Some(Sampler {
            provider: provider_of(file, provider, options),
            model: model.clone(),
            max_tokens: settings.sampling_max_tokens.unwrap_or(SAMPLING_MAX_TOKENS),
        }),
    };
    Arc::new(Answers {
        roots: vec![McpRoot::folder(&options.cwd)],
        elicitation: settings.elicitation,
        person: options.person.clone(),
        sampler,
    })
}

fn spec(
    file: &Definitions,
    name: &str,
    settings: &McpSettings,
    options: &OpenOptions,
) -> Result<McpServerSpec, AgentFileError> {
    let value_of = |variable: &String| {
        set(&*options.environment, variable).ok_or_else(|| AgentFileError::McpVariable {
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
            sandbox,
            protected,
            cwd,
            ..
        } => {
            *cwd = Some(options.cwd.clone());
            // A program may change its own files, and no other program's.
            let words = file.mcp.values().flat_map(|server| &server.command);
            let others = words.filter(|word| !settings.command.contains(word));
            *protected = programs::protecting(options.protected.clone(), others, &options.cwd);
            if let Some(asked) = &settings.sandbox {
                *sandbox = asked.clone();
            }
            for variable in &settings.env {
                environment.insert(variable.clone(), value_of(variable)?);
            }
        }
        McpTransport::Http { token, headers, .. } => {
            *token = settings.token_env.as_ref().map(value_of).transpose()?;
            headers.clone_from(&settings.headers);
            for (name, variable) in &settings.headers_env {
                headers.insert(name.clone(), value_of(variable)?);
            }
        }
    }
    spec.configured_in.clone_from(&options.file);
    if let Some(timeout) = settings.timeout {
        spec = spec.timeout(timeout);
    }
    if let Some(timeout) = settings.start_timeout {
        spec = spec.start_timeout(timeout);
    }
    spec.tags = settings.tags;
    Ok(spec.required(settings.required))
}

/// Returns a server that keeps an agent from being open: it is not running, and the agent needs it or it was never
/// started.
pub(crate) fn missing<'a>(
    settings: &BTreeMap<String, McpSettings>,
    servers: &Servers,
    agent: &'a Agent,
) -> Option<&'a String> {
    let mut names = agent.mcp.iter();
    names.find(|name| !servers.runs(name) && !is_left_out(settings, servers, name))
}

/// Returns whether a server did not start and its agents do without it.
fn is_left_out(settings: &BTreeMap<String, McpSettings>, servers: &Servers, name: &str) -> bool {
    let required = settings.get(name).is_none_or(|server| server.required);
    !required && servers.failed(name)
}

/// Returns whether a tool belongs to a server that did not start and that its agents do without. Its calls are
/// rejected.
pub(crate) fn is_without(file: &Definitions, servers: Option<&Servers>, name: &str) -> bool {
    let server = server_of(name);
    server.is_some_and(|server| servers.is_some_and(|it| is_left_out(&file.mcp, it, server)))
}

/// Returns what the servers of an agent list that cannot be used, and which of the servers did not start, each as a
/// sentence. The servers are those that the file gives to the agent, and those of the tools of the definition, which
/// may be an older one.
pub(crate) fn left_out(
    file: &Definitions,
    servers: Option<&Servers>,
    agent: &AgentSpec,
) -> Vec<String> {
    let current = file.agents.get(&agent.name);
    let current = current.into_iter().flat_map(|known| &known.mcp);
    let own = agent
        .head
        .tools
        .iter()
        .filter_map(|tool| server_of(&tool.name));
    let names: BTreeSet<&str> = current.map(String::as_str).chain(own).collect();
    let told = names
        .into_iter()
        .flat_map(|name| servers.map(|it| it.told_left_out(name)).unwrap_or_default());
    told.collect()
}

/// Returns a tool of an agent that is not built in.
pub(crate) fn tool(
    file: &Definitions,
    servers: Option<&Servers>,
    agent: &AgentSpec,
    name: &str,
) -> Result<Option<Arc<dyn ToolDyn>>, AgentFileError> {
    let Some(server) = server_of(name).filter(|server| file.mcp.contains_key(*server)) else {
        return Ok(None);
    };
    let Some(servers) = servers.filter(|servers| servers.runs(server)) else {
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
