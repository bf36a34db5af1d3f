//! From a definition to what executes it: clients with their keys, tools in their directory.

use std::{collections::BTreeSet, sync::Arc};

use neuron_executor::{Executor, Prices};
use neuron_tool::{NAMED_TOOLS, builtin::Bash, check_sandbox};
use neuron_types::{AgentSpec, CompletionRequest, RequestHead, SkillSpec, TokenUsage, ToolDyn};

use crate::agent_file::{
    definitions::Definitions,
    environment::{Environment, set},
    error::AgentFileError,
    open::{
        Servers, mcp,
        options::{OpenOptions, Wanted},
        programs,
        provider::{Clients, base_url, shared_limiter, tenant_limiter},
    },
    providers::{Kind, ProviderSettings},
    tables::{
        context,
        guards::{self, GuardSettings},
        mcp_names::server_of,
        models::{self, ModelName},
        skills,
        tools::{self, Workplace},
    },
};

pub(crate) fn executor(
    file: &Definitions,
    servers: Option<&Servers>,
    agent: &AgentSpec,
    options: &OpenOptions,
) -> Result<Executor, AgentFileError> {
    let environment = &*options.environment;
    let workplace = file
        .agents
        .get(&agent.name)
        .map_or_else(Workplace::default, |known| known.workplace.clone());
    let mut builtin = tools::options(agent, &workplace);
    let words = file.mcp.values().flat_map(|server| &server.command);
    let guards = file.guards.values().filter_map(GuardSettings::command);
    let hooks = file.hooks.values().map(|hook| &hook.command);
    let words = words.chain(guards.chain(hooks).flat_map(|command| &command.words));
    builtin.protected = programs::protecting(options.protected.clone(), words, &options.cwd);
    let mut names = builtin_names(agent);
    if names.contains(&Bash::NAME) {
        check_sandbox(&builtin).map_err(|source| AgentFileError::Sandbox {
            agent: agent.name.clone(),
            source,
        })?;
    }
    // A run of an older definition may adopt the definition of the file.
    let current = file.agents.get(&agent.name).map(|known| &known.spec);
    for name in current.map(builtin_names).into_iter().flatten() {
        let is_usable = name != Bash::NAME || check_sandbox(&builtin).is_ok();
        if is_usable && !names.contains(&name) {
            names.push(name);
        }
    }
    let mut prices = file.prices.clone();
    let mut registry = tools::registry(&names, &builtin);
    // These are the skills that are here. If a run has another skill, or another one of the same name, the tool reports
    // it.
    if skills::are_read_by(agent) || current.is_some_and(skills::are_read_by) {
        let known = file.agents.get(&agent.name);
        let known = known.map_or(&[][..], |known| known.skills.as_slice());
        registry.register_dyn(Arc::new(skills::tool(known, &builtin)));
    }
    let mut others = other_tools(file, servers, agent)?;
    let current_others = current.and_then(|current| other_tools(file, servers, current).ok());
    for tool in current_others.into_iter().flatten() {
        if !others.iter().any(|other| other.name() == tool.name()) {
            others.push(tool);
        }
    }
    // The built-in tools cut their results themselves, where it does the least harm.
    let bounded: Vec<String> = others.iter().map(|tool| tool.name().to_owned()).collect();
    registry.extend(others);
    for (tool, limits) in &workplace.limits {
        limits.add_to(&mut registry, tool, agent.timeout_of(tool));
    }
    let mut builder = Executor::builder()
        .tools(registry)
        .left_out(mcp::left_out(file, servers, agent))
        .cwd(&options.cwd);
    if let Some(bytes) = workplace.tool_output_bytes {
        builder = builder.max_result_bytes(bytes);
    }
    for tool in bounded {
        builder = builder.max_result_bytes_of(tool, builtin.max_output_bytes);
    }
    // A run of an older definition is checked by the guards of new runs, too.
    let guards = agent
        .guards
        .iter()
        .chain(current.map(|current| &current.guards).into_iter().flatten());
    let own = agent.head.models().next().unwrap_or_default();
    for guard in guards {
        let settings = file.guards.get(&guard.name);
        let guard = settings.and_then(|it| it.guard(&guard.name, &options.cwd, &own));
        if let Some(guard) = guard {
            builder = builder.shared_guard(guard);
        }
    }
    let known = file.agents.get(&agent.name);
    for name in known.into_iter().flat_map(|known| &known.hooks) {
        if let Some(hook) = file.hooks.get(name) {
            builder = builder.hook(hook.hook(name, &options.cwd));
        }
    }
    // The approvers are those of this file, whatever file the definition is from.
    if !file.approvers.is_empty() {
        builder = builder.verifier(file.approvers.clone());
    }
    let own = provider_names(agent);
    if let Some(name) = own.iter().find(|name| !file.providers.contains_key(**name)) {
        return Err(AgentFileError::UnknownProvider {
            agent: agent.name.clone(),
            name: (*name).to_owned(),
            known: file.providers.keys().cloned().collect(),
        });
    }
    let current_names = current.map(provider_names).unwrap_or_default();
    for (name, settings) in &file.providers {
        let is_own = own.contains(name.as_str());
        let is_current = current_names.contains(name.as_str());
        if !is_own && !is_current && !options.every_provider && options.wanted != Wanted::All {
            continue;
        }
        let base_url = base_url(settings, environment);
        // The environment may lead to a server that is not the vendor's.
        if settings.price_list(base_url.as_deref()).is_none() {
            prices.drop_list(name);
        }
        let timeout = agent.model_timeout;
        match Clients::of(name, settings, base_url.as_deref(), timeout, environment) {
            Ok(clients) => {
                builder = builder.shared_provider(name, clients.shared);
                if let Some(limiter) = shared_limiter(name, settings, options) {
                    builder = builder.limiter(name, limiter);
                }
                for (tenant, client) in clients.tenants {
                    if let Some(limiter) = tenant_limiter(name, settings, &tenant, options) {
                        builder = builder.tenant_limiter(name, tenant.clone(), limiter);
                    }
                    builder = builder.tenant_provider(name, tenant, client);
                }
            }
            Err(error) if is_own => return Err(error),
            Err(_) => {}
        }
    }
    check_prices(file, agent, &prices, environment)?;
    let executor = builder.prices(prices).build();
    // The definition may be older than the file. The user of this process owns both; workers of engines grant less.
    Ok(match file.agents.get(&agent.name) {
        Some(known) => executor.granting_owner(&known.spec),
        None => executor,
    })
}

/// Returns whether the file has the providers and the tools of an agent, which needs one model at least.
pub(crate) fn has_parts_of(file: &Definitions, agent: &AgentSpec) -> bool {
    let providers = provider_names(agent);
    let mut tools = agent.head.tools.iter().map(|tool| tool.name.as_str());
    agent.team.is_none()
        && !providers.is_empty()
        && providers
            .iter()
            .all(|name| file.providers.contains_key(*name))
        && tools.all(|name| {
            if agent.subagent(name).is_some() || agent.handoff(name).is_some() {
                return true;
            }
            if name == SkillSpec::TOOL {
                return has_skills_of(file, agent);
            }
            let server = server_of(name);
            NAMED_TOOLS.contains(&name) || server.is_some_and(|name| file.mcp.contains_key(name))
        })
}

/// Returns whether the file gives the agent skills of the same names.
fn has_skills_of(file: &Definitions, agent: &AgentSpec) -> bool {
    let known = file.agents.get(&agent.name);
    let known = known.map_or(&[][..], |known| known.skills.as_slice());
    let has = |name: &str| known.iter().any(|skill| skill.spec().name == name);
    agent.skills.iter().all(|skill| has(&skill.name))
}

fn builtin_names(agent: &AgentSpec) -> Vec<&str> {
    let names = agent.head.tools.iter().map(|tool| tool.name.as_str());
    names.filter(|name| NAMED_TOOLS.contains(name)).collect()
}

/// Returns the tools of MCP servers.
fn other_tools(
    file: &Definitions,
    servers: Option<&Servers>,
    agent: &AgentSpec,
) -> Result<Vec<Arc<dyn ToolDyn>>, AgentFileError> {
    let mut tools = Vec::new();
    for tool in &agent.head.tools {
        let name = tool.name.as_str();
        let is_builtin = NAMED_TOOLS.contains(&name) || name == SkillSpec::TOOL;
        // The loop itself starts agents, and hands runs over to them.
        let is_of_loop =
            agent.subagent(&tool.name).is_some() || agent.handoff(&tool.name).is_some();
        if is_builtin || is_of_loop || mcp::is_without(file, servers, &tool.name) {
            continue;
        }
        let found = mcp::tool(file, servers, agent, &tool.name)?;
        tools.push(found.ok_or_else(|| AgentFileError::UnknownTool {
            agent: agent.name.clone(),
            name: tool.name.clone(),
            known: NAMED_TOOLS.iter().map(|name| (*name).to_owned()).collect(),
        })?);
    }
    Ok(tools)
}

/// Returns the providers of the agent's models and of those that summarise and judge for it.
fn provider_names(agent: &AgentSpec) -> BTreeSet<&str> {
    let own = agent.head.provider.as_deref();
    let others = other_models(agent).map(|model| model.provider);
    own.into_iter().chain(others).collect()
}

/// Returns the models that the agent asks besides its first.
fn other_models(agent: &AgentSpec) -> impl Iterator<Item = ModelName<'_>> {
    let fallbacks = agent.head.fallback_models.iter().map(String::as_str);
    let summaries = context::summary_models(&agent.context);
    let judges = guards::judging_models(agent);
    let others = fallbacks.chain(summaries).chain(judges);
    others.filter_map(models::split)
}

/// Checks that the price of every model is known here, if the cost is limited. The file was checked when it was read;
/// but the environment may lead to a server with other prices, the agent may ask for terms that no price list covers,
/// and a run may set a limit that its file does not set.
fn check_prices(
    file: &Definitions,
    agent: &AgentSpec,
    prices: &Prices,
    environment: &dyn Environment,
) -> Result<(), AgentFileError> {
    if agent.limits.cost_usd.is_none() {
        return Ok(());
    }
    let own = agent.head.provider.as_deref().map(|provider| ModelName {
        provider,
        name: &agent.head.model,
    });
    for model in own.into_iter().chain(other_models(agent)) {
        let settings = file.providers.get(model.provider);
        // A script states its own costs.
        let is_scripted = settings.is_some_and(|settings| settings.kind == Kind::Script);
        if is_scripted || has_cost(agent, model, prices) {
            continue;
        }
        let has_price = prices.get(model.provider, model.name).is_some();
        let why = match settings {
            _ if has_price => " on the terms that the agent asks for".to_owned(),
            Some(settings) => elsewhere(settings, environment),
            None => String::new(),
        };
        return Err(AgentFileError::UnknownPrice {
            agent: agent.name.clone(),
            model: model.text(),
            why,
        });
    }
    Ok(())
}

/// Returns whether the cost of a call of this model by this agent is known.
fn has_cost(agent: &AgentSpec, model: ModelName<'_>, prices: &Prices) -> bool {
    let mut head = RequestHead::clone(&agent.head);
    if head.provider.as_deref() != Some(model.provider) {
        // The further fields are not sent to another provider.
        head.extra = None;
    }
    head.provider = Some(model.provider.to_owned());
    model.name.clone_into(&mut head.model);
    let usage = TokenUsage {
        input_tokens: 1,
        ..TokenUsage::default()
    };
    let cost = prices.cost(model.provider, &CompletionRequest::from(head), &usage);
    cost.is_some()
}

/// Returns the variable that leads to a server other than the vendor's, in words, if one does.
fn elsewhere(settings: &ProviderSettings, environment: &dyn Environment) -> String {
    let variable = settings.base_url_variable();
    let variable = variable.filter(|_| settings.base_url.is_none());
    match variable.filter(|name| set(environment, name).is_some()) {
        Some(name) => format!(" at the address in {name}"),
        None => String::new(),
    }
}
