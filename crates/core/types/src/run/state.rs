//! A run's whole state between two steps: what the machine in `neuron-loop` works on.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::{
    AgentOrigin, AgentSpec, Asking, Budget, CompletionRequest, CompletionResponse, Conversation,
    ExitReason, Halt, HandedOver, Handover, Held, LimitOverrides, Lineage, LoadedTools, Milestone,
    OpenTicket, RepeatedCalls, RequestHead, RunError, RunEvent, RunId, RunTags, StateVersion,
    TokenCalibration, TokenUsage, ToolCall, ToolOutput, ToolResultBlock, Tree, UpgradeRequest,
    UserMessage,
};

/// Everything that a run is, between two steps: it can stop here and continue in another process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    /// The version of this form.
    pub version: StateVersion,
    /// The agent, as the run was started with it, or has [adopted](crate::RunEvent::Upgraded) it since.
    pub agent: AgentSpec,
    /// The conversation so far.
    pub conversation: Conversation,
    /// Whose the run is.
    #[serde(default, skip_serializing_if = "RunTags::is_empty")]
    pub tags: RunTags,
    /// The run's id, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The directory that it works in, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The [fingerprint](AgentSpec::fingerprint) of the definition that it was started with, or has adopted since.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub definition: String,
    /// How it came to the definition, where it named the agent. Runs that an older build began do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<AgentOrigin>,
    /// The limits that people raised, as they are since.
    #[serde(default, skip_serializing_if = "LimitOverrides::is_empty")]
    pub raised: LimitOverrides,
    /// The run is asked to adopt the current definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upgrade: Option<UpgradeRequest>,
    /// The run is to continue as another agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handover: Option<Handover>,
    /// It was handed over to another agent since it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed: Option<Box<HandedOver>>,
    /// Which run it is, and how it is bound to others.
    #[serde(default)]
    pub lineage: Lineage,
    /// The runs above and below it.
    #[serde(default, skip_serializing_if = "Tree::is_alone")]
    pub tree: Tree,
    /// What it has put aside of its budget.
    #[serde(default, skip_serializing_if = "Budget::is_new")]
    pub budget: Budget,
    /// How many observations led here, which is the number of the last.
    #[serde(default)]
    pub observations: u64,
    /// The [scope](crate::StepId::scope) of its steps and tickets.
    #[serde(default, skip_serializing_if = "is_own")]
    pub scope: u16,
    /// What comes next.
    pub stage: Stage,
    /// How many messages at the end of the conversation no guard has looked at.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unguarded: u32,
    /// The calls that it made last, while its agent has it [watched](AgentSpec::max_repeats) for repeats.
    #[serde(default, skip_serializing_if = "RepeatedCalls::is_empty")]
    pub repeated: RepeatedCalls,
    /// The tools that it has loaded, where its agents have [too many](crate::ToolSearch) to send all.
    #[serde(default, skip_serializing_if = "LoadedTools::is_empty")]
    pub loaded: LoadedTools,
    /// Why it goes no further after this turn by itself: it repeats itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looped: Option<String>,
    /// Model calls so far.
    pub turn: u32,
    /// Tool calls made so far.
    pub tool_calls: u32,
    /// The calls of this turn, in the order in which the model asked for them.
    pub calls: Vec<PendingCall>,
    /// The open tickets, in the order in which they were opened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tickets: Vec<OpenTicket>,
    /// Decisions that came as [raw signals](crate::Signal::raw) and are about no open ticket, or could not be read.
    #[serde(default, skip_serializing_if = "RawSignals::is_new")]
    pub stray: RawSignals,
    /// How many [calls of its own](crate::StepId::OWN_CALLS) the loop has made.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub own_calls: u32,
    /// The position in the turn of the step in flight that the run as a whole waits for: its model call, or what finds the
    /// current definition of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<u32>,
    /// Tokens of all model calls.
    pub usage: TokenUsage,
    /// Cost of all model calls; `None` as soon as one of them is not known.
    pub cost_usd: Option<Decimal>,
    /// How large the conversation is, and what was done about it.
    #[serde(default, skip_serializing_if = "ContextRecord::is_new")]
    pub context: ContextRecord,
    /// When the run started.
    pub started_at: DateTime<Utc>,
    /// Since when nothing but people is waited for.
    pub waiting_since: Option<DateTime<Utc>>,
    /// Time spent waiting for people, in milliseconds.
    pub waited_ms: u64,
    /// The model's last text.
    pub last_text: Option<String>,
    /// A limit that was met inside the turn and ends the run after it.
    pub limit: Option<ExitReason>,
    /// Answers in a row that were not of the form that was asked for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub mismatches: u32,
    /// What a server rejected in unknown words, where the conversation may be too long: it is made smaller once before
    /// this counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<RunError>,
    /// What was reported as [left out](crate::RunEvent::LeftOut) so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Messages that arrived and that the model has not read yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queued: Vec<UserMessage>,
    /// What the run ends with as soon as no call is in flight any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<RunError>,
    /// The time limit that was reached while calls are in flight, which are being left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overdue: Option<ExitReason>,
    /// Why it goes no further until a person decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halt: Option<Halt>,
    /// How often it has gone no further until a person decided.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub halts: u32,
    /// Turns that came to nothing and were made again: no limit counts them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub turns_again: u32,
    /// What is still to be emitted.
    pub outbox: Vec<RunEvent>,
}

impl RunState {
    /// The next model call: the agent's head and the conversation so far. Two pointer copies, unless the agent has too many
    /// tools to [send all](Self::head).
    #[must_use]
    pub fn request(&self) -> CompletionRequest {
        CompletionRequest::new(self.head(), self.conversation.clone())
    }

    /// The head of the next model call: the agent's own, or one with the tools that are [sent](AgentSpec::sent_head).
    #[must_use]
    pub fn head(&self) -> Arc<RequestHead> {
        self.agent.sent_head(self.loaded.of(&self.agent.name))
    }

    /// Returns how far the run has come. A model call that is about to be made is no turn that is over.
    #[must_use]
    pub fn milestone(&self) -> Milestone {
        let ahead = u32::from(matches!(self.stage, Stage::CallModel));
        Milestone {
            turns: self.turn.saturating_sub(ahead),
            tool_calls: self.tool_calls,
            tokens: self.context.tokens,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_own(scope: &u16) -> bool {
    *scope == 0
}

/// How many raw signals were looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RawSignals {
    /// How many.
    pub looked_at: u32,
    /// When it was last reported that one more of them was dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped_at: Option<DateTime<Utc>>,
}

impl RawSignals {
    /// Returns whether no such signal came yet.
    fn is_new(&self) -> bool {
        *self == Self::default()
    }
}

/// What a run knows of its conversation's size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContextRecord {
    /// The size of the next request in tokens: as reported, and estimated from there on.
    pub tokens: u64,
    /// How many leading messages `tokens` covers.
    pub counted_messages: usize,
    /// What the model itself said last of the size of the conversation.
    #[serde(skip_serializing_if = "Reported::is_nothing")]
    pub reported: Reported,
    /// The part of `tokens` that is estimated, as it was before calibration.
    pub estimated: u64,
    /// How many of the tools that were loaded last `tokens` does not cover.
    #[serde(skip_serializing_if = "is_zero")]
    pub uncounted_tools: u32,
    /// How the model counts beside the estimate.
    pub calibration: TokenCalibration,
    /// The size in tokens below which the conversation is not compacted: an attempt failed, and another is
    /// worth its cost only when there is more to save.
    pub compact_from: u64,
    /// The model rejected the conversation as too long since the last answer.
    pub overflowed: bool,
    /// Answers in a row that asked to be continued.
    pub continuations: u32,
    /// How far the run was when reminders were last looked at.
    pub reminded: Milestone,
}

/// How large a conversation is as its model said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reported {
    /// The tokens of the request and its answer, instructions and tools included.
    pub tokens: u64,
    /// How many leading messages they are of.
    pub messages: usize,
    /// How many tools were loaded since.
    #[serde(skip_serializing_if = "is_zero")]
    pub tools_since: u32,
}

impl Reported {
    /// The model has said nothing, or not since the conversation was made smaller.
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl ContextRecord {
    /// Nothing is known yet.
    fn is_new(&self) -> bool {
        *self == Self::default()
    }
}

/// What comes next in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stage {
    /// Take queued messages; with none, end the run if `closing`.
    TakeInput {
        /// The model was done.
        closing: bool,
    },
    /// Have guards look at the newest messages.
    GuardInput,
    /// See whether the conversation has to shrink.
    ReviewContext,
    /// Call the model.
    CallModel,
    /// Have judges look at the model's answer.
    GuardAnswer(Box<JudgedAnswer>),
    /// Ask the policy about the calls.
    JudgeCalls,
    /// Make, ask about and collect the calls.
    Tools,
    /// Adopt the current definition of the agent, or that of the agent that the run is handed over to.
    Upgrade,
    /// Nothing: the run is over.
    Ended(RunOutcome),
}

/// One tool call of the current turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PendingCall {
    /// The call, with the arguments that a person put in, if any.
    pub call: ToolCall,
    /// Its position in the turn, counted from 1.
    pub position: u32,
    /// A person changed its arguments.
    pub edited: bool,
    /// Guards or hooks changed its arguments.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaced: bool,
    /// Guards have a person asked about it, whatever the policy says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<Asking>,
    /// How many tickets were opened for it.
    pub tickets: u32,
    /// How often it asked a [form](crate::Pending::Form).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rounds: u32,
    /// Where it stands.
    pub state: CallState,
    /// The position in the turn of the step in flight that is made for it: its own, or that of a
    /// [call of the loop's own](crate::StepId::OWN_CALLS).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<u32>,
    /// What is put aside for the models of judges that are asked about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Held>,
}

/// Where a tool call stands. A step is in flight for one that is guarding, running, previewing,
/// inquiring or screening, and for no other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// Guards and hooks are to be asked first.
    Unguarded,
    /// Guards and hooks are being asked.
    Guarding,
    /// The policy has not been asked.
    Unjudged,
    /// To be made.
    Ready,
    /// In flight.
    Running,
    /// The call has started a run of another agent, which continues.
    Delegated,
    /// What it would do is to be found out, for the person who is asked so about it next.
    Unseen(Asking),
    /// What it would do is being found out.
    Previewing(Asking),
    /// A [ticket](RunState::tickets) about it is open.
    Asked,
    /// It was made, and its tool is to be asked what became of it. The model reads this if the tool does not know either.
    Unknown(String),
    /// Its tool is being asked what became of it.
    Inquiring(String),
    /// It was made, and judges are to look at its result.
    Returned(Box<ReturnedResult>),
    /// Judges are being asked about its result.
    Screening(Box<ReturnedResult>),
    /// Answered.
    Done(ToolResultBlock),
}

/// A result that the model does not read before judges have looked at it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReturnedResult {
    /// The result, as the other guards left it.
    pub output: ToolOutput,
    /// Whether the tool named it when it was asked what became of the call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inquired: bool,
}

/// An answer that the run does not take before judges have looked at it. Its tokens are counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedAnswer {
    /// The answer, as the other guards left it.
    pub response: CompletionResponse,
    /// How many tokens it could have, if that was less than its model may be asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lowered: Option<u64>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOutcome {
    /// Why.
    pub exit_reason: ExitReason,
    /// What it failed with.
    pub error: Option<RunError>,
}
