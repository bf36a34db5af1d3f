use neuron_types::{
    BlockedKind, ExitReason, FailureKind, RunError, RunEvent, RunId, RunPhase, RunStatus,
    StepFailure, StopReason, Ticket, TicketKind, TokenUsage, Verdict,
};
use proptest::prelude::*;
use rust_decimal::Decimal;

use crate::{
    samples::{
        approval, moment,
        run::{self, EXIT_REASONS, PHASES},
    },
    strategies::event::run_event,
};

/// A status and a clock that ticks once an event.
struct Fold {
    status: RunStatus,
    seconds: i64,
}

impl Fold {
    fn new() -> Self {
        let id = RunId::new("r1").unwrap();
        Self {
            status: RunStatus::new(id, "local", "default", moment(0)),
            seconds: 0,
        }
    }

    fn apply(&mut self, event: &RunEvent) -> &RunStatus {
        self.seconds += 1;
        self.status.apply(event, moment(self.seconds));
        assert_eq!(self.status.updated_at, moment(self.seconds));
        &self.status
    }
}

fn ticket(id: &str) -> Ticket {
    Ticket {
        ticket: id.into(),
        ..approval::ticket()
    }
}

fn responded(turn: u32, text: Option<&str>, cost_usd: Option<Decimal>) -> RunEvent {
    RunEvent::ModelResponded {
        turn,
        stop_reason: StopReason::ToolUse,
        text: text.map(str::to_owned),
        usage: TokenUsage {
            input_tokens: 100,
            output_tokens: 10,
            ..TokenUsage::default()
        },
        cost_usd,
        model: None,
        spent_before: None,
    }
}

fn requested(id: &str) -> RunEvent {
    RunEvent::ApprovalRequested {
        turn: 1,
        ticket: ticket(id),
    }
}

fn decided(id: &str) -> RunEvent {
    RunEvent::ApprovalDecided {
        ticket: id.into(),
        kind: TicketKind::Call,
        verdict: Verdict::Approve,
        digest: "d".into(),
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

const WAITING: RunEvent = RunEvent::Waiting {
    state: RunPhase::WaitingForApproval,
};

fn open(status: &RunStatus) -> Vec<&str> {
    let tickets = status.approvals.iter();
    tickets.map(|open| open.ticket.as_str()).collect()
}

#[test]
fn a_run_with_two_tickets_shows_where_it_stands_after_every_event() {
    let cent = Decimal::new(1, 2);
    let mut fold = Fold::new();
    assert_eq!(fold.status.state, RunPhase::Running);
    assert_eq!(fold.status.turn, 0);
    assert_eq!(fold.status.cost_usd, Some(Decimal::ZERO));

    fold.apply(&RunEvent::RunStarted {
        agent: "default".into(),
        model: "demo/demo".into(),
        prompt: "Tidy up.".into(),
        definition: "sha256:0a1b".into(),
        tags: run::tags(),
        nonce: None,
        trace: None,
        directory: None,
        signed: true,
    });
    let status = &fold.status;
    assert_eq!(status.definition.as_deref(), Some("sha256:0a1b"));
    assert_eq!(status.tenant.as_deref(), Some("acme"));
    assert_eq!(status.owner.as_deref(), Some("ada"));
    assert_eq!(status.labels["report"], "q3");
    assert_eq!(fold.apply(&RunEvent::TurnStarted { turn: 1 }).turn, 1);
    let status = fold.apply(&responded(1, Some("I will look."), Some(cent)));
    assert_eq!(status.last_message.as_deref(), Some("I will look."));
    assert_eq!(status.usage.total(), 110);
    assert_eq!(status.cost_usd, Some(cent));

    fold.apply(&requested("t1-1"));
    fold.apply(&requested("t1-2"));
    let status = fold.apply(&WAITING);
    assert_eq!(status.state, RunPhase::WaitingForApproval);
    assert_eq!(open(status), ["t1-1", "t1-2"]);

    let status = fold.apply(&decided("t1-1"));
    assert_eq!(status.state, RunPhase::Running);
    assert_eq!(open(status), ["t1-2"]);
    fold.apply(&WAITING);
    let status = fold.apply(&RunEvent::ApprovalExpired {
        ticket: "t1-2".into(),
    });
    assert_eq!(status.state, RunPhase::Running);
    assert!(status.approvals.is_empty());

    fold.apply(&RunEvent::TurnEnded { turn: 1 });
    assert_eq!(fold.apply(&RunEvent::TurnStarted { turn: 2 }).turn, 2);
    fold.apply(&responded(2, Some("Done."), Some(cent)));
    let status = fold.apply(&RunEvent::RunEnded {
        exit_reason: ExitReason::Complete,
        output: Some("Done.".into()),
        error: None,
        pools: None,
    });
    assert_eq!(status.state, RunPhase::Completed);
    assert_eq!(status.usage.total(), 220);
    assert_eq!(status.cost_usd, Some(cent + cent));
    assert_eq!(status.started_at, moment(0));

    let output = status.output(Some(ExitReason::Complete));
    assert_eq!(output.run_id, status.run_id);
    assert_eq!(output.state, RunPhase::Completed);
    assert_eq!(output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(output.output.as_deref(), Some("Done."));
    assert_eq!((output.turns, output.usage.total()), (2, 220));
    assert!(output.approvals.is_empty());
}

#[test]
fn what_answers_no_ticket_leaves_the_run_waiting() {
    let mut fold = Fold::new();
    fold.apply(&requested("t1-1"));
    fold.apply(&WAITING);
    for event in [
        RunEvent::ApprovalRefused {
            ticket: "t1-1".into(),
            reason: "the digest is another one".into(),
            decision: None,
        },
        RunEvent::SignalIgnored {
            name: "decision".into(),
            reason: "missing field `ticket`".into(),
        },
        RunEvent::MessageReceived {
            text: "hurry".into(),
        },
    ] {
        let status = fold.apply(&event);
        assert_eq!(status.state, RunPhase::WaitingForApproval);
        let blocked = status.blocked.as_ref().map(|blocked| blocked.kind);
        assert_eq!(blocked, Some(BlockedKind::Call));
        assert_eq!(open(status), ["t1-1"]);
    }
}

#[test]
fn a_message_has_a_run_go_on_that_waits_for_one() {
    let mut fold = Fold::new();
    fold.apply(&RunEvent::Waiting {
        state: RunPhase::WaitingForInput,
    });
    let text = "and now?".to_owned();
    let status = fold.apply(&RunEvent::MessageReceived { text });
    assert_eq!(status.state, RunPhase::Running);
}

#[test]
fn a_decision_about_another_ticket_closes_none() {
    let mut fold = Fold::new();
    fold.apply(&requested("t1-1"));
    assert_eq!(open(fold.apply(&decided("t9-9"))), ["t1-1"]);
}

#[test]
fn a_cost_that_was_once_unknown_stays_unknown() {
    let mut fold = Fold::new();
    let cent = Some(Decimal::new(1, 2));
    assert_eq!(fold.apply(&responded(1, None, cent)).cost_usd, cent);
    assert_eq!(fold.apply(&responded(2, None, None)).cost_usd, None);
    assert_eq!(fold.apply(&responded(3, None, cent)).cost_usd, None);
}

#[test]
fn a_cost_that_is_too_large_to_count_is_unknown() {
    let mut fold = Fold::new();
    fold.apply(&responded(1, None, Some(Decimal::MAX)));
    let status = fold.apply(&responded(2, None, Some(Decimal::MAX)));
    assert_eq!(status.cost_usd, None);
}

#[test]
fn the_calls_of_a_compaction_are_paid_for_too() {
    let cent = Decimal::new(1, 2);
    let usage = TokenUsage {
        input_tokens: 1000,
        output_tokens: 100,
        ..TokenUsage::default()
    };
    let mut fold = Fold::new();
    fold.apply(&responded(1, None, Some(cent)));
    let status = fold.apply(&RunEvent::ContextCompacted {
        old_tokens: 5000,
        new_tokens: 1000,
        usage: usage.clone(),
        cost_usd: Some(cent),
    });
    assert_eq!(status.usage.total(), 1210);
    assert_eq!(status.cost_usd, Some(cent + cent));
    let status = fold.apply(&RunEvent::CompactionFailed {
        reason: "the summary is longer".into(),
        usage,
        cost_usd: None,
    });
    assert_eq!(status.usage.total(), 2310);
    assert_eq!(status.cost_usd, None);
}

#[test]
fn an_answer_without_text_keeps_the_last_message() {
    let mut fold = Fold::new();
    fold.apply(&responded(1, Some("I will look."), None));
    let status = fold.apply(&responded(2, None, None));
    assert_eq!(status.last_message.as_deref(), Some("I will look."));
}

#[test]
fn a_failed_run_shows_its_error_and_no_open_tickets() {
    let mut fold = Fold::new();
    fold.apply(&requested("t1-1"));
    fold.apply(&RunEvent::ModelFailed {
        turn: 1,
        failure: StepFailure::new(FailureKind::Quota, "no money left"),
    });
    let error = RunError {
        kind: FailureKind::Quota,
        message: "no money left".into(),
    };
    let status = fold.apply(&RunEvent::RunEnded {
        exit_reason: ExitReason::Failed,
        output: None,
        error: Some(error.clone()),
        pools: None,
    });
    assert_eq!(status.state, RunPhase::Failed);
    assert_eq!(status.error.as_ref(), Some(&error));
    assert!(status.approvals.is_empty());
    assert_eq!(status.output(Some(ExitReason::Failed)).error, Some(error));
}

#[test]
fn a_parked_run_has_an_output_with_its_tickets_and_no_exit_reason() {
    let mut fold = Fold::new();
    fold.apply(&requested("t1-1"));
    let output = fold.apply(&WAITING).output(None);
    assert_eq!(output.exit_reason, None);
    assert_eq!(output.approvals, [ticket("t1-1")]);
}

#[test]
fn every_exit_reason_ends_in_a_final_phase() {
    use RunPhase::{Cancelled, Completed, Failed, LimitReached};
    let phases = EXIT_REASONS.map(ExitReason::phase);
    assert!(phases.iter().all(|phase| phase.is_final()));
    let limits = [LimitReached; 6];
    assert_eq!(phases[0], Completed);
    assert_eq!(phases[1..7], limits);
    assert_eq!(phases[7], Cancelled);
    assert_eq!(phases[8..], [Failed; 4]);
}

#[test]
fn a_phase_reads_the_same_everywhere_and_waits_for_a_person_or_is_final_or_neither() {
    for phase in PHASES {
        assert_eq!(serde_json::to_value(phase).unwrap(), phase.as_str());
        assert_eq!(phase.to_string(), phase.as_str());
        assert!(!(phase.is_final() && phase.waits_for_person()));
    }
    let waiting = PHASES.into_iter().filter(|phase| phase.waits_for_person());
    assert_eq!(
        waiting.collect::<Vec<_>>(),
        [RunPhase::WaitingForApproval, RunPhase::WaitingForInput]
    );
}

proptest! {
    #[test]
    fn any_event_list_can_be_folded(events in proptest::collection::vec(run_event(), 0..12)) {
        let mut fold = Fold::new();
        for event in &events {
            let status = fold.apply(event);
            if let RunEvent::RunEnded { exit_reason, .. } = event {
                prop_assert_eq!(status.state, exit_reason.phase());
                prop_assert!(status.approvals.is_empty());
            }
        }
        prop_assert_eq!(fold.status.started_at, moment(0));
    }
}
