//! Tickets of every kind, and whose decisions they take.

use std::time::Duration;

use futures::executor::block_on;
use neuron_loop::{Action, AgentLoop, AgentMachine, Observation};
use neuron_types::{
    ASK_PERSON, AgentSpec, ApprovalRules, AskPerson, ContentItem, Decision, DurableError, Effect,
    EffectKind, ExitReason, FailureKind, FormRequest, GuardVerdict, Guarded, OnUnknownOutcome,
    Pending, PermissionDecision, RunEvent, RunOutput, Signal, StepFailure, StepId, Ticket,
    TicketKind, ToolOutput, Verdict, Verification, VerifyOutcome, signal,
};
use serde_json::{Value, json};

use crate::times::MINUTE;
use crate::{
    door::TestDoor,
    driver::Keep,
    support::{
        agent, answered, ask, at, authorize, calls, calls_of, decide, decide_as, exit, input,
        last_results, make, one_call, reread, says, start, starts, tickets, tool_text, verified,
        verify,
    },
};

fn ask_person(arguments: Value) -> AgentMachine {
    let mut spec = agent();
    spec.head_mut().tools.push(AskPerson::definition());
    let mut machine = answered(spec, calls(&[(ASK_PERSON, arguments)]));
    authorize(&mut machine, vec![PermissionDecision::Allow]);
    machine
}

/// A machine whose only call waits for this.
fn pending(pending: Pending) -> AgentMachine {
    let mut machine = answered(agent(), one_call("push"));
    authorize(&mut machine, vec![PermissionDecision::Allow]);
    make(&mut machine, vec![Ok(ToolOutput::pending(pending))], 3);
    machine
}

fn external() -> Pending {
    Pending::External {
        token_sha256: "9f86".into(),
        text: Some("the build runs".into()),
        schema: Some(json!({"type": "object"})),
    }
}

fn form() -> Pending {
    Pending::Form {
        requests: vec![FormRequest {
            key: "name".into(),
            message: "Who are you?".into(),
            schema: Some(json!({"type": "string"})),
            url: None,
        }],
        state: Some(json!({"page": 1})),
    }
}

/// Waits for two people's approval of a call.
fn asked_of_two(within: Option<Duration>, then: Option<&str>) -> AgentMachine {
    let mut machine = answered(agent(), one_call("push"));
    authorize(&mut machine, vec![ask()]);
    // As a rule opens it that asks for two approvers.
    let mut state = machine.state().clone();
    let open = &mut state.tickets[0];
    open.lifetime = within;
    open.ticket.needed = 2;
    open.ticket.from = Some("ops".into());
    open.ticket.then = then.map(Into::into);
    open.ticket.expires_at = within.map(|within| at(2) + within);
    AgentMachine::from(state)
}

pub(crate) fn by(ticket: &Ticket, name: &str) -> Decision {
    Decision {
        approver: Some(name.into()),
        ..Decision::approve(ticket)
    }
}

pub(crate) fn signed(name: &str, group: &str) -> VerifyOutcome {
    VerifyOutcome::Taken(Verification {
        verified: true,
        approver: Some(name.into()),
        key: Some("SHA256:7fSw".into()),
        groups: vec![group.into()],
        by_token: false,
    })
}

pub(crate) fn refusals(machine: &mut AgentMachine) -> Vec<String> {
    let events = machine.take_events().into_iter();
    let refusals = events.filter_map(|event| match event {
        RunEvent::ApprovalRefused { reason, .. } => Some(reason),
        _ => None,
    });
    refusals.collect()
}

pub(crate) fn only(machine: &AgentMachine) -> Ticket {
    let mut open = tickets(machine);
    assert_eq!(open.len(), 1, "{open:#?}");
    open.remove(0)
}

pub(crate) fn result(machine: &AgentMachine) -> (String, bool) {
    let result = last_results(machine).remove(0);
    match result.content.as_slice() {
        [ContentItem::Text(text)] => (text.clone(), result.is_error),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_question_is_answered_by_a_person_and_by_no_executor() {
    let question = json!({"question": "Which branch?", "choices": ["main", "next"]});
    let mut machine = ask_person(question);
    let ticket = only(&machine);
    assert_eq!(ticket.kind, TicketKind::Question);
    assert_eq!(ticket.text.as_deref(), Some("Which branch?"));
    assert_eq!((&ticket.tool, &ticket.args), (&None, &None));
    assert_eq!(machine.next(), Action::Wait { until: None });
    decide(&mut machine, Decision::choose(&ticket, "last"), 3);
    assert_eq!(
        refusals(&mut machine),
        ["there is no choice \"last\": choose main, next"]
    );
    decide(&mut machine, Decision::choose(&ticket, "next"), 4);
    assert_eq!(result(&machine), ("next".into(), false));
    assert_eq!(machine.state().tool_calls, 0, "nothing was called");

    let mut machine = ask_person(json!({"question": "Why?"}));
    let ticket = only(&machine);
    decide(&mut machine, Decision::answer(&ticket, "because"), 4);
    assert_eq!(result(&machine), ("because".into(), false));

    let mut machine = ask_person(json!({"question": "Why?"}));
    let ticket = only(&machine);
    decide(&mut machine, Decision::deny(&ticket), 4);
    assert_eq!(
        result(&machine),
        ("not answered: a person declined it".into(), true)
    );
    let unreadable = ask_person(json!({"choices": []}));
    assert!(result(&unreadable).0.contains("question"));
}

#[test]
fn a_question_that_is_denied_by_a_rule_is_not_asked() {
    let mut spec = agent();
    spec.head_mut().tools.push(AskPerson::definition());
    let mut machine = answered(spec, calls(&[(ASK_PERSON, json!({"question": "?"}))]));
    authorize(&mut machine, vec![PermissionDecision::Deny("no".into())]);
    assert_eq!(result(&machine), ("denied: no".into(), true));
}

#[test]
fn an_unknown_outcome_goes_as_a_person_chooses() {
    let lost = || {
        let spec = AgentSpec {
            on_unknown_outcome: OnUnknownOutcome::AskPerson,
            ..agent()
        };
        let mut machine = answered(spec, one_call("push"));
        authorize(&mut machine, vec![PermissionDecision::Allow]);
        let failure = StepFailure::new(FailureKind::OutcomeUnknown, "the worker was lost");
        make(&mut machine, vec![Err(failure)], 3);
        machine
    };
    let chosen = |choice: &str| {
        let mut machine = lost();
        let ticket = only(&machine);
        decide(&mut machine, Decision::choose(&ticket, choice), 4);
        machine
    };
    let ticket = only(&lost());
    assert_eq!(ticket.kind, TicketKind::UnknownOutcome);
    assert_eq!(
        ticket.choices,
        ["happened", "happened:JSON", "retry", "end"]
    );
    assert_eq!(ticket.text.as_deref(), Some("the worker was lost"));
    assert!(result(&chosen("happened")).0.contains("took effect"));
    assert_eq!(
        result(&chosen("happened:{\"id\":7}")),
        ("{\"id\":7}".into(), false)
    );
    assert!(starts(chosen("retry").next(), EffectKind::Tool));
    assert_eq!(exit(&chosen("end")), ExitReason::Failed);
    assert!(chosen("extend:turns=1").has_open_tickets());
    let mut denied = lost();
    decide(&mut denied, Decision::deny(&ticket), 4);
    assert_eq!(result(&denied), ("the worker was lost".into(), true));
}

#[test]
fn a_call_that_was_made_does_not_read_as_one_that_was_not_when_its_run_ends() {
    let unknown = StepFailure::new(FailureKind::OutcomeUnknown, "the worker was lost");
    let mut withheld = tool_text("pushed");
    let mut said = Guarded::default();
    let reason = "it is Sunday".to_owned();
    said.take("days", GuardVerdict::Ask { reason });
    withheld.guarded = said.into_box();
    let cases = [
        (Err(unknown), "the worker was lost"),
        (
            Ok(ToolOutput::pending(external())),
            "no result: the run ended before it",
        ),
        (
            Ok(ToolOutput::pending(form())),
            "not answered: the run ended before it",
        ),
        (Ok(withheld), "[withheld: the run ended before it]"),
    ];
    for (end, read) in cases {
        let spec = AgentSpec {
            on_unknown_outcome: OnUnknownOutcome::AskPerson,
            ..agent()
        };
        let mut machine = answered(spec, one_call("push"));
        authorize(&mut machine, vec![PermissionDecision::Allow]);
        make(&mut machine, vec![end], 3);
        only(&machine);
        let cancelled = Observation::Cancelled { reason: None };
        machine.feed(cancelled, at(4)).unwrap();
        assert_eq!(result(&machine), (read.to_owned(), true));
    }
}

#[test]
fn a_deferred_result_needs_the_token_or_a_signature_and_is_taken_once() {
    let mut machine = pending(external());
    let ticket = only(&machine);
    assert_eq!(ticket.kind, TicketKind::External);
    assert_eq!(ticket.tool.as_deref(), Some("push"));
    assert_eq!(machine.state().tool_calls, 0, "it has no result yet");
    let done = Decision::complete(&ticket, json!({"id": 7}));
    decide(&mut machine, done.clone(), 4);
    assert!(refusals(&mut machine)[0].contains("token"));
    let other = Decision::complete(&ticket, json!("text"));
    decide(&mut machine, other, 4);
    assert!(refusals(&mut machine)[0].contains("does not fit"));
    let by_token = VerifyOutcome::Taken(Verification {
        by_token: true,
        ..Verification::default()
    });
    let mut signed_instead = reread(&machine);
    decide_as(&mut machine, done.clone(), by_token, 5);
    assert_eq!(result(&machine), ("{\"id\":7}".into(), false));
    assert!(
        machine
            .feed(Observation::DecisionArrived(done.clone()), at(6))
            .is_err()
    );
    decide_as(&mut signed_instead, done, signed("ada", "ops"), 5);
    assert_eq!(result(&signed_instead), ("{\"id\":7}".into(), false));
}

#[test]
fn the_hash_of_the_token_goes_to_whoever_verifies_and_the_token_to_nobody_else() {
    let mut machine = pending(external());
    let ticket = only(&machine);
    assert_eq!(ticket.token_sha256.as_deref(), Some("9f86"));
    let decision = Decision {
        token: Some("secret".into()),
        ..Decision::complete(&ticket, json!({}))
    };
    machine
        .feed(Observation::DecisionArrived(decision.clone()), at(4))
        .unwrap();
    let Action::Start(steps) = machine.next() else {
        panic!("nothing is verified: {:?}", machine.next());
    };
    let Effect::Verify(request) = &steps[0].effect else {
        panic!("{steps:?}");
    };
    assert_eq!(request.token_sha256.as_deref(), Some("9f86"));
    assert_eq!(request.decision, decision);
    assert_eq!(request.definition, machine.agent().fingerprint());
    assert_eq!(steps[0].options.step, StepId::new(1, StepId::OWN_CALLS + 1));
    let events = serde_json::to_string(&machine.take_events()).unwrap();
    assert!(!events.contains("secret"), "{events}");
}

#[test]
fn a_form_has_its_call_made_again_with_the_answers() {
    let mut machine = pending(form());
    let ticket = only(&machine);
    assert_eq!(ticket.kind, TicketKind::Form);
    assert_eq!(ticket.text.as_deref(), Some("name: Who are you?"));
    decide(&mut machine, Decision::fill(&ticket, json!({})), 4);
    assert!(refusals(&mut machine)[0].contains("has no \"name\""));
    decide(
        &mut machine,
        Decision::fill(&ticket, json!({"name": "Ada"})),
        4,
    );
    let Some((calls, _)) = calls_of(machine.next()) else {
        panic!("not made again");
    };
    let resumed = calls[0].resumed.clone().unwrap();
    assert_eq!(resumed.answers["name"], json!("Ada"));
    assert_eq!(
        (resumed.declined, resumed.state),
        (false, Some(json!({"page": 1})))
    );
    make(&mut machine, vec![Ok(ToolOutput::pending(form()))], 5);
    let again = only(&machine);
    assert_ne!(again.ticket, ticket.ticket);
    decide(&mut machine, Decision::deny(&again), 6);
    let Some((calls, _)) = calls_of(machine.next()) else {
        panic!("not made again");
    };
    assert!(calls[0].resumed.as_ref().unwrap().declined);
    make(&mut machine, vec![Ok(ToolOutput::text("bye"))], 7);
    assert_eq!(result(&machine), ("bye".into(), false));
}

#[test]
fn a_tool_does_not_ask_for_ever() {
    let mut machine = pending(form());
    for seconds in 0..19 {
        let ticket = only(&machine);
        decide(&mut machine, Decision::deny(&ticket), seconds);
        make(&mut machine, vec![Ok(ToolOutput::pending(form()))], seconds);
    }
    let ticket = only(&machine);
    decide(&mut machine, Decision::deny(&ticket), 20);
    make(&mut machine, vec![Ok(ToolOutput::pending(form()))], 20);
    assert_eq!(
        result(&machine),
        (
            "not finished: the tool asked a person 20 times".into(),
            true
        )
    );
}

#[test]
fn two_people_are_two_names_who_approve_the_same() {
    let mut machine = asked_of_two(None, None);
    let ticket = only(&machine);
    machine.take_events();
    decide(&mut machine, Decision::approve(&ticket), 3);
    decide(&mut machine, by(&ticket, "ada"), 4);
    decide(&mut machine, by(&ticket, "ada"), 5);
    let events = machine.take_events();
    let [
        RunEvent::ApprovalRefused {
            reason: nameless, ..
        },
        RunEvent::ApprovalGiven {
            remaining: 1,
            approver,
            ..
        },
        RunEvent::ApprovalRefused { reason: twice, .. },
    ] = &events[..]
    else {
        panic!("{events:#?}");
    };
    assert!(nameless.contains("2 people"), "{nameless}");
    assert_eq!(approver.as_deref(), Some("ada"));
    assert_eq!(twice, "ada approved it already");
    let other = Decision {
        args: Some(json!({"path": "b"})),
        ..by(&ticket, "bob")
    };
    decide(&mut machine, other, 6);
    assert_eq!(
        only(&machine).decisions.len(),
        1,
        "other arguments start anew"
    );
    decide(&mut machine, by(&ticket, "bob"), 7);
    decide(&mut machine, by(&ticket, "ada"), 8);
    assert!(starts(machine.next(), EffectKind::Tool));

    let mut denied = asked_of_two(None, None);
    decide(&mut denied, by(&ticket, "ada"), 3);
    decide(&mut denied, Decision::deny(&ticket), 4);
    assert!(result(&denied).1, "one denial is enough");
}

#[test]
fn an_approver_of_another_group_is_not_taken() {
    let mut machine = asked_of_two(None, None);
    let ticket = only(&machine);
    machine.take_events();
    decide_as(&mut machine, by(&ticket, "eve"), signed("eve", "sales"), 3);
    assert_eq!(
        refusals(&mut machine),
        ["eve may not decide it: it is put to ops"]
    );
    decide_as(&mut machine, by(&ticket, "x"), signed("ada", "ops"), 4);
    let decisions = only(&machine).decisions;
    assert_eq!(
        decisions[0].name.as_deref(),
        Some("ada"),
        "the key says who"
    );
    assert_eq!(decisions[0].key.as_deref(), Some("SHA256:7fSw"));
    let no = VerifyOutcome::rejected("the signature is not of any approver");
    decide_as(&mut machine, by(&ticket, "bob"), no, 5);
    assert_eq!(only(&machine).decisions.len(), 1);
}

#[test]
fn a_ticket_goes_to_others_once_and_then_lapses() {
    let mut machine = asked_of_two(Some(MINUTE), Some("leads"));
    let ticket = only(&machine);
    decide_as(&mut machine, by(&ticket, "ada"), signed("ada", "ops"), 3);
    machine.take_events();
    assert_eq!(
        machine.next(),
        Action::Wait {
            until: Some(at(62))
        }
    );
    machine.feed(Observation::TicketsLapsed, at(62)).unwrap();
    assert_eq!(
        machine.take_events(),
        [RunEvent::ApprovalEscalated {
            ticket: ticket.ticket.clone(),
            to: "leads".into(),
            expires_at: Some(at(122)),
        }]
    );
    let escalated = only(&machine);
    assert_eq!(escalated.from.as_deref(), Some("leads"));
    assert!(escalated.decisions.is_empty());
    assert_eq!(escalated.digest, ticket.digest);
    decide_as(&mut machine, by(&ticket, "bob"), signed("bob", "ops"), 63);
    assert!(machine.has_open_tickets());
    assert_eq!(refusals(&mut machine).len(), 1);
    machine.feed(Observation::TicketsLapsed, at(122)).unwrap();
    assert!(result(&machine).1);
}

#[test]
fn a_decision_that_came_in_time_counts_while_it_is_verified() {
    let mut machine = asked_of_two(Some(MINUTE), None);
    let ticket = only(&machine);
    let arrived = Observation::DecisionArrived(Decision::deny(&ticket));
    machine.feed(arrived, at(61)).unwrap();
    let positions = verify(&mut machine, 61);
    assert_eq!(machine.next(), Action::Wait { until: None });
    let taken = VerifyOutcome::Taken(Verification::default());
    let decided = verified(positions[0], taken);
    machine.feed(decided, at(99)).unwrap();
    assert_eq!(
        result(&machine),
        ("not called: a person denied it".into(), true)
    );
}

#[test]
fn decisions_about_one_ticket_are_verified_one_after_the_other() {
    let mut machine = answered(agent(), calls(&[("push", json!({})), ("push", json!({}))]));
    authorize(&mut machine, vec![ask(), ask()]);
    let open = tickets(&machine);
    for ticket in [&open[0], &open[0], &open[1]] {
        let arrived = Observation::DecisionArrived(Decision::approve(ticket));
        machine.feed(arrived, at(3)).unwrap();
    }
    let first = verify(&mut machine, 3);
    assert_eq!(first.len(), 2, "one of each ticket");
    machine.take_events();
    let decided = |position| verified(position, VerifyOutcome::Taken(Verification::default()));
    machine.feed(decided(first[0]), at(4)).unwrap();
    assert_eq!(refusals(&mut machine), ["it is decided already"]);
    // The call that was approved starts while the other decision is verified.
    assert_eq!(start(&mut machine, 4), [1]);
    assert!(machine.wants(first[1]));
    machine.feed(decided(first[1]), at(5)).unwrap();
    assert_eq!(start(&mut machine, 5), [2]);
}

#[test]
fn a_rejected_decision_is_followed_by_the_next_one() {
    let mut machine = answered(agent(), one_call("push"));
    authorize(&mut machine, vec![ask()]);
    let ticket = only(&machine);
    for _ in 0..2 {
        let arrived = Observation::DecisionArrived(Decision::approve(&ticket));
        machine.feed(arrived, at(3)).unwrap();
    }
    let first = verify(&mut machine, 3);
    let decided = verified(first[0], VerifyOutcome::rejected("no"));
    machine.feed(decided, at(4)).unwrap();
    let second = verify(&mut machine, 4);
    assert_eq!((first.len(), second.len()), (1, 1));
    assert_ne!(first, second, "each verification is a step of its own");
}

/// A run of this door whose push a person is asked about.
fn asking_run(door: &TestDoor) -> Result<RunOutput, DurableError> {
    run_that_asks(door, false)
}

/// The ticket that was opened first.
fn asked(door: &TestDoor) -> Ticket {
    let mut events = door.events().into_iter();
    let ticket = events.find_map(|event| match event {
        RunEvent::ApprovalRequested { ticket, .. } => Some(ticket),
        _ => None,
    });
    ticket.unwrap()
}

fn run_that_asks(door: &TestDoor, signed: bool) -> Result<RunOutput, DurableError> {
    let spec = AgentSpec {
        signed,
        approvals: ApprovalRules {
            approve: vec!["push".into()],
            ..ApprovalRules::default()
        },
        ..agent()
    };
    block_on(AgentLoop::new(door.clone(), Keep, input(spec)).run())
}

#[test]
fn twenty_raw_decisions_about_a_ticket_are_looked_at_and_any_number_of_others() {
    let script = || vec![one_call("push"), says("done")];
    let door = TestDoor::new(script());
    asking_run(&door).unwrap_err();
    let ticket = asked(&door);
    let approval = Decision::approve(&ticket);
    let by = |name: &str| {
        let decision = Decision {
            approver: Some(name.into()),
            ..approval.clone()
        };
        Signal::new(signal::DECISION, json!(decision))
    };
    let door = TestDoor::new(script());
    for _ in 0..30 {
        door.put(by("mallory").unlooked());
    }
    for _ in 0..40 {
        door.put(by("mallory"));
    }
    for _ in 0..70 {
        door.put(by("mallory").unlooked());
    }
    door.put(by("ada"));
    assert_eq!(
        asking_run(&door).unwrap().output.as_deref(),
        Some("done"),
        "{:?}",
        door.events()
    );
    assert_eq!(door.verified(), 20 + 40 + 1);
    let dropped = door.events().into_iter().filter_map(|event| match event {
        RunEvent::ApprovalRefused { reason, .. } => Some(reason.starts_with("20 signals")),
        _ => None,
    });
    let dropped = dropped.filter(|is_dropped| *is_dropped).count();
    // A raw signal takes this door a second.
    assert!((2..=3).contains(&dropped), "{dropped}: one a minute");
}

#[test]
fn twenty_raw_decisions_about_no_open_ticket_are_looked_at() {
    let script = || vec![one_call("push"), says("done")];
    let door = TestDoor::new(script());
    asking_run(&door).unwrap_err();
    let ticket = asked(&door);
    let door = TestDoor::new(script());
    for number in 0..60 {
        let mut stray = Decision::approve(&ticket);
        stray.ticket = format!("t9-{number}");
        door.put(Signal::new(signal::DECISION, json!(stray)).unlooked());
        door.put(Signal::new(signal::DECISION, json!({"number": number})).unlooked());
    }
    // None of them closes a ticket to others.
    let approval = json!(Decision::approve(&ticket));
    door.put(Signal::new(signal::DECISION, approval).unlooked());
    let output = asking_run(&door).unwrap();
    assert_eq!(output.output.as_deref(), Some("done"));
    let said: Vec<_> =
        door.events()
            .into_iter()
            .filter_map(|event| match event {
                RunEvent::ApprovalRefused { reason, .. }
                | RunEvent::SignalIgnored { reason, .. } => Some(reason),
                _ => None,
            })
            .collect();
    let dropped = said
        .iter()
        .filter(|reason| reason.starts_with("20 signals"));
    let dropped = dropped.count();
    // A raw signal takes this door a second.
    assert!((2..=3).contains(&dropped), "{dropped}: one a minute");
    assert_eq!(said.len() - dropped, 20, "{said:?}");
}

#[test]
fn a_large_decision_that_comes_as_a_raw_signal_keeps_no_other_out_of_a_signed_run() {
    let script = || vec![one_call("push"), says("done")];
    let door = TestDoor::new(script());
    asking_run(&door).unwrap_err();
    let ticket = asked(&door);
    let large = Decision {
        comment: Some("x".repeat(300 * 1024)),
        ..Decision::deny(&ticket)
    };
    for is_signed in [true, false] {
        let door = TestDoor::new(script());
        door.put(Signal::new(signal::DECISION, json!(large)).unlooked());
        let ended = run_that_asks(&door, is_signed);
        let expected = "as a signal it may have 8192 bytes: send it as anything else";
        let said = door.events().into_iter().any(
            |event| matches!(event, RunEvent::ApprovalRefused { reason, .. } if reason == expected),
        );
        // The signal decides where no signature is required.
        assert_eq!((said, ended.is_ok()), (is_signed, !is_signed));
    }
}

#[test]
fn what_waits_to_be_verified_is_bounded_in_count_and_in_bytes() {
    let mut machine = answered(agent(), calls(&[("push", json!({})), ("push", json!({}))]));
    authorize(&mut machine, vec![ask(), ask()]);
    let open = tickets(&machine);
    let (one, other) = (&open[0], &open[1]);
    let large = |ticket: &Ticket, bytes: usize| Decision {
        comment: Some("x".repeat(bytes)),
        ..Decision::approve(ticket)
    };
    let send = |machine: &mut AgentMachine, decision: Decision| {
        machine.take_events();
        let arrived = Observation::DecisionArrived(decision);
        machine.feed(arrived, at(3)).unwrap();
        refusals(machine).pop()
    };
    for _ in 0..32 {
        assert_eq!(send(&mut machine, Decision::approve(one)), None);
    }
    let refused = send(&mut machine, Decision::approve(one));
    let expected = "32 decisions about it wait to be verified: send it again when they were";
    assert_eq!(refused.as_deref(), Some(expected));
    // It closes no other ticket.
    assert_eq!(send(&mut machine, large(other, 200 * 1024)), None);
    let refused = send(&mut machine, large(other, 100 * 1024)).unwrap();
    assert!(refused.starts_with("decisions of "), "{refused}");
    // One that was verified makes room.
    let position = verify(&mut machine, 4)[0];
    let decided = verified(position, VerifyOutcome::rejected("no"));
    machine.feed(decided, at(4)).unwrap();
    assert_eq!(send(&mut machine, Decision::approve(one)), None);

    // The result of a deferred tool may be large.
    let mut machine = answered(agent(), one_call("push"));
    authorize(&mut machine, vec![ask()]);
    let alone = large(&only(&machine), 1024 * 1024);
    assert_eq!(send(&mut machine, alone), None);
}

#[test]
fn a_ticket_and_the_runs_start_say_which_run_it_is() {
    let spec = AgentSpec {
        approvals: ApprovalRules {
            approve: vec!["push".into()],
            ..ApprovalRules::default()
        },
        ..agent()
    };
    let mut started = input(spec);
    started.directory = Some("/srv/site".into());
    let door = TestDoor::new(vec![one_call("push"), says("done")]);
    block_on(AgentLoop::new(door.clone(), Keep, started).run()).unwrap_err();
    let events = door.events();
    let ticket = events.iter().find_map(|event| match event {
        RunEvent::ApprovalRequested { ticket, .. } => Some(ticket.clone()),
        _ => None,
    });
    let ticket = ticket.unwrap();
    assert_eq!(ticket.run.as_ref().map(|run| run.as_str()), Some("run"));
    assert!(matches!(
        &events[0],
        RunEvent::RunStarted { nonce: Some(nonce), directory: Some(directory), .. }
            if nonce.is_nil() && directory == "/srv/site"
    ));
    let digest = neuron_types::ticket_digest(&ticket, Some(uuid::Uuid::nil()), Some("/srv/site"));
    assert_eq!(ticket.digest, digest);
}

#[test]
fn a_decision_is_verified_through_the_door_before_it_counts() {
    let spec = AgentSpec {
        approvals: ApprovalRules {
            approve: vec!["push".into()],
            ..ApprovalRules::default()
        },
        ..agent()
    };
    let door = TestDoor::new(vec![one_call("push"), says("done")]);
    let mut run = AgentLoop::new(door.clone(), Keep, input(spec));
    block_on(run.run()).unwrap_err();
    let ticket = only(run.machine());
    door.signal(
        "decision",
        serde_json::to_value(Decision::of(&ticket, Verdict::Approve)).unwrap(),
    );
    let output = block_on(run.run()).unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(door.verified(), 1);
    assert_eq!(door.batches(), [["c1"]]);
}
