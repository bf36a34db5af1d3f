//! Refusing decisions that fit no open ticket, before they reach the run.

use chrono::{DateTime, Utc};
use neuron_types::{ApprovalTicket, Decision, RunEvent, RunStatus, Verdict};

use crate::board::Board;

/// Says why a decision is refused: one sentence for the person who made it.
pub(crate) fn check(board: &Board, decision: &Decision, now: DateTime<Utc>) -> Result<(), String> {
    let name = &decision.ticket;
    let Some(status) = board.status() else {
        return Err(format!(
            "the run has no ticket {name} yet: ask for its status"
        ));
    };
    let run_id = &status.run_id;
    if status.state.is_final() {
        return Err(format!(
            "run {run_id} is over ({}): nothing is to be decided",
            status.state
        ));
    }
    let Some(ticket) = open_ticket(status, name) else {
        return Err(not_open(board, status, name));
    };
    if board.decision_is_queued(name) {
        return Err(format!("ticket {name} of run {run_id} is decided already"));
    }
    if ticket.expires_at.is_some_and(|at| at <= now) {
        return Err(format!(
            "ticket {name} of run {run_id} has expired: the call is not made"
        ));
    }
    if ticket.digest != decision.digest {
        return Err(format!(
            "the digest is not that of ticket {name}: look again at what it asks in the run's status"
        ));
    }
    if decision.verdict == Verdict::Deny && decision.args.is_some() {
        return Err(format!(
            "a denial of ticket {name} has no use for arguments: leave them out, or approve"
        ));
    }
    Ok(())
}

fn open_ticket<'a>(status: &'a RunStatus, name: &str) -> Option<&'a ApprovalTicket> {
    status.approvals.iter().find(|open| open.ticket == name)
}

fn not_open(board: &Board, status: &RunStatus, name: &str) -> String {
    let run_id = &status.run_id;
    let told = board.events().iter().find_map(|event| match &event.event {
        RunEvent::ApprovalDecided { ticket, .. } if ticket == name => {
            Some(format!("ticket {name} of run {run_id} is decided already"))
        }
        RunEvent::ApprovalExpired { ticket } if ticket == name => Some(format!(
            "ticket {name} of run {run_id} has expired: the call is not made"
        )),
        _ => None,
    });
    told.unwrap_or_else(|| {
        format!("run {run_id} has no ticket {name}: look at its open tickets in its status")
    })
}

#[cfg(test)]
mod tests {
    use neuron_types::RunId;
    use serde_json::{Value, json};

    use super::*;

    fn board() -> Board {
        let mut board = Board::default();
        board.start(
            RunId::new("r1").unwrap(),
            "temporal",
            "a",
            DateTime::UNIX_EPOCH,
        );
        for (name, expires_at) in [("t1", None), ("t2", Some(DateTime::UNIX_EPOCH))] {
            let ticket = ApprovalTicket {
                ticket: name.into(),
                tool: "bash".into(),
                args: Value::Null,
                digest: "d".into(),
                reason: String::new(),
                expires_at,
            };
            let event = RunEvent::ApprovalRequested { turn: 1, ticket };
            board.record(event, DateTime::UNIX_EPOCH);
        }
        board
    }

    fn decision(ticket: &str, digest: &str) -> Decision {
        serde_json::from_value(json!({"ticket": ticket, "digest": digest, "verdict": "approve"}))
            .unwrap()
    }

    fn refusal(board: &Board, decision: &Decision) -> String {
        check(board, decision, DateTime::UNIX_EPOCH).unwrap_err()
    }

    #[test]
    fn takes_what_fits_and_says_what_does_not() {
        let mut board = board();
        assert_eq!(
            check(&board, &decision("t1", "d"), DateTime::UNIX_EPOCH),
            Ok(())
        );
        assert_eq!(
            refusal(&board, &decision("t1", "x")),
            "the digest is not that of ticket t1: look again at what it asks in the run's status"
        );
        assert_eq!(
            refusal(&board, &decision("t9", "d")),
            "run r1 has no ticket t9: look at its open tickets in its status"
        );
        assert_eq!(
            refusal(&board, &decision("t2", "d")),
            "ticket t2 of run r1 has expired: the call is not made"
        );
        board.put(
            "decision".into(),
            serde_json::to_value(decision("t1", "d")).unwrap(),
        );
        assert_eq!(
            refusal(&board, &decision("t1", "d")),
            "ticket t1 of run r1 is decided already"
        );
    }

    #[test]
    fn a_denial_has_no_arguments() {
        let denial = Decision {
            verdict: Verdict::Deny,
            args: Some(json!({})),
            ..decision("t1", "d")
        };
        assert_eq!(
            refusal(&board(), &denial),
            "a denial of ticket t1 has no use for arguments: leave them out, or approve"
        );
    }
}
