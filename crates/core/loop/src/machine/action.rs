//! What the machine asks for and what it observes.

use chrono::{DateTime, Utc};
use neuron_types::{
    ChildEnd, Decision, LeaseGrant, LeaseRequest, Message, Outcome, PermissionDecision, RunId,
    Spent, Step, StepFailure, ToolCall, UpgradeRequest, UserMessage,
};
use serde::{Deserialize, Serialize};

/// What to do next. Each action is answered by one of the observations named with it, or by
/// [`Observation::Cancelled`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Take the queued messages without waiting for any: [`Observation::Messages`].
    TakeMessages,
    /// See whether the conversation has to shrink, and shrink it: [`Observation::ContextKept`],
    /// [`Observation::Compacted`] or [`Observation::CompactionFailed`].
    Compact {
        /// The model has rejected the conversation as too long: keeping it is no answer.
        required: bool,
    },
    /// Ask the policy about each of these calls: [`Observation::Authorized`].
    Authorize(Vec<ToolCall>),
    /// Start these steps, all before any is awaited: the call of the model, what finds the current definition of the agent, or
    /// calls of tools, what finds out whose decisions are and what calls would do, and what asks tools for outcomes.
    /// [`Observation::Started`], and then [`Observation::Ended`] for each when it ends, or [`Observation::TimeOver`]. The
    /// position of a step names it in the turn.
    Start(Vec<Step>),
    /// Wait for whatever comes first: [`Observation::Ended`] of a step that was started,
    /// [`Observation::DecisionArrived`] about an open ticket, [`Observation::MessageArrived`], or
    /// [`Observation::TicketsLapsed`] when the time is over.
    Wait {
        /// When the first of the open tickets lapses.
        until: Option<DateTime<Utc>>,
    },
    /// Give up the steps that were started: drop what can be dropped and wait for the others. Those are
    /// answered with [`Observation::Ended`], and then the whole with [`Observation::CallsLeft`].
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
            Self::Compact { .. } => "compact",
            Self::Authorize(_) => "authorize",
            Self::Start(_) => "start steps",
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
    /// A run that this one has started has ended, as it says. Fits any action.
    ChildEnded(ChildEnd),
    /// A run below asks for more of the budget, or whether this one is there. Fits any action.
    LeaseAsked(LeaseRequest),
    /// The run above answers what this one asked it. Fits any action.
    LeaseGranted(LeaseGrant),
    /// It is time to look whether other runs of the tree are there. Fits any action.
    LeaseDue,
    /// Another run could not be reached, since it is not there any more. Fits any action.
    NotTold {
        /// The other run.
        run: RunId,
    },
    /// The run is asked to adopt the current definition of its agent. Fits any action; the run adopts it before its
    /// next turn.
    UpgradeArrived(UpgradeRequest),
    /// The conversation stays as it is.
    ContextKept {
        /// The whole request's size in tokens.
        tokens: u64,
        /// The estimate, before calibration, of the messages since the newest report.
        estimated: u64,
    },
    /// The conversation was made smaller.
    Compacted {
        /// The messages that are left of the conversation.
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
    /// What the policy says, in the order of the calls.
    Authorized(Vec<PermissionDecision>),
    /// The steps of [`Action::Start`] are being started.
    Started,
    /// The result of a step that was started.
    Ended {
        /// Its position in the turn.
        position: u32,
        /// Its outcome, of its effect's kind.
        result: Result<Outcome, StepFailure>,
    },
    /// None of the calls that were started is in flight any more.
    CallsLeft,
    /// A ticket was decided. Whose decision it is has to be verified.
    DecisionArrived(Decision),
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
            Self::ChildEnded(_) => "child ended",
            Self::LeaseAsked(_) => "lease asked",
            Self::LeaseGranted(_) => "lease granted",
            Self::LeaseDue => "lease due",
            Self::NotTold { .. } => "not told",
            Self::UpgradeArrived(_) => "upgrade arrived",
            Self::ContextKept { .. } => "context kept",
            Self::Compacted { .. } => "compacted",
            Self::CompactionFailed { .. } => "compaction failed",
            Self::Authorized(_) => "authorized",
            Self::Started => "steps started",
            Self::Ended { .. } => "step ended",
            Self::CallsLeft => "calls left",
            Self::DecisionArrived(_) => "decision arrived",
            Self::TicketsLapsed => "tickets lapsed",
            Self::TimeOver { .. } => "time over",
            Self::OutOfHistory(_) => "out of history",
            Self::Cancelled { .. } => "cancelled",
        }
    }
}

/// The machine was fed an observation that does not fit. The machine is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// The observation does not answer the machine's next action.
    #[error("the machine's next action is to {action}, and it was told \"{observation}\"")]
    Unexpected {
        /// What it wants done.
        action: &'static str,
        /// The observation.
        observation: &'static str,
    },
    /// The observation is the end of a step that is not in flight.
    #[error("no step in flight has position {position}")]
    UnknownStep {
        /// The position that it names.
        position: u32,
    },
    /// The observation is the end of a step of another kind.
    #[error("the step in flight at position {position} comes to no outcome of kind {kind}")]
    OtherKind {
        /// The position that it names.
        position: u32,
        /// The outcome's kind.
        kind: &'static str,
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
