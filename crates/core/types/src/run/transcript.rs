//! What was said and done in a run.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    ContentBlock, ContentItem, ExitReason, FailureKind, GuardPoint, HandedConversation, RunError,
    RunId, StepFailure, Ticket, Verdict,
};

/// What was said and done in a run so far, in the order in which it happened, the same on every engine.
///
/// It has what a compaction has taken out of the conversation too, as far as the engine still keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    /// The run.
    pub run_id: RunId,
    /// What was said and done.
    pub entries: Vec<TranscriptEntry>,
    /// Says in one sentence what is missing, and why; `None` if nothing is.
    pub incomplete: Option<String>,
}

/// One thing that was said or done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TranscriptEntry {
    /// The turn, counted from 1; 0 before the first.
    pub turn: u32,
    /// When it was recorded.
    pub at: DateTime<Utc>,
    /// What it is.
    #[serde(flatten)]
    pub item: TranscriptItem,
}

/// What a [`TranscriptEntry`] is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
#[allow(
    clippy::large_enum_variant,
    reason = "few items are tickets, and those are not moved often"
)]
pub enum TranscriptItem {
    /// The prompt.
    Prompt {
        /// Its text.
        text: String,
    },
    /// A workflow gave one of the agents that take turns in it something to do.
    AgentAsked {
        /// The agent's name.
        agent: String,
        /// What it is to do.
        text: String,
    },
    /// A queued message was taken up.
    Message {
        /// Its text.
        text: String,
    },
    /// The model reasoned.
    Thinking {
        /// The reasoning, as far as its provider shows it.
        text: String,
    },
    /// The model said something.
    Text {
        /// What.
        text: String,
    },
    /// Another part of the model's answer.
    Block {
        /// The part, as it came.
        block: ContentBlock,
    },
    /// The model asked for a tool call.
    ToolCall {
        /// The id that the model gave it.
        call_id: String,
        /// The tool.
        tool: String,
        /// The arguments that the model wrote.
        args: Value,
    },
    /// A tool call was answered, also when it was denied and not made.
    ToolResult {
        /// The id that the model gave it.
        call_id: String,
        /// The tool.
        tool: String,
        /// The model reads an error.
        is_error: bool,
        /// What failed, where a step did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<FailureKind>,
        /// What the model reads, whole; `None` where it is missing.
        content: Option<Vec<ContentItem>>,
    },
    /// A person is asked.
    Ticket {
        /// The question.
        ticket: Ticket,
    },
    /// A person decided.
    Decision {
        /// The ticket's id.
        ticket: String,
        /// Yes or no.
        verdict: Verdict,
        /// Who decided.
        approver: Option<String>,
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
        /// Whether their signature was verified.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        verified: bool,
        /// How many more have to decide the same; 0 if the ticket is decided.
        #[serde(default, skip_serializing_if = "is_zero")]
        remaining: u32,
    },
    /// A person was not asked again: an earlier decision holds.
    DecisionRepeated {
        /// The id that the model gave the call.
        call_id: String,
        /// The tool.
        tool: String,
        /// Yes or no.
        verdict: Verdict,
        /// Who decided.
        approver: Option<String>,
    },
    /// No person decided in time: others are asked.
    TicketEscalated {
        /// The ticket's id.
        ticket: String,
        /// Who is asked now.
        to: String,
    },
    /// A ticket lapsed.
    TicketExpired {
        /// The ticket's id.
        ticket: String,
    },
    /// The run adopted the current definition of its agent.
    Upgraded {
        /// What [is another](crate::AgentSpec::changes_from), in short words; empty if nothing is.
        changes: Vec<String>,
        /// Who wished it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// The run continues as another agent.
    HandedOver {
        /// The agent that handed it over.
        from: String,
        /// The agent that continues with it.
        to: String,
        /// Why, as the model said; may be empty.
        reason: String,
        /// What the other agent sees of the conversation.
        #[serde(default, skip_serializing_if = "HandedConversation::is_whole")]
        conversation: HandedConversation,
    },
    /// The conversation was made smaller.
    Compacted {
        /// Its tokens before, estimated.
        old_tokens: u64,
        /// Its tokens after, estimated.
        new_tokens: u64,
    },
    /// The model's answer is not of the form that was asked for. It is asked once more.
    AnswerRejected {
        /// What is wrong with it.
        reason: String,
    },
    /// What was left out of the model's requests.
    LeftOut {
        /// What, each a sentence.
        what: Vec<String>,
    },
    /// A guard did not let something pass as it was.
    Guarded {
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
    /// The model call failed for good.
    ModelFailed {
        /// Why.
        failure: StepFailure,
    },
    /// The run ended.
    Ended {
        /// Why.
        exit_reason: ExitReason,
        /// What it failed with.
        error: Option<RunError>,
    },
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}
