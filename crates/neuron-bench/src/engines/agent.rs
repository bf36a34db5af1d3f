//! An agent whose steps are tiny: its prompt says how many turns it takes.

use std::time::Duration;

use neuron_runtime::Executor;
use neuron_tool::ToolRegistry;
use neuron_types::{
    AgentSpec, CompletionRequest, CompletionResponse, FailureKind, Message, Provider,
    ProviderError, RunInput,
};

use crate::model::{agent, answer, tools};

/// What each step of either side answers with.
pub(crate) const ANSWER: &str = "0123456789abcdef";

/// Where the tool is called, on an engine that has a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    Local,
    Activity,
}

impl Placement {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Activity => "activity",
        }
    }
}

/// Asks for one tool call a turn, as many turns as the prompt says.
struct Obedient;

impl Provider for Obedient {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let prompt = request.messages.first().map(Message::text);
        let turns = prompt.and_then(|prompt| prompt.parse::<u32>().ok());
        let turns = turns.ok_or_else(|| {
            ProviderError::new(FailureKind::InvalidRequest, "the prompt is no number")
        })?;
        // Each turn before this one left an answer and a result.
        let turn = u32::try_from(request.messages.len().div_ceil(2)).unwrap_or(turns);
        Ok(answer(turn, turns))
    }
}

fn tiny() -> ToolRegistry {
    tools(ANSWER.to_owned())
}

pub(crate) fn executor() -> Executor {
    let executor = Executor::builder().provider("bench", Obedient);
    executor.tools(tiny()).build()
}

/// What a run of so many turns is started with.
pub(crate) fn input(turns: u32, placement: Placement) -> RunInput {
    let tool_timeout = match placement {
        Placement::Local => Duration::from_secs(5),
        // A tool that may take longer is no local activity.
        Placement::Activity => Duration::from_secs(60),
    };
    let agent = AgentSpec {
        tool_timeout,
        ..agent(&tiny())
    };
    RunInput {
        agent,
        prompt: Message::user(turns.to_string()),
    }
}
