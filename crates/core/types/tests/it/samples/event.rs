use neuron_types::{
    Amount, ExitReason, FailureKind, GuardPoint, HandedConversation, RecordedEvent, RunError,
    RunEvent, RunId, RunPhase, StepFailure, StopReason, TicketKind, TokenUsage, Verdict,
};
use serde_json::json;
use uuid::Uuid;

use super::{approval, moment, price, response, run, run::amount};

pub(crate) fn events() -> Vec<RunEvent> {
    vec![
        RunEvent::RunStarted {
            agent: "default".into(),
            model: "openai/gpt-6.1-terra".into(),
            prompt: "Tidy up.".into(),
            definition: "sha256:0a1b".into(),
            tags: run::tags(),
            nonce: Some(Uuid::from_u128(7)),
            trace: Some(run::trace()),
            directory: Some("/srv/site".into()),
            signed: true,
        },
        RunEvent::AgentAsked {
            scope: 1,
            agent: "critic".into(),
            prompt: "Is this true?".into(),
        },
        RunEvent::TurnStarted { turn: 1 },
        RunEvent::ModelResponded {
            turn: 1,
            stop_reason: StopReason::ToolUse,
            text: Some("I will look.".into()),
            usage: response::usage(),
            cost_usd: Some(price()),
            model: Some("openai/gpt-6.1-terra".into()),
            spent_before: None,
        },
        RunEvent::ModelResponded {
            turn: 1,
            stop_reason: StopReason::Other("eos".into()),
            text: None,
            usage: response::usage(),
            cost_usd: None,
            model: None,
            spent_before: None,
        },
        RunEvent::AnswerRejected {
            turn: 2,
            reason: "it is no JSON".into(),
        },
        RunEvent::LeftOut {
            turn: 2,
            what: vec!["the tool \"odd\" is left out".into()],
        },
        RunEvent::ModelFailed {
            turn: 1,
            failure: StepFailure::new(FailureKind::Network, "the connection was cut"),
        },
        RunEvent::ToolCalled {
            turn: 1,
            call_id: "call_1".into(),
            tool: "bash".into(),
            args: json!({"command": "ls", "timeout": 0.5}),
        },
        RunEvent::ToolFinished {
            turn: 1,
            call_id: "call_1".into(),
            tool: "bash".into(),
            is_error: false,
            failure: None,
            reason: None,
        },
        RunEvent::ToolFinished {
            turn: 1,
            call_id: "call_2".into(),
            tool: "bash".into(),
            is_error: true,
            failure: Some(FailureKind::OutcomeUnknown),
            reason: None,
        },
        RunEvent::ToolFinished {
            turn: 1,
            call_id: "call_3".into(),
            tool: "bash".into(),
            is_error: true,
            failure: None,
            reason: Some("not called: ada denied it".into()),
        },
        RunEvent::ChildStarted {
            turn: 1,
            call_id: "call_4".into(),
            run_id: RunId::new("nightly.1-4").unwrap(),
            agent: "explorer".into(),
            background: true,
        },
        RunEvent::ChildEnded {
            run_id: RunId::new("nightly.1-4").unwrap(),
            exit_reason: ExitReason::Complete,
            usage: response::usage(),
            cost_usd: None,
            reserved: amount(),
        },
        RunEvent::CallCharged {
            turn: 1,
            attempts: 2,
            charged: amount(),
        },
        RunEvent::CallExceeded {
            turn: 1,
            held: Amount::ZERO,
            used: amount(),
        },
        RunEvent::TurnEnded { turn: 1 },
        RunEvent::ApprovalRequested {
            turn: 2,
            ticket: approval::ticket(),
        },
        RunEvent::ApprovalDecided {
            ticket: "t2-1".into(),
            kind: TicketKind::Call,
            verdict: Verdict::Approve,
            digest: "5f3c".into(),
            approver: Some("ada".into()),
            verified: true,
            key: Some("SHA256:7fSw".into()),
            decided_at: Some(moment(30).into()),
            comment: Some("fine".into()),
            args: Some(json!({"command": "cargo clean"})),
            text: None,
            choice: None,
            output: None,
            decision: Some("9c41d07b52e8aa13".into()),
        },
        RunEvent::ApprovalDecided {
            ticket: "t2-2".into(),
            kind: TicketKind::Question,
            verdict: Verdict::Answer,
            digest: "5f3c".into(),
            approver: None,
            verified: false,
            key: None,
            decided_at: None,
            comment: None,
            args: None,
            text: Some("main".into()),
            choice: Some("happened".into()),
            output: Some(json!({"id": 7})),
            decision: None,
        },
        RunEvent::ApprovalGiven {
            ticket: "t2-1".into(),
            digest: "5f3c".into(),
            approver: Some("ada".into()),
            verified: true,
            key: Some("SHA256:7fSw".into()),
            decided_at: Some(moment(30).into()),
            comment: None,
            args: None,
            remaining: 1,
            decision: Some("9c41d07b52e8aa13".into()),
        },
        RunEvent::ApprovalEscalated {
            ticket: "t2-1".into(),
            to: "leads".into(),
            expires_at: Some(moment(7200)),
        },
        RunEvent::DecisionRepeated {
            turn: 2,
            call_id: "call-3".into(),
            tool: "bash".into(),
            verdict: Verdict::Approve,
            approver: Some("ada".into()),
        },
        RunEvent::ApprovalRefused {
            ticket: "t9-9".into(),
            reason: "there is no such ticket".into(),
            decision: Some("9c41d07b52e8aa13".into()),
        },
        RunEvent::ApprovalExpired {
            ticket: "t2-2".into(),
        },
        RunEvent::MessageReceived {
            text: "And the tests.".into(),
        },
        RunEvent::Upgraded {
            turn: 2,
            from: "sha256:0a1b".into(),
            to: "sha256:2c3d".into(),
            changes: vec!["instructions".into(), "tool added: grep".into()],
            by: Some("ada".into()),
            signed: true,
        },
        RunEvent::HandedOver {
            turn: 2,
            from: "support".into(),
            to: "billing".into(),
            reason: "It is about an invoice.".into(),
            conversation: HandedConversation::Last,
            definition: "sha256:2c3d".into(),
            signed: true,
        },
        RunEvent::Guarded {
            turn: 2,
            point: GuardPoint::Call,
            guard: "no_pushes".into(),
            verdict: "block".into(),
            reason: "nothing is pushed".into(),
            call_id: Some("call-1".into()),
        },
        RunEvent::Judged {
            turn: 2,
            point: GuardPoint::Call,
            call_id: Some("call-1".into()),
            usage: response::usage(),
            cost_usd: Some(price()),
        },
        RunEvent::SignalIgnored {
            name: "decision".into(),
            reason: "missing field `ticket`".into(),
        },
        RunEvent::ContextCompacted {
            old_tokens: 120_000,
            new_tokens: 40_000,
            usage: response::usage(),
            cost_usd: Some(price()),
        },
        RunEvent::CompactionFailed {
            reason: "the first message is too long".into(),
            usage: TokenUsage::default(),
            cost_usd: None,
        },
        RunEvent::Waiting {
            state: RunPhase::WaitingForApproval,
        },
        RunEvent::RunEnded {
            exit_reason: ExitReason::Complete,
            output: Some("Done.".into()),
            error: None,
            pools: None,
        },
        RunEvent::RunEnded {
            exit_reason: ExitReason::Failed,
            output: None,
            error: Some(RunError {
                kind: FailureKind::Authentication,
                message: "the key was refused".into(),
            }),
            pools: Some(run::pools()),
        },
    ]
}

/// The same events as a journal keeps them, a second apart.
pub(crate) fn recorded() -> Vec<RecordedEvent> {
    events()
        .into_iter()
        .zip(1..)
        .map(|(event, seq)| RecordedEvent {
            seq,
            at: moment(i64::try_from(seq).unwrap()),
            event,
        })
        .collect()
}
