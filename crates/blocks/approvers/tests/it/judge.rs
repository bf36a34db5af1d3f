//! Decisions as an executor puts them to the approvers.

use chrono::DateTime;
use neuron_approvers::{Approvers, DecisionContent, Place, Statement, StatementError};
use neuron_types::{
    Always, DecidedAt, Decision, RunId, RunStatus, Ticket, TicketKind, Verdict, Verification,
    VerifyOutcome, VerifyRequest,
};
use serde_json::json;
use uuid::Uuid;

use crate::support::{entry, line, private, signer};

const PLACE: Place = Place::Memory;

fn ada_and_bob() -> Approvers {
    Approvers::new([
        entry("ada", &[line(&private(1))], &["ops"]),
        entry("bob", &[line(&private(2))], &["leads"]),
    ])
    .unwrap()
}

fn status() -> RunStatus {
    let run_id = RunId::new("q3").unwrap();
    RunStatus {
        nonce: Some(Uuid::from_u128(7)),
        definition: Some("sha256:09ab".into()),
        ..RunStatus::new(run_id, "local", "default", DateTime::UNIX_EPOCH)
    }
}

fn ticket() -> Ticket {
    Ticket {
        ticket: "t2-1".into(),
        digest: "8ed7".into(),
        kind: TicketKind::Call,
        ..Ticket::default()
    }
}

fn request(decision: Decision) -> VerifyRequest {
    let status = status();
    VerifyRequest {
        ticket: "t2-1".into(),
        digest: "8ed7".into(),
        kind: TicketKind::Call,
        decision,
        run: Some(status.run_id),
        nonce: status.nonce,
        directory: None,
        definition: status.definition.unwrap(),
        from: None,
        needed: 1,
        token_sha256: None,
        signed: false,
    }
}

/// The decision, signed at the run with this status.
fn signed_in(status: &RunStatus, key: u8, decision: Decision) -> Decision {
    let decision = Decision {
        at: Some(DecidedAt::parse("2026-11-23T17:27:58.12+01:00").unwrap()),
        ..decision
    };
    let statement = Statement::of_run(&PLACE, status, &decision).unwrap();
    Decision {
        signature: Some(signer(&private(key)).sign(&statement).unwrap()),
        ..decision
    }
}

fn signed(key: u8, decision: Decision) -> Decision {
    signed_in(&status(), key, decision)
}

fn reason(outcome: VerifyOutcome) -> String {
    match outcome {
        VerifyOutcome::Rejected { reason } => reason,
        VerifyOutcome::Taken(taken) => panic!("{taken:?}"),
    }
}

#[test]
fn what_an_approver_signed_is_theirs_whatever_name_it_gives() {
    let decision = Decision {
        approver: Some("the boss".into()),
        token: Some("secret".into()),
        ..signed(1, Decision::approve(&ticket()))
    };
    let outcome = ada_and_bob().judge(Some(&PLACE), &request(decision));
    assert_eq!(
        outcome,
        VerifyOutcome::Taken(Verification {
            verified: true,
            approver: Some("ada".into()),
            key: Some(signer(&private(1)).key().fingerprint()),
            groups: vec!["ops".into()],
            by_token: false,
        })
    );
}

#[test]
fn whatever_is_changed_behind_the_signature_is_noticed() {
    let decision = signed(1, Decision::approve(&ticket()));
    let changes: [fn(&mut VerifyRequest); 14] = [
        |request| request.run = RunId::new("q4").ok(),
        |request| request.nonce = Some(Uuid::from_u128(8)),
        |request| request.ticket = "t2-2".into(),
        |request| request.digest = "8ed8".into(),
        |request| request.definition = "sha256:09ac".into(),
        |request| request.decision.verdict = Verdict::Deny,
        |request| request.decision.args = Some(json!({"command": "rm"})),
        |request| request.decision.text = Some("yes".into()),
        |request| request.decision.choice = Some("retry".into()),
        |request| request.decision.output = Some(json!(1)),
        |request| request.decision.comment = Some("fine".into()),
        |request| request.decision.always = Some(Always::Call),
        |request| request.decision.at = DecidedAt::parse("2026-11-23T16:27:58.12Z").ok(),
        |request| request.decision.at = None,
    ];
    for (nth, change) in changes.iter().enumerate() {
        let mut request = request(decision.clone());
        change(&mut request);
        let reason = reason(ada_and_bob().judge(Some(&PLACE), &request));
        let expected = match nth {
            13 => "does not say when",
            _ => "is not over this decision",
        };
        assert!(reason.contains(expected), "{nth}: {reason}");
    }
    let elsewhere = Place::Temporal {
        namespace: "default".into(),
    };
    let moved = reason(ada_and_bob().judge(Some(&elsewhere), &request(decision.clone())));
    assert!(moved.contains("is not over this decision"), "{moved}");
    let nowhere = reason(ada_and_bob().judge(None, &request(decision)));
    assert!(nowhere.contains("where the run is"), "{nowhere}");
}

#[test]
fn what_is_not_signed_by_an_approver_is_not_taken() {
    let unsigned = Decision::approve(&ticket());
    let empty = Decision {
        signature: Some(" \n".into()),
        ..unsigned.clone()
    };
    for decision in [unsigned, empty] {
        // Said also where nothing could be verified.
        for place in [Some(&PLACE), None] {
            let reason = reason(ada_and_bob().judge(place, &request(decision.clone())));
            assert_eq!(reason, "the decision is not signed");
        }
    }
    let eve = signed(3, Decision::deny(&ticket()));
    let reason = reason(ada_and_bob().judge(Some(&PLACE), &request(eve)));
    assert!(
        reason.starts_with("no approver has the key SHA256:"),
        "{reason}"
    );
}

#[test]
fn only_those_decide_to_whom_a_ticket_is_put() {
    let judged = |from: &str| {
        let request = VerifyRequest {
            from: Some(from.into()),
            ..request(signed(1, Decision::approve(&ticket())))
        };
        ada_and_bob().judge(Some(&PLACE), &request)
    };
    for from in ["ada", "ops"] {
        assert!(matches!(judged(from), VerifyOutcome::Taken(_)), "{from}");
    }
    for from in ["bob", "leads", "nobody"] {
        let expected = format!("ada may not decide it: it is put to {from}");
        assert_eq!(reason(judged(from)), expected);
    }
}

#[test]
fn a_key_that_the_file_has_now_counts_and_one_that_it_had_does_not() {
    let decision = signed(1, Decision::approve(&ticket()));
    let rotated = Approvers::new([entry("ada", &[line(&private(9))], &[])]).unwrap();
    let old = reason(rotated.judge(Some(&PLACE), &request(decision)));
    assert!(old.starts_with("no approver has the key"), "{old}");
    let new = signed(9, Decision::approve(&ticket()));
    let new = rotated.judge(Some(&PLACE), &request(new));
    assert!(matches!(new, VerifyOutcome::Taken(_)));
}

#[test]
fn without_approvers_every_decision_is_taken_as_unverified() {
    let nobody = Approvers::default();
    let decision = Decision {
        approver: Some("ada".into()),
        ..Decision::approve(&ticket())
    };
    let taken = nobody.judge(None, &request(decision.clone()));
    let expected = Verification::unverified(&decision);
    assert_eq!(taken, VerifyOutcome::Taken(expected));
    let result = VerifyRequest {
        kind: TicketKind::External,
        ..request(Decision::complete(&ticket(), json!(1)))
    };
    let reason = reason(nobody.judge(None, &result));
    assert_eq!(reason, "a result needs the token of its ticket");
    let by_ada = VerifyRequest {
        decision: signed(1, result.decision.clone()),
        ..result
    };
    let by_ada = ada_and_bob().judge(Some(&PLACE), &by_ada);
    assert!(matches!(by_ada, VerifyOutcome::Taken(taken) if taken.verified));
}

#[test]
fn a_run_that_is_not_known_enough_cannot_be_signed_for() {
    let decision = Decision {
        at: Some(DateTime::UNIX_EPOCH.into()),
        ..Decision::approve(&ticket())
    };
    let of = |status: &RunStatus, decision: &Decision| Statement::of_run(&PLACE, status, decision);
    let whole = of(&status(), &decision).unwrap();
    assert_eq!(whole.content, DecisionContent::from(&decision));
    assert_eq!(whole.at, "1970-01-01T00:00:00.000Z");
    let no_nonce = RunStatus {
        nonce: None,
        ..status()
    };
    let no_definition = RunStatus {
        definition: None,
        ..status()
    };
    let no_time = Decision {
        at: None,
        ..decision.clone()
    };
    assert_eq!(of(&no_nonce, &decision), Err(StatementError::NoNonce));
    assert_eq!(
        of(&no_definition, &decision),
        Err(StatementError::NoDefinition)
    );
    assert_eq!(of(&status(), &no_time), Err(StatementError::NoTime));
    let no_run = VerifyRequest {
        run: None,
        ..request(signed(1, decision))
    };
    let reason = reason(ada_and_bob().judge(Some(&PLACE), &no_run));
    assert_eq!(reason, "the run does not know its id");
}
