//! What the machine asks for and what it is told.

use chrono::{DateTime, Utc};
use neuron_types::{
    ActivityOptions, CompletionResponse, CurrentDefinition, Decision, Message, PermissionDecision,
    Preview, Spent, Step, StepFailure, ToolCall, ToolOutput, UpgradeRequest, UserMessage,
    VerifyOutcome,
};
use serde::{Deserialize, Serialize};

/// What to do next. Each action is answered by one of the observations named with it, or by
/// [`Observation::Cancelled`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Take the queued messages without waiting for any: [`Observation::Messages`].
    TakeMessages,
    /// Make this step, which finds the current definition of the agent: [`Observation::DefinitionFound`] or
    /// [`Observation::TimeOver`]. Messages may be fed meanwhile.
    FindDefinition(Box<Step>),
    /// See whether the conversation has to shrink, and shrink it: [`Observation::ContextKept`],
    /// [`Observation::Compacted`] or [`Observation::CompactionFailed`].
    Compact {
        /// The model has refused the conversation as too long: keeping it is no answer.
        required: bool,
    },
    /// Call the model with [`AgentMachine::request`](crate::AgentMachine::request):
    /// [`Observation::ModelAnswered`], [`Observation::ModelFailed`] or [`Observation::TimeOver`]. Messages may be fed meanwhile.
    CallModel(ActivityOptions),
    /// Ask the policy about each of these calls: [`Observation::Authorized`].
    Authorize(Vec<ToolCall>),
    /// Start these calls of tools, all before any is awaited: [`Observation::CallsStarted`], and then
    /// [`Observation::ToolAnswered`] for each when it ends. The position of a step names the call in the turn.
    CallTools(Vec<Step>),
    /// Start these steps, which find out whose decisions they are: [`Observation::VerificationsStarted`], and then
    /// [`Observation::Decided`] for each when it ends.
    Verify(Vec<Step>),
    /// Start these steps, which find out what calls would do that a person is asked about:
    /// [`Observation::PreviewsStarted`], and then [`Observation::Previewed`] for each when it ends.
    Preview(Vec<Step>),
    /// Start these steps, which ask tools what became of calls whose outcome is unknown:
    /// [`Observation::InquiriesStarted`], and then [`Observation::Inquired`] for each when it ends.
    Inquire(Vec<Step>),
    /// Wait for whatever comes first: [`Observation::ToolAnswered`] of a call that was started, [`Observation::Decided`]
    /// of a verification that was, [`Observation::Previewed`] of a preview that was, [`Observation::Inquired`] of an
    /// outcome that was asked for, [`Observation::DecisionArrived`] about an open ticket,
    /// [`Observation::MessageArrived`], or [`Observation::TicketsLapsed`] when the time is over.
    Wait {
        /// When the first of the open tickets lapses.
        until: Option<DateTime<Utc>>,
    },
    /// Give up the calls that were started: drop what can be dropped and wait for the others. Those are
    /// answered with [`Observation::ToolAnswered`], and then the whole with [`Observation::CallsLeft`].
    LeaveCalls,
    /// Nothing: the run is over.
    Done,
}

impl Action {
    /// The action's name, for error messages.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::TakeMessages => "take messages",
            Self::FindDefinition(_) => "find definition",
            Self::Compact { .. } => "compact",
            Self::CallModel(_) => "call model",
            Self::Authorize(_) => "authorize",
            Self::CallTools(_) => "call tools",
            Self::Verify(_) => "verify decisions",
            Self::Preview(_) => "preview calls",
            Self::Inquire(_) => "ask for outcomes",
            Self::Wait { .. } => "wait",
            Self::LeaveCalls => "leave calls",
            Self::Done => "done",
        }
    }
}

/// A conversation that was made smaller is not small enough.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortfall {
    /// Why, and what to change.
    pub reason: String,
    /// The whole request's size in tokens.
    pub tokens: u64,
}

/// What came of an [`Action`].
///
/// A run is what its observations make of its input: those that no engine journals follow from the state and the
/// definition alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Observation {
    /// The queued messages, in the order of their arrival; often none.
    Messages(Vec<UserMessage>),
    /// A message arrived while something else is under way. Fits any action; the model reads it before its
    /// next call.
    MessageArrived(UserMessage),
    /// Somebody wishes that the run adopts the current definition of its agent. Fits any action; it does so before its
    /// next turn.
    UpgradeArrived(UpgradeRequest),
    /// The current definition of the agent was looked for.
    DefinitionFound(Result<CurrentDefinition, StepFailure>),
    /// The conversation stays as it is.
    ContextKept {
        /// The whole request's size in tokens.
        tokens: u64,
        /// The estimate, before calibration, of the messages since the newest report.
        estimated: u64,
    },
    /// The conversation was made smaller.
    Compacted {
        /// What is left of it.
        messages: Vec<Message>,
        /// Its size in tokens before.
        old_tokens: u64,
        /// Its size in tokens now.
        new_tokens: u64,
        /// Why it is not under the threshold, if it is not.
        shortfall: Option<Shortfall>,
        /// What the strategy's own model calls used and cost.
        spent: Spent,
    },
    /// The conversation could not be made smaller.
    CompactionFailed {
        /// Why.
        reason: String,
        /// The whole request's size in tokens.
        tokens: u64,
        /// The estimate, before calibration, of the messages since the newest report.
        estimated: u64,
        /// What the strategy's own model calls used and cost.
        spent: Spent,
    },
    /// The model answered.
    ModelAnswered(CompletionResponse),
    /// The model call failed for good.
    ModelFailed(StepFailure),
    /// What the policy says, in the order of the calls.
    Authorized(Vec<PermissionDecision>),
    /// The calls of [`Action::CallTools`] are being started.
    CallsStarted,
    /// What a call came to that was started.
    ToolAnswered {
        /// Its position in the turn, counted from 1.
        position: u32,
        /// Its result.
        result: Result<ToolOutput, StepFailure>,
    },
    /// None of the calls that were started is in flight any more.
    CallsLeft,
    /// Somebody decided about a ticket. Whose decision it is has to be found out.
    DecisionArrived(Decision),
    /// The steps of [`Action::Verify`] are being started.
    VerificationsStarted,
    /// It is known whose a decision is that was verified.
    Decided {
        /// The position in the turn of the step that verified it.
        position: u32,
        /// Whose it is, or why it is not taken.
        verification: VerifyOutcome,
    },
    /// The steps of [`Action::Preview`] are being started.
    PreviewsStarted,
    /// It is known what a call would do.
    Previewed {
        /// The position in the turn of the step that found it out.
        position: u32,
        /// What it would do; `None` if there is nothing to say beyond the arguments.
        preview: Option<Preview>,
    },
    /// The steps of [`Action::Inquire`] are being started.
    InquiriesStarted,
    /// A tool was asked what became of a call whose outcome is unknown.
    Inquired {
        /// The position in the turn of the step that asked it.
        position: u32,
        /// What became of it; `None` if the tool does not know it either. After a failure it is unknown, unless the
        /// failure is that somebody ends the run.
        result: Result<Option<ToolOutput>, StepFailure>,
    },
    /// The time of the first open ticket is over.
    TicketsLapsed,
    /// The run's [time](crate::AgentMachine::clock) is over. Fits any action while there is such a time. A model call or a
    /// review of the conversation that was under way was given up; calls that were started are given up next.
    TimeOver {
        /// What the model calls of the review used and cost.
        spent: Spent,
    },
    /// The engine takes no more history and cannot carry the run over. Fits any action.
    OutOfHistory(StepFailure),
    /// The run was cancelled, and nothing is in flight any more. Fits any action.
    Cancelled {
        /// What the person who did it said.
        reason: Option<String>,
    },
}

impl Observation {
    /// The observation's name, for error messages.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Messages(_) => "messages",
            Self::MessageArrived(_) => "message arrived",
            Self::UpgradeArrived(_) => "upgrade arrived",
            Self::DefinitionFound(_) => "definition found",
            Self::ContextKept { .. } => "context kept",
            Self::Compacted { .. } => "compacted",
            Self::CompactionFailed { .. } => "compaction failed",
            Self::ModelAnswered(_) => "model answered",
            Self::ModelFailed(_) => "model failed",
            Self::Authorized(_) => "authorized",
            Self::CallsStarted => "calls started",
            Self::ToolAnswered { .. } => "tool answered",
            Self::CallsLeft => "calls left",
            Self::DecisionArrived(_) => "decision arrived",
            Self::VerificationsStarted => "verifications started",
            Self::Decided { .. } => "decided",
            Self::PreviewsStarted => "previews started",
            Self::Previewed { .. } => "previewed",
            Self::InquiriesStarted => "questions for outcomes started",
            Self::Inquired { .. } => "outcome asked for",
            Self::TicketsLapsed => "tickets lapsed",
            Self::TimeOver { .. } => "time over",
            Self::OutOfHistory(_) => "out of history",
            Self::Cancelled { .. } => "cancelled",
        }
    }
}

/// The machine was told something that does not fit. It is as it was before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// The observation does not answer the machine's next action.
    #[error("the machine's next action is to {action}, and it was told \"{observation}\"")]
    Unexpected {
        /// What it wants done.
        action: &'static str,
        /// What it was told.
        observation: &'static str,
    },
    /// The observation answers a call that is not in flight.
    #[error("no call in flight has position {position}")]
    UnknownCall {
        /// The position that it names.
        position: u32,
    },
    /// The observation answers more or fewer calls than there are.
    #[error("{given} answers for {wanted} calls")]
    WrongCount {
        /// How many calls there are.
        wanted: usize,
        /// How many answers came.
        given: usize,
    },
}
