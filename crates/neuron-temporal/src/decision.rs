//! A person's decision, at the workflow and on its way there.

use chrono::{DateTime, Utc};
use neuron_types::{Decision, Refusal, RunId};
use uuid::Uuid;

use crate::board::Board;

/// What update ids are made in.
const NAMESPACE: Uuid = Uuid::from_u128(0x6f0c_9b55_1a83_4f0e_9d07_2c4e_b1a6_53d8);

/// Whether the run takes a decision.
pub(crate) fn check(
    board: &Board,
    run_id: RunId,
    decision: &Decision,
    now: DateTime<Utc>,
) -> Result<(), Refusal> {
    let ticket = decision.ticket.clone();
    let Some(status) = board.status() else {
        return Err(Refusal::UnknownTicket { run_id, ticket });
    };
    let checked = status.check_decision(decision, now);
    checked.map_err(|refusal| refusal.with_events(board.events()))?;
    if board.decision_is_queued(&ticket) {
        return Err(Refusal::AlreadyDecided { run_id, ticket });
    }
    Ok(())
}

/// The id of the update that carries a decision, the same for the same decision: a call that is made again
/// because nobody answered reaches the run once.
pub(crate) fn update_id(run_id: &RunId, decision: &Decision) -> Result<String, serde_json::Error> {
    let named = serde_json::to_vec(&(run_id, decision))?;
    Ok(format!("decision-{}", Uuid::new_v5(&NAMESPACE, &named)))
}

#[cfg(test)]
mod tests {
    use neuron_types::{ApprovalTicket, RunEvent};
    use serde_json::{Value, json};

    use super::*;

    fn run_id() -> RunId {
        RunId::new("r1").unwrap()
    }

    fn board() -> Board {
        let mut board = Board::default();
        board.start(run_id(), "temporal", "a", DateTime::UNIX_EPOCH);
        let ticket = ApprovalTicket {
            ticket: "t1".into(),
            tool: "bash".into(),
            args: Value::Null,
            digest: "d".into(),
            reason: String::new(),
            expires_at: None,
        };
        let event = RunEvent::ApprovalRequested { turn: 1, ticket };
        board.record(event, DateTime::UNIX_EPOCH);
        board
    }

    fn decision(ticket: &str) -> Decision {
        serde_json::from_value(json!({"ticket": ticket, "digest": "d", "verdict": "approve"}))
            .unwrap()
    }

    fn checked(board: &Board, ticket: &str) -> Result<(), Refusal> {
        check(board, run_id(), &decision(ticket), DateTime::UNIX_EPOCH)
    }

    #[test]
    fn takes_one_decision_a_ticket_taken_up_or_not() {
        let mut board = board();
        assert_eq!(checked(&board, "t1"), Ok(()));
        let refused = Err(Refusal::AlreadyDecided {
            run_id: run_id(),
            ticket: "t1".into(),
        });
        let decided = RunEvent::ApprovalDecided {
            ticket: "t1".into(),
            verdict: neuron_types::Verdict::Approve,
            approver: None,
            comment: None,
            args: None,
        };
        board.put("decision".into(), json!(decision("t1")));
        assert_eq!(checked(&board, "t1"), refused);
        board.take("decision");
        board.record(decided, DateTime::UNIX_EPOCH);
        assert_eq!(checked(&board, "t1"), refused);
    }

    #[test]
    fn a_run_that_has_not_started_has_no_ticket() {
        let refused = checked(&Board::default(), "t1");
        assert!(
            matches!(refused, Err(Refusal::UnknownTicket { .. })),
            "{refused:?}"
        );
    }

    #[test]
    fn the_same_decision_has_the_same_update_id_and_any_other_another() {
        let id = |decision: &Decision| update_id(&run_id(), decision).unwrap();
        let one = decision("t1");
        let commented = Decision {
            comment: Some("yes".into()),
            ..one.clone()
        };
        assert_eq!(id(&one), id(&one.clone()));
        assert_ne!(id(&one), id(&commented));
        assert_ne!(id(&one), id(&decision("t2")));
        let elsewhere = update_id(&RunId::new("r2").unwrap(), &one).unwrap();
        assert_ne!(id(&one), elsewhere);
    }
}
