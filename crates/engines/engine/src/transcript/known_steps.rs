//! The results of a run's steps.

use std::collections::{BTreeMap, BTreeSet};

use neuron_types::{
    CallState, CompletionResponse, ContentBlock, Conversation, Outcome, PendingCall, RunState,
    StepFailure, StepId, ToolOutput, ToolResultBlock,
};
use serde::Deserialize;

/// The results of a run's steps, as far as its engine has them: the part of what was said and done that the run's events
/// do not have.
///
/// Turns are counted through the whole run, so a turn and a position in it identify a step, whichever of the agents that
/// take turns made it.
#[derive(Debug, Default)]
pub struct KnownSteps {
    pub(super) answers: BTreeMap<u32, Vec<ContentBlock>>,
    pub(super) results: BTreeMap<(u32, u32), KnownResult>,
    /// Conversations with which segments began, each with the number of the last event before it.
    pub(super) conversations: Vec<(u64, Conversation)>,
    /// The turns that are only known from the conversation of a later segment.
    pub(super) recovered: BTreeSet<u32>,
    pub(super) missing: Vec<String>,
}

/// The state with which a segment begins, as far as a transcript needs it: a part of a [`RunState`], in JSON too.
#[derive(Debug, Clone, Deserialize)]
pub struct SegmentBegin {
    /// The newest turn.
    pub turn: u32,
    /// The calls of that turn, if the segment began in the middle of it.
    pub calls: Vec<PendingCall>,
    /// The conversation.
    pub conversation: Conversation,
}

impl From<RunState> for SegmentBegin {
    fn from(state: RunState) -> Self {
        Self {
            turn: state.turn,
            calls: state.calls,
            conversation: state.conversation,
        }
    }
}

/// The result of a tool call as the model read it.
#[derive(Debug)]
pub(super) enum KnownResult {
    /// The step's own result.
    Step(Result<ToolOutput, StepFailure>),
    /// The result as it stands in the conversation.
    Read(ToolResultBlock),
}

impl KnownSteps {
    /// Records the result of a step; if several attempts have one, that of the last attempt. Only model answers and tool
    /// results are part of a transcript.
    pub fn ended(&mut self, step: StepId, result: Result<Outcome, StepFailure>) {
        match result {
            Ok(Outcome::Model(answer)) => self.model(step, &answer),
            Ok(Outcome::Tool(output)) => self.tool(step, Ok(output)),
            Err(failure) if (1..StepId::OWN_CALLS).contains(&step.position) => {
                self.tool(step, Err(failure));
            }
            Ok(_) | Err(_) => {}
        }
    }

    /// Records a model's answer. The answer to a context strategy's call is not part of the conversation.
    pub fn model(&mut self, step: StepId, answer: &CompletionResponse) {
        if step.position == 0 {
            let content = answer.message.content.clone();
            self.answers.insert(step.turn, content);
        }
    }

    /// Records the result of a tool call; if several attempts have one, that of the last attempt.
    pub fn tool(&mut self, step: StepId, result: Result<ToolOutput, StepFailure>) {
        let result = KnownResult::Step(result);
        self.results.insert((step.turn, step.position), result);
    }

    /// Records the state with which a segment began, after so many events. If the steps before it are lost, its conversation
    /// has what is left of them.
    pub fn segment(&mut self, events: u64, begin: SegmentBegin) {
        let SegmentBegin {
            turn,
            calls,
            conversation,
        } = begin;
        for slot in calls {
            if let CallState::Done(result) = slot.state {
                let result = KnownResult::Read(result);
                let place = (turn, slot.position);
                self.results.entry(place).or_insert(result);
            }
        }
        self.conversations.push((events, conversation));
    }

    /// Adds what is known of an earlier part of the run. What is already known stays.
    pub fn extend_older(&mut self, older: Self) {
        for (turn, answer) in older.answers {
            self.answers.entry(turn).or_insert(answer);
        }
        for (place, result) in older.results {
            self.results.entry(place).or_insert(result);
        }
        self.conversations.extend(older.conversations);
        self.missing.extend(older.missing);
    }

    /// Notes what the engine does not have, and why, as a part of a sentence.
    pub fn lacks(&mut self, what: impl Into<String>) {
        self.missing.push(what.into());
    }
}
