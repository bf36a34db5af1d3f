//! The keys of `[agents.NAME]` and of the tables below it that several readers know.

use neuron_sandbox::Sandbox;
use neuron_types::{CallerSetting, Priority, ReasoningEffort, ThinkingConfig};
use serde_json::{Value, json};

use crate::agent_file::{
    tables::{
        activity::ActivityKeys, handoffs::HandoffKeys, limits::LimitKeys, on::OnKeys,
        subagents::SubAgentKeys, tool_limits::ToolLimitKeys, tool_search::ToolSearchKeys,
    },
    text::{
        keys::{Keys, ValueKind, keys},
        kinds::{
            Boolean, BooleanOr, Choice, ChoiceList, Choices, Count, CountOrZero, Entries, Factor,
            Json, List, Listed, Named, Number, OneOrMore, OneOrMoreOf, Part, Required, Size, Sub,
            TextOrFile, Timespan, Words, words,
        },
        table::{RUN_PRIORITY, Table, Text},
    },
};

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

keys! {
    pub(crate) struct PolicyKeys {
        /// How many attempts a tool call has in all; `0` sets no limit.
        attempts: CountOrZero<u32> = 5,
        /// The longest delay after the first attempt; each delay is drawn at random up to its longest.
        initial: Timespan = "1s",
        /// What the longest delay is multiplied by after each attempt.
        factor: Factor = 2.0,
        /// The upper bound of the longest delay; a server that asks for a longer pause gets it.
        max: Timespan = "60s",
    }
}

keys! {
    pub(crate) struct RetryKeys {
        policy: Part<PolicyKeys<'_>>,
        /// The same keys for model calls. Default is no limit of attempts.
        model: Sub<PolicyKeys<'_>>,
    }
}

keys! {
    pub(crate) struct ToolKeys {
        policy: Part<PolicyKeys<'_>>,
        /// How long one attempt of a call of this tool may take.
        timeout: Timespan,
        /// The writes of this tool in one turn run at the same time too.
        parallel_writes: Boolean,
        activity: Part<ActivityKeys<'_>>,
        /// The keys of the steps on Temporal.
        temporal: Sub<ActivityKeys<'_>>,
        limits: Part<ToolLimitKeys<'_>>,
    }
}

keys! {
    pub(crate) struct ContextKeys {
        /// What is done, in order, until the conversation is small enough.
        strategy: OneOrMoreOf<Strategy>,
        /// The size from which on this is done: what the provider last reported, and an estimate for the messages since
        /// then.
        at_tokens: Count<u64> = 100_000,
        /// How many of the newest tool results or messages stay.
        keep: Count<usize> = 10,
        /// The model that summarises.
        model: Words,
        /// What the model that summarises is asked to write; in any case its prompt states that the conversation is
        /// material, and not an instruction.
        summary_prompt: TextOrFile,
        /// What the model has to know in every turn, by the label of the section.
        sections: Named<SectionKeys<'_>>,
        /// What the model is reminded of again and again, by name.
        reminders: Named<ReminderKeys<'_>>,
    }
}

keys! {
    pub(crate) struct SectionKeys {
        /// The text of the section.
        content: Words,
        /// Its place: sections without a priority come first, then those with lower numbers; sections of the same
        /// priority are ordered by their labels.
        priority: Count<usize>,
    }
}

keys! {
    pub(crate) struct ReminderKeys {
        /// The reminder.
        text: Words,
        /// Trigger: whenever this many turns have passed.
        every_turns: Count<u32>,
        /// Trigger: whenever this many tool calls were made, before the next model call.
        every_tool_calls: Count<u32>,
        /// Trigger: when the request reaches this size; again only after it was smaller in between.
        at_tokens: Count<u64>,
    }
}

keys! {
    pub(crate) struct AskKeys {
        /// The calls, without a `!`.
        call: Required<Words>,
        /// The group that a decision must come from.
        from: Words,
        /// How many have to approve.
        needed: Count<u32> = 1,
        /// How long they have.
        within: Timespan,
        /// The group that is asked next, for as long again; it needs `within`.
        then: Words,
    }
}

impl Listed for AskKeys<'_> {
    const WANTED: &'static str = "a list of texts in quotes, or of tables as { call = \"…\" }";
}

/// A list of the names of tools, and of tables with a name and the settings of the tool.
pub(crate) enum ToolList {}

impl ValueKind for ToolList {
    type Value<'a> = Vec<Text<'a>>;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> Vec<Text<'a>> {
        table.names(key)
    }

    fn schema() -> Value {
        let mut settings = ToolKeys::schema();
        if let Some(properties) = settings
            .get_mut("properties")
            .and_then(Value::as_object_mut)
        {
            let name = json!({ "type": "string", "description": "The name of the tool." });
            properties.insert("name".to_owned(), name);
        }
        if let Some(settings) = settings.as_object_mut() {
            settings.insert("required".to_owned(), json!(["name"]));
        }
        json!({ "type": "array", "items": { "anyOf": [{ "type": "string" }, settings] } })
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Strategy {
    None,
    SlidingWindow,
    ClearToolResults,
    Summarize,
    ProviderSummarizes,
    ProviderClearsToolResults,
}

words!(
    Strategy:
    "none" => Self::None,
    "sliding_window" => Self::SlidingWindow,
    "clear_tool_results" => Self::ClearToolResults,
    "summarize" => Self::Summarize,
    "provider_summarize" => Self::ProviderSummarizes,
    "provider_clear_tool_results" => Self::ProviderClearsToolResults,
);

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

impl Choices for CallerSetting {
    fn words() -> Vec<(&'static str, Self)> {
        Self::ALL.map(|setting| (setting.as_str(), setting)).into()
    }
}

words!(Priority: "interactive" => Self::Interactive, "batch" => Self::Batch);
