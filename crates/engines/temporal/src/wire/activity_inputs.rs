//! The inputs of the activities: what is written into the history for a step.

use std::{collections::BTreeMap, time::Duration};

use neuron_flow::{StepLife, StepTerms};
use neuron_types::{
    ActivityOptions, Bounds, Effect, Held, Needed, Priority, RequestHead, RetryPolicy, RunId,
    RunNotice, RunScope, RunTags, StepId, ToolCall, ToolEffects, TraceContext,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::wire::stated::{ResultOf, StatedBlock, StatedMessage};

/// The name of the activity that calls the model.
pub(crate) const MODEL: &str = "model";
/// The name of the local activity that calls the model beside the run.
pub(crate) const MODEL_BESIDE: &str = "model_beside";
/// The name of the activity that adds a part of a conversation and calls nothing.
pub(crate) const PART: &str = "part";
/// The name of the activity for all steps that call no model.
pub(crate) const PERFORM: &str = "perform";
/// The name of the activity with which older builds called a tool.
pub(crate) const TOOL: &str = "tool";
/// The name of the activity that notifies the hooks of how the run ended.
pub(crate) const OBSERVE: &str = "observe";

/// The name of the activity that ends in a worker that has what a step needs.
pub(crate) const SEEK: &str = "find_worker";

/// How a step's attempts are made, as far as the activity has to know it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Terms {
    /// The run's agent, which decides the executor.
    pub(crate) agent: String,
    pub(crate) step: StepId,
    /// The agent that the step belongs to, if it is not the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) step_agent: Option<String>,
    /// A number that no other run has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) nonce: Option<Uuid>,
    /// The distributed trace that the run is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<TraceContext>,
    /// The tags of the run.
    #[serde(flatten)]
    pub(crate) tags: RunTags,
    /// The run at the top of the tree, if it is another run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) root: Option<RunId>,
    /// What the caller that started the run allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) allow: Vec<String>,
    /// The bounds of the run, as far as they are about the tool of the step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) bounds: Vec<Bounds>,
    /// The guards that check the result of the step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) guards: Vec<String>,
    /// The digests of the skills of the run's definition, if it reads one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) skills: BTreeMap<String, String>,
    /// The priority of the step's requests.
    #[serde(default, skip_serializing_if = "Priority::is_default")]
    pub(crate) priority: Priority,
    pub(crate) effects: ToolEffects,
    pub(crate) timeout_ms: u64,
    /// The most attempts that count. The server counts other attempts, so it sets no limit. Without this limit, that of
    /// the activity counts, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) attempts: Option<u32>,
    /// How long a step that fails is retried.
    #[serde(default = "a_day", skip_serializing_if = "is_a_day")]
    pub(crate) give_up_after_ms: u64,
    /// What is put aside for the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) held: Option<Held>,
    /// The results of the attempts that were made beside the run before.
    #[serde(default, skip_serializing_if = "StepLife::is_new")]
    pub(crate) life: StepLife,
    /// The events that the executor's hooks are notified of before the step.
    #[serde(rename = "tell", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) events: Vec<RunNotice>,
}

impl Terms {
    pub(crate) fn new(agent: &str, options: &ActivityOptions, events: Vec<RunNotice>) -> Self {
        let timeout = options.start_to_close_timeout.as_millis();
        let policy = &options.retry_policy;
        let is_write = options.effects == ToolEffects::Write;
        let longest = policy.give_up_after.unwrap_or(Duration::MAX).as_millis();
        Self {
            agent: agent.to_owned(),
            step: options.step,
            step_agent: options.agent.clone(),
            nonce: options.nonce,
            trace: options.trace.clone(),
            tags: options.tags.clone(),
            root: options.root.clone(),
            allow: options.allow.clone(),
            bounds: options.bounds.clone(),
            guards: options.guards.clone(),
            skills: options.skills.clone(),
            priority: options.priority,
            effects: options.effects,
            timeout_ms: u64::try_from(timeout).unwrap_or(u64::MAX),
            attempts: Some(policy.maximum_attempts).filter(|most| *most > 0 && !is_write),
            give_up_after_ms: u64::try_from(longest).unwrap_or(u64::MAX),
            held: options.held,
            life: StepLife::default(),
            events,
        }
    }

    /// Returns the same step after attempts beside the run, which notified the hooks.
    pub(crate) fn made_beside(self, life: StepLife) -> Self {
        Self {
            life,
            events: Vec::new(),
            ..self
        }
    }

    /// Returns the terms that decide what follows an attempt, with this policy.
    pub(crate) const fn of_step<'a>(
        &self,
        run_id: &'a RunId,
        policy: &'a RetryPolicy,
    ) -> StepTerms<'a> {
        StepTerms {
            run_id,
            nonce: self.nonce,
            step: self.step,
            effects: self.effects,
            policy,
            held: self.held,
        }
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    pub(crate) fn give_up_after(&self) -> Duration {
        Duration::from_millis(self.give_up_after_ms)
    }
}

const fn a_day() -> u64 {
    24 * 60 * 60 * 1_000
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_a_day(millis: &u64) -> bool {
    *millis == a_day()
}

/// One model call: what is new in its request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ModelStep {
    #[serde(flatten)]
    pub(crate) terms: Terms,
    #[serde(flatten)]
    pub(crate) delta: Delta,
}

/// How a request differs from the run's model calls before it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Delta {
    /// How many messages of the conversation so far stay: those of the request before, and its answer.
    pub(crate) keep: usize,
    /// What is added to the last message that stays, if that message is sent in chunks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) more: Option<More>,
    /// The messages after them.
    pub(crate) messages: Vec<StatedMessage>,
    /// The request's head, if it differs from that of the call before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) head: Option<Box<RequestHead>>,
    /// Whether the request is not part of the conversation, which continues without it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) aside: bool,
    /// The checksum of the whole request as the stating build writes it, for builds that know no `sum`.
    pub(crate) checksum: String,
    /// The checksum of the content of the whole request, however a build writes it. An older build stated none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sum: Option<String>,
}

/// A further part of a message.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct More {
    /// How many blocks the message has without this part.
    pub(crate) after: usize,
    pub(crate) blocks: Vec<StatedBlock>,
}

impl Delta {
    /// Returns the results that the delta names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &ResultOf> {
        let more = self.more.iter().flat_map(|more| &more.blocks);
        let more = more.filter_map(StatedBlock::name);
        more.chain(self.messages.iter().flat_map(StatedMessage::names))
    }
}

/// One step that calls no model.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct EffectStep {
    #[serde(flatten)]
    pub(crate) terms: Terms,
    pub(crate) effect: Effect,
    /// The size from which on the next model call may name a tool's result;
    /// [`NAMED`](crate::conversation::known_results::NAMED) if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) named_from: Option<usize>,
}

/// One tool call, as older builds stated it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ToolStep {
    #[serde(flatten)]
    pub(crate) terms: Terms,
    pub(crate) call: ToolCall,
}

/// What a worker must have to make a step.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Need {
    /// The run's agent.
    pub(crate) agent: String,
    /// The agent that the step belongs to, if it is not the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) step_agent: Option<String>,
    /// The tool that the step calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<String>,
    /// The model's provider, if the request names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) provider: Option<String>,
    /// The agent whose definition the step looks up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) definition: Option<String>,
    /// Whether the step needs none of these.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) executor: bool,
}

impl Need {
    /// Returns what a step with these options needs, in a run of this agent.
    pub(crate) fn new(agent: &str, options: &ActivityOptions, needed: Needed<'_>) -> Self {
        let mut need = Self {
            agent: agent.to_owned(),
            step_agent: options.agent.clone(),
            tool: None,
            provider: None,
            definition: None,
            executor: false,
        };
        match needed {
            Needed::Tool(name) => need.tool = Some(name.to_owned()),
            Needed::Provider(name) => need.provider = name.map(ToOwned::to_owned),
            Needed::Agent(name) => need.definition = Some(name.to_owned()),
            Needed::Executor => need.executor = true,
        }
        need
    }

    /// Returns the need without the run's agent.
    pub(crate) fn of_step(&self) -> Needed<'_> {
        match (&self.tool, &self.definition) {
            (Some(tool), _) => Needed::Tool(tool),
            (None, Some(agent)) => Needed::Agent(agent),
            (None, None) if self.executor => Needed::Executor,
            (None, None) => Needed::Provider(self.provider.as_deref()),
        }
    }
}

/// Which step an activity makes.
#[derive(Debug, Deserialize)]
pub(crate) struct StepOf {
    pub(crate) step: StepId,
}

/// The events that the executor's hooks are notified of when the run is over.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ending {
    pub(crate) agent: String,
    /// The run; its id alone in histories that were recorded before there was more.
    #[serde(default)]
    pub(crate) run: Option<RunScope>,
    #[serde(rename = "tell")]
    pub(crate) events: Vec<RunNotice>,
}

#[cfg(test)]
mod tests {
    use neuron_types::AgentSpec;
    use serde_json::to_value;

    use super::*;

    #[test]
    fn an_activity_is_told_what_its_run_is_held_to_and_nothing_where_it_is_held_to_nothing() {
        let call = ToolCall::default();
        let mut options = AgentSpec::default().tool_options(&call, StepId::new(1, 1));
        let written = to_value(Terms::new("a", &options, Vec::new())).unwrap();
        assert!(written.get("bounds").is_none());
        options.bounds = vec![Bounds::default()];
        let terms = Terms::new("a", &options, Vec::new());
        let written = to_value(&terms).unwrap();
        let read: Terms = serde_json::from_value(written).unwrap();
        assert_eq!(read.bounds, options.bounds);
    }
}
