//! An agent with tiny steps: its prompt contains the number of its turns.

use std::time::Duration;

use neuron_executor::Executor;
use neuron_tool::ToolRegistry;
use neuron_types::{
    self as types, ActivitySettings, AgentSpec, CompletionRequest, CompletionResponse,
    ContentBlock, FailureKind, Message, Provider, ProviderError, RunInput, StopReason, SubAgent,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::model::{agent, answer, tools};

/// The answer of either side's tool.
pub(crate) const ANSWER: &str = "0123456789abcdef";

/// Where the steps are executed, on an engine that has a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Placement {
    /// Where neuron executes them by default: the tool in the worker that has the run.
    Default,
    /// All in the worker that has the run.
    Local,
    /// All by any worker.
    Activity,
}

impl Placement {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Local => "local",
            Self::Activity => "activity",
        }
    }

    /// Returns whether the model is called in the worker that has the run.
    pub(crate) const fn is_model_local(self) -> bool {
        matches!(self, Self::Local)
    }

    /// Returns whether the tool is called in the worker that has the run.
    pub(crate) const fn is_tool_local(self) -> bool {
        matches!(self, Self::Default | Self::Local)
    }
}

/// The agent that the agent of a [tree] starts.
const CHILD: &str = "child";

/// A model that asks for one tool call a turn, for as many turns as the prompt says; or, at `50 runs of 5`, for 50 runs
/// of 5 turns in its first turn.
struct Obedient;

impl Provider for Obedient {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let prompt = request.messages.first().map(Message::text);
        if let Some((runs, turns)) = prompt.as_ref().and_then(|it| it.split_once(OF)) {
            let is_first = request.messages.len() == 1;
            let runs = runs.parse().ok().filter(|_| is_first).unwrap_or(0);
            return Ok(starts(runs, turns));
        }
        let turns = prompt.and_then(|prompt| prompt.parse::<u32>().ok());
        let turns = turns.ok_or_else(|| {
            ProviderError::new(FailureKind::InvalidRequest, "the prompt is no number")
        })?;
        // Each turn before this one left an answer and a result.
        let turn = u32::try_from(request.messages.len().div_ceil(2)).unwrap_or(turns);
        Ok(answer(turn, turns))
    }
}

/// The text between the number of runs and the number of their turns.
const OF: &str = " runs of ";

/// Asks for this many runs, or answers that everything is done.
fn starts(runs: u32, turns: &str) -> CompletionResponse {
    let mut said = answer(1, 1);
    if runs > 0 {
        let tool = SubAgent::new(CHILD).tool_name();
        let calls = (0..runs).map(|run| {
            ContentBlock::tool_use(format!("run-{run}"), &tool, json!({"prompt": turns}))
        });
        said.message.content = calls.collect();
        said.stop_reason = StopReason::ToolUse;
    }
    said
}

fn tiny() -> ToolRegistry {
    tools(ANSWER.to_owned())
}

pub(crate) fn executor() -> Executor {
    let executor = Executor::builder().provider("bench", Obedient);
    let child = AgentSpec {
        name: CHILD.to_owned(),
        ..input(1, Placement::Activity).agent
    };
    let executor = executor.tools(tiny()).build();
    executor.with_definitions([child])
}

/// Returns the input of a run that starts this many runs of this many turns, whose steps are all activities.
pub(crate) fn tree(runs: u32, turns: u32) -> RunInput {
    let mut input = input(turns, Placement::Activity);
    input.prompt = Message::user(format!("{runs}{OF}{turns}"));
    let agent = &mut input.agent;
    agent.calls_per_turn = None;
    agent.max_children = runs;
    agent.subagents = vec![SubAgent::new(CHILD)];
    let starter = SubAgent::new(CHILD).definition();
    agent.head_mut().tools.push(starter);
    input
}

/// Returns the input of a run of this many turns.
pub(crate) fn input(turns: u32, placement: Placement) -> RunInput {
    let agent = AgentSpec {
        // The timeout of a tool that reads: a call that may take longer is not made as a local activity.
        tool_timeout: Duration::from_secs(5),
        activity: ActivitySettings {
            placement: match placement {
                Placement::Default => None,
                Placement::Local => Some(types::Placement::Local),
                Placement::Activity => Some(types::Placement::Activity),
            },
            ..ActivitySettings::default()
        },
        ..agent(&tiny())
    };
    RunInput::new(agent, Message::user(turns.to_string()))
}
