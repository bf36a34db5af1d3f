use chrono::{DateTime, TimeDelta, Utc};
use neuron_types::*;
use serde_json::json;

use crate::samples::moment;

fn at() -> DateTime<Utc> {
    moment(0)
}

fn ticket(name: &str, expires_at: Option<DateTime<Utc>>) -> Ticket {
    Ticket {
        ticket: name.into(),
        tool: Some("bash".into()),
        digest: "d".into(),
        expires_at,
        ..Ticket::default()
    }
}

fn decision(ticket: &str) -> Decision {
    Decision {
        ticket: ticket.into(),
        digest: "d".into(),
        verdict: Verdict::Deny,
        ..Decision::default()
    }
}

fn decided(ticket: &str) -> RunEvent {
    RunEvent::ApprovalDecided {
        ticket: ticket.into(),
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

fn status() -> RunStatus {
    let mut status = RunStatus::new(RunId::new("r1").unwrap(), "local", "default", at());
    status.approvals = vec![ticket("t1-1", None), ticket("t1-2", Some(at()))];
    status
}

fn refused(status: &RunStatus, decision: &Decision) -> String {
    status
        .check_decision(decision, at())
        .unwrap_err()
        .to_string()
}

#[test]
fn a_decision_that_fits_an_open_ticket_is_taken() {
    assert_eq!(status().check_decision(&decision("t1-1"), at()), Ok(()));
    let in_time = at() - TimeDelta::milliseconds(1);
    assert_eq!(status().check_decision(&decision("t1-2"), in_time), Ok(()));
}

#[test]
fn a_signed_run_takes_nothing_that_cannot_show_whose_it_is() {
    let mut status = status();
    status.signed = true;
    status.approvals[0].kind = TicketKind::External;
    let expected = "the decision about ticket t1-2 is not taken: the decision is not signed";
    let approval = Decision {
        approver: Some("ada".into()),
        ..decision("t1-2")
    };
    let in_time = at() - TimeDelta::milliseconds(1);
    let checked = |decision: &Decision| {
        let checked = status.check_decision(decision, in_time);
        checked.map_err(|refusal| refusal.to_string())
    };
    assert_eq!(checked(&approval), Err(expected.to_owned()));
    // A token shows nothing but whom the result of a deferred tool was left to.
    for (token, signature) in [(Some("t"), None), (Some("t"), Some(" ")), (None, Some(""))] {
        let decision = Decision {
            token: token.map(Into::into),
            signature: signature.map(Into::into),
            ..approval.clone()
        };
        assert_eq!(checked(&decision), Err(expected.to_owned()), "{decision:?}");
    }
    let signed = Decision {
        signature: Some("by somebody".into()),
        ..approval
    };
    assert_eq!(checked(&signed), Ok(()));
    let result = Decision {
        verdict: Verdict::Complete,
        ..decision("t1-1")
    };
    assert!(checked(&result).is_err());
    let with_token = Decision {
        token: Some("t".into()),
        ..result
    };
    assert_eq!(checked(&with_token), Ok(()));
}

#[test]
fn a_refusal_says_why() {
    let status = status();
    assert_eq!(
        refused(&status, &decision("t9-9")),
        "run r1 has no ticket t9-9"
    );
    let wrong_digest = Decision {
        digest: "x".into(),
        ..decision("t1-1")
    };
    assert_eq!(
        refused(&status, &wrong_digest),
        "the digest is not that of ticket t1-1"
    );
    let with_args = Decision {
        args: Some(json!({})),
        ..decision("t1-1")
    };
    assert_eq!(
        refused(&status, &with_args),
        "a denial of ticket t1-1 has no use for arguments: leave them out, or approve"
    );
    assert_eq!(
        refused(&status, &decision("t1-2")),
        "ticket t1-2 of run r1 has expired, its call is not made"
    );
    let mut over = status;
    over.state = RunPhase::Completed;
    assert_eq!(
        refused(&over, &decision("t1-1")),
        "run r1 is over (completed)"
    );
}

#[test]
fn the_events_tell_what_became_of_a_ticket_that_is_not_open() {
    let told = [
        decided("t1-3"),
        RunEvent::ApprovalExpired {
            ticket: "t1-4".into(),
        },
    ];
    let events: Vec<_> = (1..)
        .zip(told)
        .map(|(seq, event)| RecordedEvent {
            seq,
            at: at(),
            event,
        })
        .collect();
    let refused = |ticket: &str| {
        let refusal = status().check_decision(&decision(ticket), at());
        refusal.unwrap_err().with_events(&events)
    };
    assert_eq!(
        refused("t1-3").to_string(),
        "ticket t1-3 of run r1 is decided already"
    );
    assert!(matches!(refused("t1-4"), Refusal::TicketExpired { .. }));
    assert!(matches!(refused("t9-9"), Refusal::UnknownTicket { .. }));
    let open_and_late = status().check_decision(&decision("t1-2"), at());
    assert!(matches!(
        open_and_late.unwrap_err().with_events(&events),
        Refusal::TicketExpired { .. }
    ));
}

#[test]
fn a_refusal_is_known_by_its_sentence() {
    let run_id = RunId::new("r1").unwrap();
    let ticket = || "t1-1".to_owned();
    let (this, other) = (|| run_id.clone(), RunId::new("r2").unwrap());
    for refusal in [
        Refusal::RunOver {
            run_id: this(),
            state: RunPhase::LimitReached,
        },
        Refusal::UnknownTicket {
            run_id: this(),
            ticket: ticket(),
        },
        Refusal::AlreadyDecided {
            run_id: this(),
            ticket: ticket(),
        },
        Refusal::TicketExpired {
            run_id: this(),
            ticket: ticket(),
        },
        Refusal::WrongDigest {
            run_id: this(),
            ticket: ticket(),
        },
        Refusal::ArgsWithDenial { ticket: ticket() },
        Refusal::Unsuited {
            ticket: ticket(),
            reason: "there is no choice".into(),
        },
    ] {
        let sentence = refusal.to_string();
        let known = Refusal::from_sentence(&sentence, &run_id, "t1-1");
        assert_eq!(known, Some(refusal));
    }
    let of_other = Refusal::RunOver {
        run_id: other,
        state: RunPhase::Completed,
    };
    for sentence in ["", "the digest", &of_other.to_string()] {
        assert_eq!(Refusal::from_sentence(sentence, &run_id, "t1-1"), None);
    }
}
