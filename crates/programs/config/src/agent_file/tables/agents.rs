//! The `[agents.NAME]` tables.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use neuron_sandbox::Sandbox;
use neuron_tool::builtin::Skill;
use neuron_types::{
    AgentSpec, ApprovalRules, CallerRules, CallerSetting, Handoff, Limits, Priority,
    ReasoningEffort, RequestHead, SkillSpec, SubAgent, SystemPrompt, ThinkingConfig,
};
use serde_json::Value;

use crate::agent_file::{
    tables::{
        activity::{self, ActivityKeys},
        context::{self, ContextKeys},
        costs,
        file::FileKeys,
        guards,
        handoffs::{self, HandoffKeys},
        hooks,
        limits::{self, LimitKeys},
        mcp_names,
        models::{self, Known},
        on::OnKeys,
        places, pools,
        rules::{self, AskKeys},
        skills,
        steps::{self, AgentTools, RetryKeys, ToolKeys},
        subagents::{self, SubAgentKeys},
        tool_search::{self, ToolSearchKeys},
        tools::{self, ToolList, Workplace},
    },
    text::{
        keys::{ValueKind, keys},
        kinds::{
            Boolean, BooleanOr, Choice, ChoiceList, Choices, Count, CountOrZero, Entries, Json,
            List, Named, Number, OneOrMore, Part, Size, Sub, TextOrFile, Timespan, Words, words,
        },
        table::{RUN_PRIORITY, Table, Text},
    },
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

keys! {
    pub(crate) struct AgentKeys {
        /// What the models of other agents read about this agent, if they may start it or hand their runs over to it.
        description: TextOrFile,
        /// The agents that it may start: `{ name, background, limits }`; see Agents that start agents.
        subagents: Entries<SubAgentKeys<'_>>,
        /// The pool that its model calls are charged to.
        pool: Words,
        /// The guards that look at its runs, in this order.
        guards: List,
        /// The hooks that are asked about its runs, in this order.
        hooks: List,
        /// Folders with a `SKILL.md`, as patterns: the skills that its model may read.
        skills: List,
        /// The agents that its runs may be handed over to: `{ name, conversation }`, which is `"whole"`, `"summary"` or
        /// `"last"`; see Handoffs.
        handoffs: Entries<HandoffKeys<'_>>,
        /// How many levels of runs there may be below a run of it; with 0 it starts no runs.
        max_depth: CountOrZero<u32> = 2,
        /// How many runs that it started may be open at once.
        max_children: Count<u32> = 16,
        /// How long runs that it started continue without hearing from it: see Budgets.
        lease: Timespan = "1h",
        /// The model that answers, and the models that are asked when it cannot.
        model: OneOrMore,
        /// The system prompt.
        instructions: TextOrFile,
        /// The tools that the model may call: built-in tools, `ask_person`, and `mcp:NAME` for those of an MCP server.
        /// `{ name = "bash", timeout = "30m" }` means the same as `"bash"` and an `[agents.NAME.tool.bash]` with `timeout`.
        tools: ToolList,
        /// The calls that are made without asking.
        allow: List,
        /// The calls that a person is asked about, and who that is.
        ask: Entries<AskKeys<'_>>,
        /// The calls that are rejected.
        deny: List,
        /// What the caller who starts a run may set too: `"model"`, `"instructions"`, `"allow"`, `"limits"`: see What
        /// callers change.
        callers_may_set: ChoiceList<CallerSetting>,
        /// How long a ticket stays open.
        approval_timeout: Timespan,
        /// What happens when a run cannot simply continue: `{ failure, limit, expiry, unknown_outcome, loop }`.
        on: Sub<OnKeys<'_>>,
        /// Calls of one turn run at the same time, as far as their order allows; with `false` one by one.
        parallel_tools: Boolean = true,
        /// The writes of one turn run at the same time too: see Calls of one turn.
        parallel_writes: Boolean = false,
        /// How many calls one answer of the model may ask for; the results of further calls state that they were not made.
        calls_per_turn: Count<u32> = 32,
        /// The run is complete after the first turn in which a call succeeded, with the text of that result as its answer:
        /// see Calls of one turn.
        stop_on_first_tool: Boolean = false,
        /// From how many times on a call with the same result gets a hint, which the model reads; with 0 repeats are not
        /// counted.
        max_repeats: CountOrZero<u32> = 3,
        /// When the model is not sent all tools, and searches for them: if there are more than `above` tools, or if they
        /// take more than the part `at` of `at_tokens` of the context. With `false` all tools are sent. With
        /// `provider = true` a provider that can search tools does so itself.
        tool_search: BooleanOr<Sub<ToolSearchKeys<'_>>> = { "above": 40, "at": "10%" },
        /// What a run may use up, at most.
        limits: Sub<LimitKeys<'_>>,
        /// How the conversation is kept small.
        context: Sub<ContextKeys<'_>>,
        /// How the steps of the agent are retried.
        retry: Sub<RetryKeys<'_>>,
        /// How long a failing step is tried again.
        give_up_after: Timespan = "1d",
        /// Settings of single tools, by the tool's name.
        tool: Named<ToolKeys<'_>>,
        /// The most tokens of one answer.
        max_tokens: Count<u64>,
        /// Sampling temperature; models may reject it.
        temperature: Number,
        /// Extended thinking; a count is a budget in tokens; models reject what they do not support.
        thinking: ThinkingConfig,
        /// How hard the model reasons; models may reject a level.
        effort: Choice<ReasoningEffort>,
        /// How long a model may be silent in one attempt of a call; an answer that keeps coming may take six times as long.
        model_timeout: Timespan = "10m",
        /// How long one attempt of a tool call may take; one of a built-in tool that only reads takes 5 s at most, unless its
        /// table has a `timeout`.
        tool_timeout: Timespan = "10m",
        /// The most bytes of text in one tool result.
        tool_output_bytes: Size = "64KiB",
        /// The file tools may leave the working directory.
        allow_outside_cwd: Boolean = false,
        /// What commands may reach.
        sandbox: Sandbox = "workspace",
        /// Further fields of the request body, in the API's own words, as `extra = { service_tier = "flex" }`. Its `tools`
        /// are added to the agent's: with `extra = { tools = [{ type = "web_search" }] }` OpenAI searches the web.
        extra: Json,
        /// Which model calls come first where they wait because of a rate: those of batch agents wait behind the others. A
        /// number here is Temporal's priority; to set both, write the word here and `temporal = { priority = 2 }` beside
        /// it.
        priority: RunPriority = "interactive",
        activity: Part<ActivityKeys<'_>>,
        /// The keys of the steps on Temporal.
        temporal: Sub<ActivityKeys<'_>>,
    }
    rejected &[
        ("approve", "is called ask: rename it"),
        (
            "on_expiry",
            "is part of on: write on = { expiry = \"deny\" } or \"fail\"",
        ),
        (
            "on_unknown_outcome",
            "is part of on: write on = { unknown_outcome = \"result\" } or \"ask\"",
        ),
    ]
}

impl Choices for CallerSetting {
    fn words() -> Vec<(&'static str, Self)> {
        Self::ALL.map(|setting| (setting.as_str(), setting)).into()
    }
}

words!(Priority: "interactive" => Self::Interactive, "batch" => Self::Batch);

/// The word for `priority`, which is separate from Temporal's number.
pub(crate) enum RunPriority {}

impl ValueKind for RunPriority {
    type Value<'a> = Option<Priority>;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> Option<Priority> {
        let word = table.text(RUN_PRIORITY)?;
        table.choose(key, word, &Priority::words())
    }

    fn schema() -> Value {
        Choice::<Priority>::schema()
    }
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
