//! What a ticket is, which decisions suit it, and its digest.

use chrono::DateTime;
use neuron_types::{
    Always, AskPerson, Asking, Choice, DecidedAt, Decision, RunId, Ticket, TicketKind, Verdict,
    Verification, VerifyOutcome, ticket_digest,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::strategies::approval;

fn of(kind: TicketKind) -> Ticket {
    Ticket {
        ticket: "t1-1".into(),
        kind,
        digest: "d".into(),
        choices: Choice::listed(kind),
        ..Ticket::default()
    }
}

fn with_choice(choice: &str) -> Decision {
    Decision {
        verdict: Verdict::Choose,
        choice: Some(choice.into()),
        ..Decision::default()
    }
}

/// A decision of each verdict that is whole in itself.
fn decisions(ticket: &Ticket) -> Vec<Decision> {
    vec![
        Decision::approve(ticket),
        Decision::deny(ticket),
        Decision {
            args: Some(json!({})),
            ..Decision::answer(ticket, "yes")
        },
        Decision::complete(ticket, json!(1)),
        Decision::choose(ticket, "end"),
    ]
}

#[test]
fn every_kind_takes_its_own_verdicts() {
    for (kind, taken) in [
        (TicketKind::Call, "approve deny"),
        (TicketKind::Question, "deny answer"),
        (TicketKind::Failure, "choose"),
        (TicketKind::Budget, "choose"),
        (TicketKind::UnknownOutcome, "deny choose"),
        (TicketKind::Form, "deny answer"),
        (TicketKind::External, "deny complete"),
    ] {
        let ticket = of(kind);
        let suiting: Vec<&str> = decisions(&ticket)
            .iter()
            .filter(|decision| ticket.suits(decision).is_ok())
            .map(|decision| decision.verdict.as_str())
            .collect();
        assert_eq!(suiting.join(" "), taken, "{kind}");
    }
}

#[test]
fn what_does_not_suit_is_said_in_a_sentence() {
    let wrong = of(TicketKind::Call).suits(&with_choice("end"));
    assert_eq!(
        wrong.unwrap_err(),
        "a ticket of kind call takes approve or deny and not choose"
    );
    let question = Ticket {
        choices: vec!["main".into(), "next".into()],
        ..of(TicketKind::Question)
    };
    assert!(question.suits(&with_choice("next")).is_ok());
    assert_eq!(
        question.suits(&with_choice("last")).unwrap_err(),
        "there is no choice \"last\": choose main, next"
    );
    assert!(question.suits(&Decision::answer(&question, "mine")).is_ok());
    let nameless = Decision::of(&question, Verdict::Choose);
    assert!(question.suits(&nameless).is_err());
}

#[test]
fn a_decision_is_for_later_calls_too_only_where_one_person_may_say_so() {
    let call = Ticket {
        prefix: Some("bash(command=git *)".into()),
        ..of(TicketKind::Call)
    };
    for always in Always::ALL {
        let lasting = |ticket: &Ticket, verdict| {
            ticket.suits(&Decision {
                always: Some(always),
                ..Decision::of(ticket, verdict)
            })
        };
        for verdict in [Verdict::Approve, Verdict::Deny] {
            assert_eq!(lasting(&call, verdict), Ok(()), "{always}");
            let (mut of_two, mut of_ops) = (call.clone(), call.clone());
            of_two.needed = 2;
            of_ops.from = Some("ops".into());
            for ticket in [of_two, of_ops] {
                let reason = lasting(&ticket, verdict).unwrap_err();
                assert!(reason.contains("asked each time"), "{reason}");
            }
        }
        assert_eq!(
            lasting(&of(TicketKind::Call), Verdict::Deny).is_err(),
            always == Always::Prefix
        );
        let question = lasting(&of(TicketKind::Question), Verdict::Deny);
        assert_eq!(
            question.unwrap_err(),
            "what is decided about a ticket of kind question is for this ticket only: leave `always` out"
        );
    }
}

#[test]
fn choices_are_those_of_the_kind() {
    let lost = |text: &str| Choice::parse(TicketKind::UnknownOutcome, text);
    assert_eq!(lost("retry"), Ok(Choice::Retry));
    assert_eq!(lost("end"), Ok(Choice::End));
    assert_eq!(lost("happened"), Ok(Choice::Happened(None)));
    assert_eq!(lost("happened:[1]"), Ok(Choice::Happened(Some(json!([1])))));
    assert!(lost("happened:[1").is_err());
    assert!(lost("retry:model").is_err());
    let failed = Choice::parse(TicketKind::Failure, "retry:openai/gpt-6.1-terra");
    assert_eq!(failed, Ok(Choice::RetryWith("openai/gpt-6.1-terra".into())));
    let more = Choice::parse(TicketKind::Budget, "extend:cost_usd=2.50");
    let extend = Choice::Extend {
        key: "cost_usd".into(),
        by: "2.50".into(),
    };
    assert_eq!(more, Ok(extend.clone()));
    assert_eq!(extend.to_string(), "extend:cost_usd=2.50");
    let budget = of(TicketKind::Budget);
    for text in ["turns=5", "tokens=1_000", "cost_usd=0.50", "deadline=2d"] {
        let extend = Decision::choose(&budget, format!("extend:{text}"));
        assert_eq!(budget.suits(&extend), Ok(()), "{text}");
    }
    for text in [
        "turns=0",
        "turns=-1",
        "cost_usd=0",
        "duration=5",
        "deadline=1w",
        "colour=1",
    ] {
        let extend = Decision::choose(&budget, format!("extend:{text}"));
        assert!(budget.suits(&extend).is_err(), "{text}");
    }
    let mut failure = of(TicketKind::Failure);
    let other = Decision::choose(&failure, "retry:openai/gpt-6.1-terra");
    assert!(failure.suits(&other).is_err(), "the model is not listed");
    failure.choices = vec!["retry:openai/gpt-6.1-terra".into()];
    assert_eq!(failure.suits(&other), Ok(()));
    for text in ["extend", "extend:cost_usd", "extend:=1", "retry"] {
        assert!(Choice::parse(TicketKind::Budget, text).is_err(), "{text}");
    }
}

#[test]
fn answers_and_results_are_held_against_their_schema() {
    let schema = json!({
        "type": "object",
        "properties": {
            "who": {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]},
            "tone": {"enum": ["kind", "plain"]},
        },
        "required": ["who"],
    });
    let form = Ticket {
        schema: Some(schema),
        ..of(TicketKind::Form)
    };
    let filled = |answers: Value| form.suits(&Decision::fill(&form, answers));
    assert_eq!(filled(json!({"who": {"age": 7}, "tone": "kind"})), Ok(()));
    for (answers, said) in [
        (json!([]), "a JSON object"),
        (json!({}), "has no \"who\""),
        (json!({"who": 7}), "who is not of type \"object\""),
        (json!({"who": {}}), "who has no \"age\""),
        (json!({"who": {"age": 0.5}}), "who.age is not of type"),
        (
            json!({"who": {"age": 7}, "tone": "loud"}),
            "tone is none of",
        ),
    ] {
        let error = filled(answers).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
    let result = Ticket {
        schema: Some(json!({"type": ["string", "null"]})),
        ..of(TicketKind::External)
    };
    assert!(
        result
            .suits(&Decision::complete(&result, json!("done")))
            .is_ok()
    );
    assert!(
        result
            .suits(&Decision::of(&result, Verdict::Complete))
            .is_ok()
    );
    assert!(
        result
            .suits(&Decision::complete(&result, json!(1)))
            .is_err()
    );
}

#[test]
fn names_count_once_and_other_arguments_start_anew() {
    let mut ticket = Ticket {
        needed: 2,
        ..of(TicketKind::Call)
    };
    let given = |name: &str, args: Option<Value>| neuron_types::Given {
        name: Some(name.into()),
        key: None,
        verified: false,
        at: chrono::DateTime::UNIX_EPOCH,
        args,
    };
    ticket.give(given("ada", None));
    ticket.give(given("ada", None));
    assert_eq!(ticket.remaining(), 1);
    ticket.give(given("bob", Some(json!({"path": "b"}))));
    assert_eq!((ticket.remaining(), ticket.decisions.len()), (1, 1));
    ticket.escalate("leads", None);
    assert_eq!(ticket.remaining(), 2);
    assert_eq!((ticket.from.as_deref(), ticket.then), (Some("leads"), None));
}

#[test]
fn only_a_verified_approver_is_held_against_a_group() {
    let ada = Verification {
        verified: true,
        approver: Some("ada".into()),
        groups: vec!["ops".into()],
        ..Verification::default()
    };
    assert!(ada.is_from(None) && ada.is_from(Some("ops")) && ada.is_from(Some("ada")));
    assert!(!ada.is_from(Some("leads")));
    let nobody = Verification::unverified(&Decision::default());
    assert!(nobody.is_from(Some("leads")), "there are no approvers");
    let json = serde_json::to_value(VerifyOutcome::rejected("no key")).unwrap();
    assert_eq!(json, json!({"rejected": {"reason": "no key"}}));
}

#[test]
fn a_question_reads_back_from_its_tool() {
    let call = json!({"question": "Which?", "choices": ["a", "b"]});
    let asked: AskPerson = serde_json::from_value(call).unwrap();
    assert_eq!(asked.choices, ["a", "b"]);
    assert_eq!(AskPerson::definition().name, neuron_types::ASK_PERSON);
}

#[test]
fn asking_takes_a_reason_alone() {
    let asking: Asking = serde_json::from_value(json!({"reason": "r"})).unwrap();
    assert_eq!(asking, Asking::new("r"));
    assert_eq!(asking.needed, 1);
}

proptest! {
    #[test]
    fn whatever_makes_the_question_changes_the_digest(ticket in approval::ticket(), nonce in any::<u128>()) {
        let nonce = Some(Uuid::from_u128(nonce));
        let digest = ticket_digest(&ticket, nonce, Some("/srv"));
        prop_assert_eq!(digest.len(), 64);
        prop_assert_ne!(&digest, &ticket_digest(&ticket, None, Some("/srv")));
        prop_assert_ne!(&digest, &ticket_digest(&ticket, nonce, None));
        let changed = [
            Ticket { run: Some(RunId::new("other").unwrap()), ..ticket.clone() },
            Ticket { ticket: format!("{}x", ticket.ticket), ..ticket.clone() },
            Ticket { tool: Some(format!("{:?}x", ticket.tool)), ..ticket.clone() },
            Ticket { args: Some(json!([ticket.args])), ..ticket.clone() },
            Ticket { text: Some(format!("{:?}x", ticket.text)), ..ticket.clone() },
            Ticket { diff: Some(format!("{:?}x", ticket.diff)), ..ticket.clone() },
            Ticket { prefix: Some(format!("{:?}x", ticket.prefix)), ..ticket.clone() },
            Ticket { fingerprint: Some(format!("{:?}x", ticket.fingerprint)), ..ticket.clone() },
            Ticket { schema: Some(json!([ticket.schema])), ..ticket.clone() },
            Ticket { choices: [&ticket.choices[..], &["x".to_owned()]].concat(), ..ticket.clone() },
        ];
        for other in &changed {
            prop_assert_ne!(&digest, &ticket_digest(other, nonce, Some("/srv")));
        }
        let shown_otherwise = Ticket {
            digest: "x".into(),
            reason: "x".into(),
            from: None,
            decisions: vec![],
            expires_at: None,
            ..ticket
        };
        prop_assert_eq!(&digest, &ticket_digest(&shown_otherwise, nonce, Some("/srv")));
    }
}

#[test]
fn the_time_of_a_decision_keeps_its_text() {
    for text in [
        "2026-11-23T16:27:58.123Z",
        "2026-11-23T17:27:58.123000+01:00",
        "2026-11-23t16:27:58.123z",
    ] {
        let at: DecidedAt = serde_json::from_value(json!(text)).unwrap();
        assert_eq!(json!(at), json!(text));
        assert_eq!(at.time().timestamp_millis(), 1_795_451_278_123);
    }
    let at = DecidedAt::from(DateTime::from_timestamp(1_795_451_278, 123_456_789).unwrap());
    assert_eq!(at.as_str(), "2026-11-23T16:27:58.123Z");
    assert_eq!(DecidedAt::parse(at.as_str()), Ok(at));
    let long = format!("2026-11-23T16:27:58.{}Z", "1".repeat(64));
    for text in ["", "yesterday", "2026-11-23", &long] {
        let error = serde_json::from_value::<DecidedAt>(json!(text)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "this is no time as in 2026-11-23T16:27:58.123Z"
        );
    }
}
