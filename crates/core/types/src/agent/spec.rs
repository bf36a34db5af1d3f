//! What an agent is, as a run carries it.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{
    ActivityOptions, ActivitySettings, Allowance, ApprovalRules, Bounds, CallerRules,
    CallerSetting, FIND_TOOLS, GuardPoint, GuardSpec, Handoff, Limits, ModelRate, OnExpiry, OnHalt,
    OnLoop, Priority, Reminder, RequestHead, RetryPolicy, RunPolicy, RunTags, SkillSpec, StepId,
    SubAgent, ToolCall, ToolDefinition, ToolEffects, ToolSearch, canonical_json, hex, json::millis,
    json::shared,
};

/// The default time for which a failing step is tried again.
const GIVE_UP_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// The default number of levels of runs that there may be below a run.
const MAX_DEPTH: u32 = 2;

/// The default number of runs that a run started and that may be open at once.
const MAX_CHILDREN: u32 = 16;

/// The default time that a run continues without word of the run that started it.
const LEASE: Duration = Duration::from_secs(60 * 60);

/// A named definition of an agent, resolved: what a run needs to know of it, without keys or connections.
///
/// A run keeps the definition that it was started with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentSpec {
    /// Its name in the agent file.
    pub name: String,
    /// Everything that its model calls have in common: provider, model, instructions, tools, settings.
    #[serde(with = "shared")]
    pub head: Arc<RequestHead>,
    /// The JSON Schema of what its runs are given; any text where `None`. A prompt states a text as it is, and anything
    /// else as JSON. A run whose prompt states no such value fails before its first model call: the door has the prompt
    /// checked when the run begins. An agent that takes turns in a [workflow](Self::team) is asked whatever the workflow
    /// likes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Which calls are denied or put to a person.
    pub approvals: ApprovalRules,
    /// What the caller who started the run added to these rules.
    #[serde(skip_serializing_if = "CallerRules::is_empty")]
    pub caller_rules: CallerRules,
    /// What the caller who starts a run may set, beside what narrows it. Default is nothing.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub callers_may_set: BTreeSet<CallerSetting>,
    /// How long a ticket stays open; for ever where `None`.
    #[serde(
        rename = "approval_timeout_ms",
        with = "millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub approval_timeout: Option<Duration>,
    /// What happens to a call whose ticket lapsed.
    pub on_expiry: OnExpiry,
    /// What happens to a write whose outcome is unknown.
    pub on_unknown_outcome: OnUnknownOutcome,
    /// What happens when a model call gives up, or the conversation cannot be made to fit.
    #[serde(skip_serializing_if = "OnHalt::is_default")]
    pub on_failure: OnHalt,
    /// What happens when one of the [limits](Self::limits) is reached.
    #[serde(skip_serializing_if = "OnHalt::is_default")]
    pub on_limit: OnHalt,
    /// Calls of one turn run at the same time, as far as [their order](Self::parallel_writes) lets them. Default is true;
    /// otherwise they run one by one.
    pub parallel_tools: bool,
    /// Writes of one turn, which is what is not read-only, run at the same time too. Default is false: they run one after
    /// another in the order in which the model asked, after the calls before them, and a read that the model asked for
    /// after a write waits for it. A call that waits for a person or for a result from elsewhere holds no other one back,
    /// and starts at once when it is approved. What a tool's [settings](ToolSettings::parallel_writes) say goes before.
    ///
    /// Definitions that were recorded before there was an order do not have the field, and have none.
    #[serde(default = "unordered", skip_serializing_if = "is_unordered")]
    pub parallel_writes: bool,
    /// How many calls one answer of the model may ask for; no limit where `None`. Default is 32. The calls beyond this
    /// number are not made, and their results report that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls_per_turn: Option<u32>,
    /// A run is complete after the first turn in which a call was made and has not failed, with the text of the first such
    /// result as its output: the model does not read it. Default is false. A turn whose calls all failed, or were not
    /// allowed, is followed by another. So is one that only asked a person, or handed the run over. The text is held to no
    /// [form](RequestHead::response_format).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stop_on_first_tool: bool,
    /// How far a run may go.
    pub limits: Limits,
    /// How the conversation is kept small.
    pub context: ContextPolicy,
    /// How failed steps are retried. The number of attempts is that of tool calls.
    pub retry: RetryPolicy,
    /// How failed model calls are retried, also those of a summary. Default is as [`retry`](Self::retry) says, with no
    /// limit to the number of attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_retry: Option<RetryPolicy>,
    /// For how long a failing step is tried again, where its policy says nothing else. Default is one day.
    #[serde(
        rename = "give_up_after_ms",
        with = "millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub give_up_after: Option<Duration>,
    /// Whether its model calls come before those of others, or after them, where they wait for their turn. Default is
    /// before.
    #[serde(skip_serializing_if = "Priority::is_default")]
    pub priority: Priority,
    /// How long a model may be silent in one attempt of a call. Default is 10 minutes. An answer that keeps coming may take
    /// longer, and each model of a [list](RequestHead::fallback_models) has this time for itself.
    #[serde(rename = "model_timeout_ms", with = "millis")]
    pub model_timeout: Duration,
    /// How long one attempt of a tool call may take. Default is 10 minutes. A tool that has a
    /// [timeout of its own](crate::ToolDefinition::timeout) may take less.
    #[serde(rename = "tool_timeout_ms", with = "millis")]
    pub tool_timeout: Duration,
    /// How engines that have a choice make its steps; a tool's own settings go before.
    #[serde(skip_serializing_if = "ActivitySettings::is_default")]
    pub activity: ActivitySettings,
    /// What single tools do differently, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tool_settings: BTreeMap<String, ToolSettings>,
    /// The agents that take turns in a run of a workflow of one's own; `None` if this is an agent and no workflow. The
    /// n-th of them, counted from 1, has the [scope](StepId::scope) n.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<Vec<Self>>,
    /// The number of times from which on the model gets the hint that a call has had the same result before; nothing is
    /// watched where `None` or 0. Calls in between do not count against it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_repeats: Option<u32>,
    /// What happens when a call has had the same result twice as often.
    #[serde(skip_serializing_if = "OnLoop::is_default")]
    pub on_loop: OnLoop,
    /// From where on its model is not sent all tools, and finds them itself; it is sent all where `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_search: Option<ToolSearch>,
    /// The guards of its runs, in the order in which they look.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<GuardSpec>,
    /// Whether hooks are asked about its calls before anything else is, so that people see what the hooks made of the
    /// calls.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hooks_calls: bool,
    /// The skills that its model may read. The tool that reads them is one of the [head](Self::head)'s.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<SkillSpec>,
    /// The agents that its runs may start. The tool of each is one of the [head](Self::head)'s.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subagents: Vec<SubAgent>,
    /// The agents that its runs may be handed over to. The tool of each is one of the [head](Self::head)'s.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handoffs: Vec<Handoff>,
    /// How many levels of runs there may be below a run of it: its children are the first level, and their children the
    /// second. The limit of the run that started it counts, too. Default is 2.
    #[serde(skip_serializing_if = "is_default_depth")]
    pub max_depth: u32,
    /// How many runs that it started may be open at once. Default is 16.
    #[serde(skip_serializing_if = "is_default_width")]
    pub max_children: u32,
    /// What its run may do at most, since other runs started it: their [bounds](Bounds), from the top of the tree downwards.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Bounds>,
    /// How long a run that its runs start continues without word of them. Default is one hour.
    #[serde(
        rename = "lease_ms",
        with = "millis",
        skip_serializing_if = "is_default_lease"
    )]
    pub lease: Duration,
    /// The [pool](Self::pools) that its model calls are charged to, beside the limits of its run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Budgets that runs of a tree share, by name: how much all runs together may use whose agents name one as their
    /// [pool](Self::pool). Those of the run that began the tree count, which has to have all of them; runs below are granted
    /// parts of them, as of the other budget.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pools: BTreeMap<String, Allowance>,
    /// What its models cost at most, where that is known: what a run with a limit of cost reserves. Workers set it
    /// where they give a definition to a run. It does not make definitions differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<ModelRate>,
    /// Whether decisions about its runs have to be signed: the worker of the definition knows approvers. Workers set it
    /// where they give a definition to a run. It does not make definitions differ.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub signed: bool,
}

impl Default for AgentSpec {
    fn default() -> Self {
        Self {
            name: "default".to_owned(),
            head: Arc::default(),
            input: None,
            approvals: ApprovalRules::default(),
            caller_rules: CallerRules::default(),
            callers_may_set: BTreeSet::new(),
            approval_timeout: None,
            on_expiry: OnExpiry::default(),
            on_unknown_outcome: OnUnknownOutcome::default(),
            on_failure: OnHalt::default(),
            on_limit: OnHalt::default(),
            parallel_tools: true,
            parallel_writes: false,
            calls_per_turn: Some(32),
            stop_on_first_tool: false,
            limits: Limits::default(),
            context: ContextPolicy::default(),
            retry: RetryPolicy::default(),
            model_retry: None,
            give_up_after: None,
            priority: Priority::default(),
            model_timeout: Duration::from_secs(600),
            tool_timeout: Duration::from_secs(600),
            activity: ActivitySettings::default(),
            tool_settings: BTreeMap::new(),
            team: None,
            max_repeats: None,
            on_loop: OnLoop::default(),
            tool_search: None,
            guards: Vec::new(),
            hooks_calls: false,
            skills: Vec::new(),
            subagents: Vec::new(),
            handoffs: Vec::new(),
            max_depth: MAX_DEPTH,
            max_children: MAX_CHILDREN,
            bounds: Vec::new(),
            lease: LEASE,
            pool: None,
            pools: BTreeMap::new(),
            rates: Vec::new(),
            signed: false,
        }
    }
}

const fn unordered() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_unordered(parallel_writes: &bool) -> bool {
    *parallel_writes
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_default_depth(levels: &u32) -> bool {
    *levels == MAX_DEPTH
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_default_width(children: &u32) -> bool {
    *children == MAX_CHILDREN
}

fn is_default_lease(lease: &Duration) -> bool {
    *lease == LEASE
}

impl AgentSpec {
    /// Returns what its model calls have in common, to be changed. Copies it if another definition or a request shares
    /// it.
    pub fn head_mut(&mut self) -> &mut RequestHead {
        Arc::make_mut(&mut self.head)
    }

    /// Returns the models that its runs call, each as `provider/model`: those that answer, those that summarise, and
    /// those that judge.
    pub fn models(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let summarising = self.context.rules.iter().filter_map(|rule| match rule {
            ContextRule::Summarize { model, .. } => model.as_deref().map(Cow::Borrowed),
            _ => None,
        });
        let judges = self
            .guards
            .iter()
            .filter_map(|guard| guard.judge.as_deref());
        let judging = judges.map(|judge| Cow::Borrowed(judge.model.as_str()));
        self.head.models().chain(summarising).chain(judging)
    }

    /// Returns the names of the guards of its runs that look here.
    pub fn guards_at(&self, point: GuardPoint) -> impl Iterator<Item = &str> {
        let at = self.guards.iter();
        let at = at.filter(move |guard| guard.at.contains(&point));
        at.map(|guard| guard.name.as_str())
    }

    /// Returns what distinguishes this definition from any other: `sha256:` and the SHA-256 of its
    /// [canonical JSON](canonical_json) in hexadecimal.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        // A definition holds nothing that JSON cannot.
        let mut json = serde_json::to_value(self).unwrap_or_default();
        if let Some(fields) = json.as_object_mut() {
            fields.remove("signed");
            fields.remove("rates");
        }
        format!("sha256:{}", hex(&Sha256::digest(canonical_json(&json))))
    }

    /// Returns the policy that decides which calls a run makes, rejects and puts to a person.
    #[must_use]
    pub fn policy(&self) -> RunPolicy {
        RunPolicy::new(self.approvals.clone(), &self.caller_rules)
            .within(&self.bounds, self.own_tools())
            .with_tools(&self.head.tools)
    }

    /// Returns how the door makes the model call of this turn.
    #[must_use]
    pub fn model_options(&self, turn: u32) -> ActivityOptions {
        ActivityOptions {
            step: StepId::new(turn, 0),
            agent: None,
            nonce: None,
            trace: None,
            tags: RunTags::default(),
            root: None,
            allow: Vec::new(),
            bounds: Vec::new(),
            guards: self.names_of_guards(&[GuardPoint::Output]),
            skills: BTreeMap::new(),
            priority: self.priority,
            effects: ToolEffects::Idempotent,
            start_to_close_timeout: self.model_timeout,
            retry_policy: self.model_retry_policy(),
            held: None,
            activity: self.activity.clone(),
        }
    }

    /// Returns the names of the guards of its runs that look at any of these points, in their order.
    #[must_use]
    pub fn names_of_guards(&self, points: &[GuardPoint]) -> Vec<String> {
        let looks = |guard: &&GuardSpec| points.iter().any(|point| guard.at.contains(point));
        let guards = self.guards.iter().filter(looks);
        guards.map(|guard| guard.name.clone()).collect()
    }

    /// Returns whether guards, or hooks, are asked about its calls before anything else is.
    #[must_use]
    pub fn guards_calls(&self) -> bool {
        self.hooks_calls || self.guards_at(GuardPoint::Call).next().is_some()
    }

    /// Returns how failed model calls are retried, and for how long.
    #[must_use]
    pub fn model_retry_policy(&self) -> RetryPolicy {
        let own = self.model_retry.clone();
        self.with_end(own.unwrap_or_else(|| RetryPolicy {
            maximum_attempts: 0,
            ..self.retry.clone()
        }))
    }

    /// Returns how failed calls of this tool are retried, and for how long.
    #[must_use]
    pub fn tool_retry_policy(&self, tool: &str) -> RetryPolicy {
        let settings = self.tool_settings.get(tool);
        let own = settings.and_then(|settings| settings.retry.as_ref());
        self.with_end(own.unwrap_or(&self.retry).clone())
    }

    /// Returns how failed steps that are no calls of models or tools are retried, and for how long.
    #[must_use]
    pub fn step_retry_policy(&self) -> RetryPolicy {
        self.with_end(self.retry.clone())
    }

    /// The policy with the time after which a step is given up.
    fn with_end(&self, policy: RetryPolicy) -> RetryPolicy {
        let longest = self.give_up_after.unwrap_or(GIVE_UP_AFTER);
        RetryPolicy {
            give_up_after: policy.give_up_after.or(Some(longest)),
            ..policy
        }
    }

    /// Returns how the door makes this tool call. A tool that the agent does not know is treated as a write.
    #[must_use]
    pub fn tool_options(&self, call: &ToolCall, step: StepId) -> ActivityOptions {
        let settings = self.tool_settings.get(&call.name);
        ActivityOptions {
            step,
            agent: None,
            nonce: None,
            trace: None,
            tags: RunTags::default(),
            root: None,
            allow: Vec::new(),
            bounds: Vec::new(),
            guards: self.names_of_guards(&[GuardPoint::Call, GuardPoint::Result]),
            skills: self.skills_for(&call.name),
            priority: self.priority,
            effects: self.effects_of(&call.name),
            start_to_close_timeout: self.timeout_of(&call.name),
            retry_policy: self.tool_retry_policy(&call.name),
            held: None,
            activity: settings.map_or_else(
                || self.activity.clone(),
                |settings| settings.activity.over(&self.activity),
            ),
        }
    }

    /// Returns how long one attempt of this tool's calls may take: the time of its settings, else the tool's own time
    /// up to [`tool_timeout`](Self::tool_timeout), else [`tool_timeout`](Self::tool_timeout).
    #[must_use]
    pub fn timeout_of(&self, tool: &str) -> Duration {
        let settings = self.tool_settings.get(tool);
        if let Some(timeout) = settings.and_then(|settings| settings.timeout) {
            return timeout;
        }
        let own = self.definition_of(tool).and_then(|tool| tool.timeout);
        own.map_or(self.tool_timeout, |own| own.min(self.tool_timeout))
    }

    /// The agent that a call of this tool starts, if it starts one.
    #[must_use]
    pub fn subagent(&self, tool: &str) -> Option<&SubAgent> {
        let name = tool.strip_prefix(SubAgent::PREFIX)?;
        self.subagents.iter().find(|agent| agent.name == name)
    }

    /// The agent that a call of this tool hands the run over to, if it does.
    #[must_use]
    pub fn handoff(&self, tool: &str) -> Option<&Handoff> {
        let name = tool.strip_prefix(Handoff::PREFIX)?;
        self.handoffs.iter().find(|agent| agent.name == name)
    }

    /// The names of the tools that start other agents or hand the run over to one, and of those which find tools and read
    /// skills: no [bounds](Self::bounds) have to have them, since what these agents do, and the tools that are found, are held to
    /// the same, and skills are a part of the definition.
    pub(crate) fn own_tools(&self) -> BTreeSet<String> {
        let starters = self.subagents.iter().map(SubAgent::tool_name);
        let finder = self.may_search_tools().then(|| FIND_TOOLS.to_owned());
        let reader = (!self.skills.is_empty()).then(|| SkillSpec::TOOL.to_owned());
        starters
            .chain(self.handoffs.iter().map(Handoff::tool_name))
            .chain(finder)
            .chain(reader)
            .collect()
    }

    /// The digests of the skills by name, for calls of the tool that reads them.
    fn skills_for(&self, tool: &str) -> BTreeMap<String, String> {
        let skills = self.skills.iter().filter(|_| tool == SkillSpec::TOOL);
        skills
            .map(|skill| (skill.name.clone(), skill.digest.clone()))
            .collect()
    }

    /// Returns what a call of this tool does to the world. A tool that the agent does not know is treated as a write.
    /// To start an agent is idempotent, whatever that does, and so is to hand the run over to one. To find tools
    /// changes nothing.
    #[must_use]
    pub fn effects_of(&self, tool: &str) -> ToolEffects {
        if self.subagent(tool).is_some() || self.handoff(tool).is_some() {
            return ToolEffects::Idempotent;
        }
        if tool == FIND_TOOLS && self.may_search_tools() {
            return ToolEffects::ReadOnly;
        }
        self.definition_of(tool)
            .map_or(ToolEffects::Write, ToolDefinition::effects)
    }

    /// Returns whether the writes of this tool run at the same time as other calls of their turn: what its settings
    /// say, else [`parallel_writes`](Self::parallel_writes). Agents that are started do.
    #[must_use]
    pub fn has_parallel_writes(&self, tool: &str) -> bool {
        if self.subagent(tool).is_some() {
            return true;
        }
        let settings = self.tool_settings.get(tool);
        settings
            .and_then(|settings| settings.parallel_writes)
            .unwrap_or(self.parallel_writes)
    }

    /// Returns whether [`FIND_TOOLS`] is the tool that loads others, however many there are, and none of the agent's own: those
    /// of older definitions may have the name.
    #[must_use]
    pub fn may_search_tools(&self) -> bool {
        let mut tools = self.head.tools.iter();
        self.tool_search.is_some() && tools.all(|tool| tool.name != FIND_TOOLS)
    }

    fn definition_of(&self, tool: &str) -> Option<&ToolDefinition> {
        self.head.tools.iter().find(|known| known.name == tool)
    }
}

/// What one tool of an agent does differently.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolSettings {
    /// Instead of [`AgentSpec::retry`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
    /// Instead of the tool's own timeout and [`AgentSpec::tool_timeout`].
    #[serde(
        rename = "timeout_ms",
        with = "millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub timeout: Option<Duration>,
    /// Instead of [`AgentSpec::parallel_writes`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_writes: Option<bool>,
    /// Before [`AgentSpec::activity`].
    #[serde(skip_serializing_if = "ActivitySettings::is_default")]
    pub activity: ActivitySettings,
}

/// What happens to a write whose outcome is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnUnknownOutcome {
    /// The model reads an error result that reports it.
    #[default]
    TellModel,
    /// A person is asked whether to make the call again.
    AskPerson,
}

/// How the conversation is kept small.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContextPolicy {
    /// Tried in order until the conversation is under the threshold. None keeps everything.
    pub rules: Vec<ContextRule>,
    /// The size in tokens from which the conversation is compacted; the rules' default where `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_tokens: Option<u64>,
    /// What the model is reminded of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reminders: Vec<Reminder>,
}

/// The default size in tokens from which on a conversation is compacted.
pub const DEFAULT_AT_TOKENS: u64 = 100_000;

impl ContextPolicy {
    /// Returns the size in tokens from which the conversation is compacted.
    #[must_use]
    pub fn threshold(&self) -> u64 {
        self.at_tokens.unwrap_or(DEFAULT_AT_TOKENS)
    }
}

/// One way to make a conversation smaller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContextRule {
    /// Drop all but the first user message and the newest messages.
    SlidingWindow {
        /// How many messages stay.
        keep: usize,
    },
    /// Replace the content of older tool results by a note.
    ClearToolResults {
        /// How many results stay.
        keep: usize,
    },
    /// Have a model summarise the older part.
    Summarize {
        /// How many messages stay as they are.
        keep: usize,
        /// The model that summarises, as `provider/model`; the agent's own where `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// What the model is asked to write, in the place of the default headings. Whatever the prompt is, the model
        /// also reads that the conversation is material and holds no instructions for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary_prompt: Option<String>,
    },
}
