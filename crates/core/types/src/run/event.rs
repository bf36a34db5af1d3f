//! The canonical log of a run, the same on every engine.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    Amount, DecidedAt, ExitReason, FailureKind, GuardPoint, HandedConversation, RunError, RunId,
    RunPhase, RunTags, Spent, StepFailure, StopReason, Ticket, TicketKind, TokenUsage,
    TraceContext, Verdict,
};

/// Something that happened in a run. Holds nothing that differs between engines or attempts, but for what sets the run apart from
/// any other: its nonce, its directory, and the digests and times of tickets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
#[allow(
    clippy::large_enum_variant,
    reason = "few events of a run are tickets, and those are not moved often"
)]
pub enum RunEvent {
    /// The run started.
    RunStarted {
        /// The agent's name.
        agent: String,
        /// `provider/model`.
        model: String,
        /// The prompt's text.
        prompt: String,
        /// The [fingerprint](crate::AgentSpec::fingerprint) of the agent's definition.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        definition: String,
        /// Whose the run is.
        #[serde(default, skip_serializing_if = "RunTags::is_empty")]
        tags: RunTags,
        /// What no other run has, though it may have the name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        nonce: Option<Uuid>,
        /// What the run is a part of in a distributed trace, if the caller who started it named one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trace: Option<TraceContext>,
        /// The directory that the run works in, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        directory: Option<String>,
        /// Whether decisions about it have to be signed, whichever worker verifies them.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        signed: bool,
    },
    /// A workflow gave one of the agents that take turns in it something to do.
    AgentAsked {
        /// The [scope](crate::StepId::scope) of its steps.
        scope: u16,
        /// The agent's name.
        agent: String,
        /// What it is to do.
        prompt: String,
    },
    /// A turn started: the model is about to be called.
    TurnStarted {
        /// Counted from 1.
        turn: u32,
    },
    /// The model answered.
    ModelResponded {
        /// The turn.
        turn: u32,
        /// Why the answer ended.
        stop_reason: StopReason,
        /// Its text; `None` if it has none.
        text: Option<String>,
        /// What this call used.
        usage: TokenUsage,
        /// What this call cost.
        cost_usd: Option<Decimal>,
        /// The model that answered, as `provider/model`, where the agent has several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// What attempts at this call used and cost that failed before, as far as that is known: it counts, too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spent_before: Option<Box<Spent>>,
    },
    /// The model's answer is not of the [form](crate::ResponseFormat) that was asked for, or has no text. It is asked once
    /// more.
    AnswerRejected {
        /// The turn.
        turn: u32,
        /// What is wrong with it.
        reason: String,
    },
    /// What was left out of the model's requests: its API takes no such thing, or it is a tool that an MCP server lists
    /// and that cannot be used. Each is reported once a run.
    LeftOut {
        /// The turn.
        turn: u32,
        /// What, each a sentence that names it and says why.
        what: Vec<String>,
    },
    /// The model call failed for good.
    ModelFailed {
        /// The turn.
        turn: u32,
        /// Why.
        failure: StepFailure,
    },
    /// A tool call is about to be made.
    ToolCalled {
        /// The turn.
        turn: u32,
        /// The id that the model gave it.
        call_id: String,
        /// The tool.
        tool: String,
        /// The arguments.
        args: Value,
    },
    /// A tool call was answered, also when it was denied and not made.
    ToolFinished {
        /// The turn.
        turn: u32,
        /// The id that the model gave it.
        call_id: String,
        /// The tool.
        tool: String,
        /// The model reads an error.
        is_error: bool,
        /// What failed, where a step did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<FailureKind>,
        /// What the model reads where no step answered the call: why it was not made, or given up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The run has started another one.
    ChildStarted {
        /// The turn.
        turn: u32,
        /// The id that the model gave the call which started it.
        call_id: String,
        /// The run.
        run_id: RunId,
        /// Its agent's name.
        agent: String,
        /// The call does not wait for its answer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        background: bool,
    },
    /// A run that this one has started has ended.
    ChildEnded {
        /// The run.
        run_id: RunId,
        /// Why it ended.
        exit_reason: ExitReason,
        /// The tokens that it used, and the runs below it.
        usage: TokenUsage,
        /// What they cost; `None` if that is not known.
        cost_usd: Option<Decimal>,
        /// What they are charged beside that, for model calls with unknown usage.
        #[serde(default, skip_serializing_if = "Amount::is_zero")]
        reserved: Amount,
    },
    /// A model call is charged as if it had used all that it might: it was left or lost, and its usage is unknown.
    CallCharged {
        /// The turn.
        turn: u32,
        /// How many attempts at it.
        attempts: u32,
        /// What they are charged together.
        charged: Amount,
    },
    /// A model call used more than it was allowed to: its provider bills beyond the limits of a request.
    CallExceeded {
        /// The turn.
        turn: u32,
        /// What was reserved for it.
        held: Amount,
        /// What it used.
        used: Amount,
    },
    /// A turn is over.
    TurnEnded {
        /// The turn.
        turn: u32,
    },
    /// A person is asked.
    ApprovalRequested {
        /// The turn.
        turn: u32,
        /// The question.
        ticket: Ticket,
    },
    /// A person approved what takes more than one. The ticket stays open.
    ApprovalGiven {
        /// The ticket's id.
        ticket: String,
        /// The digest of the ticket that they saw.
        digest: String,
        /// Who approved.
        approver: Option<String>,
        /// Whether their signature was verified.
        verified: bool,
        /// The fingerprint of the key that they signed with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// When they decided, as they say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decided_at: Option<DecidedAt>,
        /// What they said.
        comment: Option<String>,
        /// The arguments that they put in.
        args: Option<Value>,
        /// How many more have to approve the same.
        remaining: u32,
        /// The [id](crate::Decision::id) of the decision.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<String>,
    },
    /// A ticket is decided.
    ApprovalDecided {
        /// The ticket's id.
        ticket: String,
        /// What it asked.
        #[serde(default)]
        kind: TicketKind,
        /// What was done with it.
        verdict: Verdict,
        /// The digest of the ticket that the decider saw.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        digest: String,
        /// Who decided.
        approver: Option<String>,
        /// Whether their signature was verified.
        #[serde(default)]
        verified: bool,
        /// The fingerprint of the key that they signed with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// When they decided, as they say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decided_at: Option<DecidedAt>,
        /// What they said.
        comment: Option<String>,
        /// The arguments that they put in, or what they filled into the form.
        args: Option<Value>,
        /// What they answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// What they chose.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        choice: Option<String>,
        /// The result that they delivered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Value>,
        /// The [id](crate::Decision::id) of the decision.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<String>,
    },
    /// No person decided in time: others are asked.
    ApprovalEscalated {
        /// The ticket's id.
        ticket: String,
        /// Who is asked now: the ticket's new `from`.
        to: String,
        /// When the question lapses.
        expires_at: Option<DateTime<Utc>>,
    },
    /// A person is not asked again: what they decided about the same question holds for the rest of the run.
    DecisionRepeated {
        /// The turn.
        turn: u32,
        /// The id that the model gave the call.
        call_id: String,
        /// The tool.
        tool: String,
        /// Yes or no.
        verdict: Verdict,
        /// Who decided.
        approver: Option<String>,
    },
    /// A decision was not taken: it fits no open ticket, or is not of the person of whom it has to be. The run
    /// continues to wait.
    ApprovalRefused {
        /// The ticket that it named.
        ticket: String,
        /// Why it was rejected.
        reason: String,
        /// The [id](crate::Decision::id) of the decision.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<String>,
    },
    /// A guard did not let something pass as it was.
    Guarded {
        /// The turn.
        turn: u32,
        /// Where it looked.
        point: GuardPoint,
        /// The guard's name.
        guard: String,
        /// The name of its [verdict](crate::GuardVerdict).
        verdict: String,
        /// Why.
        reason: String,
        /// The id that the model gave the call, where it looked at one or at its result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
    },
    /// Models were asked that judge for guards.
    Judged {
        /// The turn.
        turn: u32,
        /// Where the guards looked.
        point: GuardPoint,
        /// The id that the model gave the call, where they looked at one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
        /// What all attempts used.
        usage: TokenUsage,
        /// What they cost; `None` if that is not known.
        cost_usd: Option<Decimal>,
    },
    /// A ticket lapsed.
    ApprovalExpired {
        /// The ticket's id.
        ticket: String,
    },
    /// A queued message was taken up.
    MessageReceived {
        /// Its text.
        text: String,
    },
    /// The run adopted the current definition of its agent. What it goes by changes with the next turn.
    Upgraded {
        /// The last turn before; 0 before the first.
        turn: u32,
        /// The [fingerprint](crate::AgentSpec::fingerprint) of the definition before.
        from: String,
        /// The fingerprint of the definition now. If it is the same, nothing changed.
        to: String,
        /// What [is another](crate::AgentSpec::changes_from) for the run, in short words.
        changes: Vec<String>,
        /// Who wished it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// Whether decisions about the run have to be signed from now on, whichever worker verifies them.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        signed: bool,
    },
    /// The run continues as another agent from its next turn on.
    HandedOver {
        /// The last turn before.
        turn: u32,
        /// The agent that handed it over.
        from: String,
        /// The agent that continues with it.
        to: String,
        /// Why, as the model said; may be empty.
        reason: String,
        /// What the other agent sees of the conversation.
        #[serde(default, skip_serializing_if = "HandedConversation::is_whole")]
        conversation: HandedConversation,
        /// The [fingerprint](crate::AgentSpec::fingerprint) of the definition from now on.
        definition: String,
        /// Whether decisions about the run have to be signed from now on, whichever worker verifies them.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        signed: bool,
    },
    /// A signal was dropped: it could not be read, or the run has no use for it.
    SignalIgnored {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
    /// The conversation was made smaller.
    ContextCompacted {
        /// Its tokens before, estimated.
        old_tokens: u64,
        /// Its tokens after, estimated.
        new_tokens: u64,
        /// What the model calls of it used.
        usage: TokenUsage,
        /// What they cost; `None` if that is not known.
        cost_usd: Option<Decimal>,
    },
    /// The conversation should have been made smaller and could not be.
    CompactionFailed {
        /// Why.
        reason: String,
        /// What the model calls of it used.
        usage: TokenUsage,
        /// What they cost; `None` if that is not known.
        cost_usd: Option<Decimal>,
    },
    /// Nothing continues until this is over.
    Waiting {
        /// What for.
        state: RunPhase,
    },
    /// The run ended.
    RunEnded {
        /// Why.
        exit_reason: ExitReason,
        /// The model's last text.
        output: Option<String>,
        /// What it failed with.
        error: Option<RunError>,
        /// What the run took of [pools](crate::AgentSpec::pools), and the runs that it started; `None` if it may use no
        /// pool, or the amount is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pools: Option<BTreeMap<String, Amount>>,
    },
}

impl RunEvent {
    /// That a ticket was decided so, with nothing of who decided it and of what else they said.
    #[must_use]
    pub fn ticket_decided(ticket: impl Into<String>, kind: TicketKind, verdict: Verdict) -> Self {
        Self::ApprovalDecided {
            ticket: ticket.into(),
            kind,
            verdict,
            digest: String::new(),
            approver: None,
            verified: false,
            key: None,
            decided_at: None,
            comment: None,
            args: None,
            text: None,
            choice: None,
            output: None,
            decision: None,
        }
    }
}

/// A [`RunEvent`] as an engine keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedEvent {
    /// Its place in the run, counted from 1 without gaps.
    pub seq: u64,
    /// When it was recorded.
    pub at: DateTime<Utc>,
    /// What happened.
    #[serde(flatten)]
    pub event: RunEvent,
}
