use neuron_types::{
    ContentBlock, ExitReason, FailureKind, GuardPoint, HandedConversation, StepFailure, Transcript,
    TranscriptEntry, TranscriptItem, Verdict,
};
use serde_json::json;

use super::{approval, message, moment, run};

pub(crate) fn items() -> Vec<TranscriptItem> {
    vec![
        TranscriptItem::Prompt {
            text: "Tidy up.".into(),
        },
        TranscriptItem::AgentAsked {
            agent: "critic".into(),
            text: "Is this true?".into(),
        },
        TranscriptItem::Message {
            text: "And the tests.".into(),
        },
        TranscriptItem::Thinking {
            text: "First the file.".into(),
        },
        TranscriptItem::Text {
            text: "I will look.".into(),
        },
        TranscriptItem::Block {
            block: ContentBlock::Other(json!({"id": "ws_1", "type": "web_search_call"})),
        },
        TranscriptItem::ToolCall {
            call_id: "call_1".into(),
            tool: "bash".into(),
            args: json!({"command": "ls", "timeout": 0.5}),
        },
        TranscriptItem::ToolResult {
            call_id: "call_1".into(),
            tool: "bash".into(),
            is_error: false,
            failure: None,
            content: Some(message::content_items()),
        },
        TranscriptItem::ToolResult {
            call_id: "call_2".into(),
            tool: "bash".into(),
            is_error: true,
            failure: Some(FailureKind::OutcomeUnknown),
            content: None,
        },
        TranscriptItem::Ticket {
            ticket: approval::ticket(),
        },
        TranscriptItem::Decision {
            ticket: "t2-1".into(),
            verdict: Verdict::Approve,
            approver: Some("ada".into()),
            comment: Some("fine".into()),
            args: Some(json!({"command": "cargo clean"})),
            text: Some("main".into()),
            choice: Some("happened".into()),
            output: Some(json!({"id": 7})),
            verified: true,
            remaining: 1,
        },
        TranscriptItem::TicketEscalated {
            ticket: "t2-1".into(),
            to: "leads".into(),
        },
        TranscriptItem::DecisionRepeated {
            call_id: "call_3".into(),
            tool: "bash".into(),
            verdict: Verdict::Approve,
            approver: None,
        },
        TranscriptItem::TicketExpired {
            ticket: "t2-2".into(),
        },
        TranscriptItem::Upgraded {
            changes: vec!["limits".into()],
            by: None,
        },
        TranscriptItem::HandedOver {
            from: "support".into(),
            to: "billing".into(),
            reason: "It is about an invoice.".into(),
            conversation: HandedConversation::Last,
        },
        TranscriptItem::Compacted {
            old_tokens: 120_000,
            new_tokens: 40_000,
        },
        TranscriptItem::AnswerRejected {
            reason: "it is no JSON".into(),
        },
        TranscriptItem::LeftOut {
            what: vec!["the tool \"odd\" is left out".into()],
        },
        TranscriptItem::Guarded {
            point: GuardPoint::Output,
            guard: "no_secrets".into(),
            verdict: "replace".into(),
            reason: "it has a secret".into(),
            call_id: None,
        },
        TranscriptItem::ModelFailed {
            failure: StepFailure::new(FailureKind::Network, "the connection was cut"),
        },
        TranscriptItem::Ended {
            exit_reason: ExitReason::Failed,
            error: Some(run::error()),
        },
    ]
}

/// A run with all of them, a second apart.
pub(crate) fn transcript() -> Transcript {
    let entries = items()
        .into_iter()
        .zip(0..)
        .map(|(item, second)| TranscriptEntry {
            turn: u32::from(second > 0),
            at: moment(second),
            item,
        });
    Transcript {
        run_id: run::run_id(),
        entries: entries.collect(),
        incomplete: Some("the journal has dropped the steps of turn 1".into()),
    }
}
