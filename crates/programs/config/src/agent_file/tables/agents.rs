//! The `[agents.NAME]` tables.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use neuron_tool::builtin::Skill;
use neuron_types::{
    AgentSpec, ApprovalRules, CallerRules, CallerSetting, Handoff, Limits, RequestHead, SkillSpec,
    SubAgent, SystemPrompt,
};

use crate::agent_file::{
    tables::{
        activity,
        agent_keys::AgentKeys,
        context, costs,
        file::FileKeys,
        guards,
        handoffs::{self},
        hooks,
        limits::{self},
        mcp_names,
        models::{self, Known},
        on::OnKeys,
        places, pools, rules, skills,
        steps::{self, AgentTools},
        subagents::{self},
        tool_search::{self},
        tools::{self, Workplace},
    },
    text::{kinds::Choices, table::Text},
};

/// An agent as the file defines it: the part that a run carries, and the part that only the executor needs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Agent {
    pub(crate) spec: AgentSpec,
    /// The description for the agents that may start this agent, or hand a run over to it.
    pub(crate) description: Option<String>,
    pub(crate) workplace: Workplace,
    /// The MCP servers whose tools the agent has.
    pub(crate) mcp: Vec<String>,
    /// The hooks that watch the agent's runs.
    pub(crate) hooks: Vec<String>,
    /// The folders of the agent's skills.
    pub(crate) skills: Vec<Skill>,
}

/// From how many repeats on a model is notified that its call has had the same result before, by default.
pub(crate) const MAX_REPEATS: u32 = 3;

/// Reads the tables. `servers` are the MCP servers of the file.
pub(crate) fn read(
    root: &FileKeys<'_>,
    known: &Known<'_>,
    servers: &[&str],
) -> BTreeMap<String, Agent> {
    const MISSING: &str =
        "the agent file defines no agent: add [agents.default] with model = \"provider/model\"";
    let tables = root.agents();
    if tables.is_empty() && !root.holds_other_than_table("agents") {
        root.problems.add(root.offset_of("agents"), MISSING);
    }
    if let Some(defaults) = root.defaults() {
        // The values of the defaults are right or wrong whichever agent has them.
        read_one("", &defaults, known, servers, &[]);
    }
    let names: Vec<&str> = tables.iter().map(|(name, _)| *name).collect();
    let read = tables.iter().map(|(name, table)| {
        let agent = read_one(name, table, known, servers, &names);
        ((*name).to_owned(), agent)
    });
    let mut agents: BTreeMap<String, Agent> = read.collect();
    let places = agents.iter();
    let places = places.map(|(name, agent)| (name.as_str(), &agent.workplace));
    places::check(&tables, &places.collect());
    let definitions = agents.iter();
    let definitions = definitions.map(|(name, agent)| (name.as_str(), &agent.spec));
    costs::check(&tables, &definitions.collect(), known);
    describe_others(&mut agents);
    pools::share(
        agents.values_mut().map(|agent| &mut agent.spec),
        known.pools,
    );
    agents
}

fn read_one(
    name: &str,
    table: &AgentKeys<'_>,
    known: &Known<'_>,
    servers: &[&str],
    names: &[&str],
) -> Agent {
    let default = AgentSpec::default();
    let mut models = models::read_list(table, "model", table.model(), known);
    if table.is_defaults() {
        // Whether a value fits the model depends on the agent.
        models.clear();
    } else if !table.has("model") {
        table.missing("model = \"provider/model\"");
    }
    let model = models.first().copied();
    let mut tool_names = tools::read_names(table, servers);
    let skills = skills::read(table, table.skills());
    if table.has(skills::KEY) {
        tool_names.push(Text {
            value: SkillSpec::TOOL,
            offset: table.offset_of(skills::KEY),
        });
    }
    let (retry, model_retry) = steps::read_retry(table);
    let model_timeout = table.model_timeout().unwrap_or(default.model_timeout);
    let tool_timeout = table.tool_timeout().unwrap_or(default.tool_timeout);
    let context = context::read(table.context(), model, known);
    // Nothing is too long for [defaults]: the timeouts are the agents'.
    let longest = match table.is_defaults() {
        true => Duration::MAX,
        false => tool_timeout,
    };
    let tools = AgentTools {
        names: &tool_names,
        servers,
        timeout: longest,
    };
    let tool_tables = steps::read_tools(table, &tools, &retry);
    let on = table.on();
    let on = on.as_ref();
    let hooks = hooks::read_names(table, table.hooks(), known.hooks);
    let mut spec = AgentSpec {
        name: name.to_owned(),
        head: RequestHead {
            provider: model.map(|model| model.provider.to_owned()),
            model: model.map(|model| model.name.to_owned()).unwrap_or_default(),
            fallback_models: models.iter().skip(1).map(|model| model.text()).collect(),
            system: table.instructions().map(SystemPrompt::Text),
            max_tokens: table.max_tokens(),
            temperature: table.temperature().map(|number| number as f32),
            thinking: table.thinking(),
            reasoning_effort: table.effort(),
            extra: table.extra(),
            context_management: context.management,
            ..RequestHead::default()
        }
        .into(),
        input: None,
        approvals: ApprovalRules {
            allow: rules::read(table, "allow", table.allow(), servers),
            approve: rules::read_ask(table, table.ask(), servers),
            deny: rules::read(table, "deny", table.deny(), servers),
            ..ApprovalRules::default()
        },
        callers_may_set: read_caller_settings(table),
        approval_timeout: table.approval_timeout(),
        on_expiry: on.and_then(OnKeys::expiry).unwrap_or_default(),
        on_unknown_outcome: on.and_then(OnKeys::unknown_outcome).unwrap_or_default(),
        on_failure: on.and_then(OnKeys::failure).unwrap_or_default(),
        on_limit: on.and_then(OnKeys::limit).unwrap_or_default(),
        parallel_tools: table.parallel_tools().unwrap_or(default.parallel_tools),
        parallel_writes: table.parallel_writes().unwrap_or(default.parallel_writes),
        calls_per_turn: table.calls_per_turn().or(default.calls_per_turn),
        stop_on_first_tool: table
            .stop_on_first_tool()
            .unwrap_or(default.stop_on_first_tool),
        limits: read_limits(table),
        context: context.policy,
        tool_settings: tool_tables.settings,
        team: None,
        max_repeats: Some(table.max_repeats().unwrap_or(MAX_REPEATS)),
        on_loop: on.and_then(OnKeys::r#loop).unwrap_or_default(),
        tool_search: tool_search::read(table.tool_search()),
        guards: guards::read_names(
            table,
            table.guards(),
            known.guards,
            model.map(|model| model.text()).as_deref(),
        ),
        hooks_calls: hooks.iter().any(|name| {
            let hook = known.hooks.get(name);
            hook.is_some_and(hooks::HookSettings::watches_calls)
        }),
        // The skills are added together with their tool.
        skills: Vec::new(),
        subagents: subagents::read(table, table.subagents(), names),
        handoffs: handoffs::read(table, table.handoffs(), name, names),
        max_depth: table.max_depth().unwrap_or(default.max_depth),
        max_children: table.max_children().unwrap_or(default.max_children),
        pool: table
            .pool()
            .and_then(|name| pools::read_name(table, name, known.pools)),
        // The pools that its trees use are known once all agents are read.
        pools: BTreeMap::new(),
        lease: table.lease().unwrap_or(default.lease),
        // The rates are added when a run is given the agent.
        rates: Vec::new(),
        // The bounds are added by the caller that starts a run.
        bounds: Vec::new(),
        // This is set when a run is given the agent.
        signed: false,
        caller_rules: CallerRules::default(),
        retry,
        model_retry,
        give_up_after: table.give_up_after(),
        priority: table.priority().unwrap_or_default(),
        model_timeout,
        tool_timeout,
        activity: activity::read(&table.activity(), model_timeout.max(longest)),
    };
    // The contents of the table were put beside it. This notes a value that is not a table.
    table.temporal();
    let summarising = context::summary_models(&spec.context).map(models::split);
    let judging = guards::judging_models(&spec).map(models::split);
    let called = models.into_iter().map(Some).chain(summarising);
    let called: Vec<_> = called.chain(judging).collect();
    let pool = spec.pool.as_ref().and_then(|pool| known.pools.get(pool));
    for model in called {
        if spec.limits.cost_usd.is_some() {
            models::require_price(table, model, known);
        }
        if pool.is_some_and(|pool| pool.cost_usd.is_some()) {
            pools::require_price(table, model, known);
        }
    }
    context.persistent.add_to(spec.head_mut());
    let workplace = tools::read_workplace(table, tool_tables.limits);
    let definitions = tools::definitions(&tool_names, &spec, &workplace);
    spec.head_mut().tools = definitions;
    let options = tools::options(&spec, &workplace);
    skills::give(&mut spec, &skills, &options);
    let names = tool_names.iter();
    let servers = names.filter_map(|name| mcp_names::server_name(name.value));
    let mcp: BTreeSet<String> = servers.map(ToOwned::to_owned).collect();
    Agent {
        spec,
        description: table.description(),
        workplace,
        mcp: mcp.into_iter().collect(),
        hooks,
        skills,
    }
}

fn read_caller_settings(agent: &AgentKeys<'_>) -> BTreeSet<CallerSetting> {
    let choices = CallerSetting::words();
    let settings = agent.callers_may_set().into_iter();
    settings
        .filter_map(|text| agent.choose("callers_may_set", text, &choices))
        .collect()
}

fn read_limits(agent: &AgentKeys<'_>) -> Limits {
    let (asked, default) = (limits::read(agent.limits().as_ref()), Limits::default());
    Limits {
        turns: asked.turns.or(default.turns),
        tool_calls: asked.tool_calls.or(default.tool_calls),
        tokens: asked.tokens,
        cost_usd: asked.cost_usd,
        duration: asked.duration,
        deadline: asked.deadline,
    }
}

/// Adds to the agents the descriptions of those that they may start or hand a run over to, and the tools for it.
fn describe_others(agents: &mut BTreeMap<String, Agent>) {
    let told: BTreeMap<String, _> = agents
        .iter()
        .map(|(name, agent)| {
            let input = agent.spec.input.clone();
            (name.clone(), (agent.description.clone(), input))
        })
        .collect();
    for agent in agents.values_mut() {
        let mut subagents = std::mem::take(&mut agent.spec.subagents);
        for subagent in &mut subagents {
            if let Some((description, input)) = told.get(&subagent.name) {
                subagent.description = description.clone().unwrap_or_default();
                subagent.input.clone_from(input);
            }
        }
        let mut handoffs = std::mem::take(&mut agent.spec.handoffs);
        for handoff in &mut handoffs {
            if let Some((description, _)) = told.get(&handoff.name) {
                handoff.description = description.clone().unwrap_or_default();
            }
        }
        if !subagents.is_empty() || !handoffs.is_empty() {
            let starters = subagents.iter().map(SubAgent::definition);
            let tools = starters.chain(handoffs.iter().map(Handoff::definition));
            agent.spec.head_mut().tools.extend(tools);
        }
        agent.spec.subagents = subagents;
        agent.spec.handoffs = handoffs;
    }
}
