//! Tickets: opened, decided, lapsed.

use futures::executor::block_on;
use neuron_loop::{Action, AgentLoop, AgentMachine, Observation};
use neuron_types::{
    AgentSpec, Always, ArgumentKind, Asking, ContentItem, Decision, ExitReason, FailureKind,
    Limits, OnExpiry, OnUnknownOutcome, PermissionDecision, RunEvent, RunPhase, StepFailure,
    StepId, Verdict,
};
use serde_json::json;

use crate::driver::Keep;
use crate::support::{
    agent, answered, ask, at, authorize, calls, calls_of, decide, exit, last_results, make,
    model_ended, one_call, reread, start, tickets, to_model_call, tool_ended, tool_text,
};
use crate::times::{MINUTE, SECOND};

fn decision(machine: &AgentMachine, nth: usize, verdict: Verdict) -> Decision {
    let output = machine.output(&"r".parse().unwrap(), "local");
    let ticket = &output.approvals[nth];
    Decision {
        ticket: ticket.ticket.clone(),
        digest: ticket.digest.clone(),
        verdict,
        ..Decision::default()
    }
}

#[test]
fn a_remembered_decision_answers_the_same_question_and_no_other() {
    let asked = |path: &str| ("push", json!({"path": path}));
    let mut machine = answered(agent(), calls(&[asked("a")]));
    authorize(&mut machine, vec![ask()]);
    let remembered = Decision {
        comment: Some("never".into()),
        always: Some(Always::Tool),
        ..decision(&machine, 0, Verdict::Deny)
    };
    decide(&mut machine, remembered, 3);
    // In another process the run still knows.
    let mut machine = reread(&machine);
    machine.take_events();
    to_model_call(&mut machine);
    let other = PermissionDecision::Ask("another reason".into());
    let again = calls(&[asked("b"), asked("c")]);
    model_ended(&mut machine, Ok(again), 4);
    authorize(&mut machine, vec![ask(), other]);
    let tickets = machine.output(&"r".parse().unwrap(), "local").approvals;
    let reasons: Vec<&str> = tickets.iter().map(|open| open.reason.as_str()).collect();
    assert_eq!(reasons, ["another reason"]);
    let repeated = machine
        .take_events()
        .into_iter()
        .find_map(|event| match event {
            RunEvent::DecisionRepeated { verdict, .. } => Some(verdict),
            _ => None,
        });
    assert_eq!(repeated, Some(Verdict::Deny));
}

#[test]
fn calls_that_need_no_ticket_run_while_another_waits_for_a_person() {
    let mut machine = answered(agent(), calls(&[("push", json!({})), ("look", json!({}))]));
    authorize(&mut machine, vec![ask(), PermissionDecision::Allow]);
    let events = machine.take_events();
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, RunEvent::Waiting { .. }))
    );
    let Some((calls, _)) = calls_of(machine.next()) else {
        panic!("nothing runs");
    };
    assert_eq!(calls[0].id, "c2");
    make(&mut machine, vec![Ok(tool_text("x"))], 3);
    assert_eq!(machine.next(), Action::Wait { until: None });
    assert_eq!(
        machine.take_events().last(),
        Some(&RunEvent::Waiting {
            state: RunPhase::WaitingForApproval
        })
    );
}

#[test]
fn approved_and_denied_calls_keep_their_order() {
    let mut machine = answered(agent(), calls(&[("push", json!({})), ("push", json!({}))]));
    authorize(&mut machine, vec![ask(), ask()]);
    let approve_second = decision(&machine, 1, Verdict::Approve);
    let mut deny_first = decision(&machine, 0, Verdict::Deny);
    deny_first.comment = Some("not today".into());
    deny_first.approver = Some("Ada".into());
    decide(&mut machine, approve_second, 4);
    // The approved call starts beside the verification of the other decision.
    decide(&mut machine, deny_first, 5);
    machine
        .feed(tool_ended(2, Ok(tool_text("ok"))), at(6))
        .unwrap();
    let results = last_results(&machine);
    assert_eq!(
        results[0].content,
        [ContentItem::Text(
            "not called: Ada denied it: not today".into()
        )]
    );
    assert_eq!(results[1].content, [ContentItem::Text("ok".into())]);
}

#[test]
fn edited_arguments_are_used_and_the_model_is_told() {
    let mut machine = answered(agent(), one_call("push"));
    authorize(&mut machine, vec![ask()]);
    let mut edited = decision(&machine, 0, Verdict::Approve);
    edited.args = Some(json!({"path": "b"}));
    decide(&mut machine, edited, 4);
    let Some((calls, _)) = calls_of(machine.next()) else {
        panic!("not made");
    };
    assert_eq!(calls[0].input, json!({"path": "b"}));
    make(&mut machine, vec![Ok(tool_text("ok"))], 5);
    let note = "[a person changed the arguments to {\"path\":\"b\"}]";
    assert_eq!(
        last_results(&machine)[0].content[0],
        ContentItem::Text(note.into())
    );
}

#[test]
fn a_decision_is_remembered_for_what_the_person_said_and_no_more() {
    let commands = ["git push a", "git push b", "git push; ls", "git log"];
    let run = |command: &str| ("push", json!({ "command": command }));
    let beside_the_call = &commands[1..];
    let beside_the_prefix = &commands[2..];
    for (always, verdict, expected) in [
        (Always::Call, Verdict::Approve, beside_the_call),
        (Always::Call, Verdict::Deny, beside_the_call),
        // Approved is what is certainly nothing more, and denied what has such a command.
        (Always::Prefix, Verdict::Approve, beside_the_prefix),
        (Always::Prefix, Verdict::Deny, &commands[3..]),
        (Always::Tool, Verdict::Approve, &commands[4..]),
        (Always::Tool, Verdict::Deny, &commands[4..]),
    ] {
        let mut spec = agent();
        for tool in &mut spec.head_mut().tools {
            tool.arguments = [("command".to_owned(), ArgumentKind::ShellCommand)].into();
        }
        let mut machine = answered(spec, calls(&[run("git push a")]));
        authorize(&mut machine, vec![ask()]);
        assert_eq!(
            tickets(&machine)[0].prefix.as_deref(),
            Some("push(command=git push *)")
        );
        let remembered = Decision {
            always: Some(always),
            ..decision(&machine, 0, verdict)
        };
        decide(&mut machine, remembered, 3);
        if verdict == Verdict::Approve {
            make(&mut machine, vec![Ok(tool_text("ok"))], 3);
        }
        let mut machine = reread(&machine);
        to_model_call(&mut machine);
        let again = calls(&commands.map(run));
        model_ended(&mut machine, Ok(again), 4);
        authorize(&mut machine, vec![ask(); commands.len()]);
        let open = tickets(&machine);
        let asked: Vec<&str> = open
            .iter()
            .map(|ticket| ticket.args_or_null()["command"].as_str().unwrap())
            .collect();
        assert_eq!(asked, expected, "{verdict:?} {always}");
    }
}

#[test]
fn a_decision_with_other_arguments_is_remembered_for_those() {
    let asked = |path: &str| ("push", json!({ "path": path }));
    let mut machine = answered(agent(), calls(&[asked("a")]));
    authorize(&mut machine, vec![ask()]);
    let edited = Decision {
        args: Some(json!({"path": "b"})),
        always: Some(Always::Call),
        ..decision(&machine, 0, Verdict::Approve)
    };
    decide(&mut machine, edited, 3);
    make(&mut machine, vec![Ok(tool_text("ok"))], 3);
    to_model_call(&mut machine);
    let again = calls(&[asked("a"), asked("b")]);
    model_ended(&mut machine, Ok(again), 4);
    authorize(&mut machine, vec![ask(), ask()]);
    let open = tickets(&machine);
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].args_or_null()["path"], "a");
}

#[test]
fn a_group_and_several_people_are_asked_whatever_was_decided_before() {
    let mut machine = answered(agent(), one_call("push"));
    authorize(&mut machine, vec![ask()]);
    let remembered = Decision {
        always: Some(Always::Tool),
        ..decision(&machine, 0, Verdict::Deny)
    };
    decide(&mut machine, remembered, 3);
    to_model_call(&mut machine);
    let again = calls(&[
        ("push", json!({})),
        ("push", json!({})),
        ("push", json!({})),
    ]);
    model_ended(&mut machine, Ok(again), 4);
    let of_ops = Asking {
        from: Some("ops".into()),
        ..Asking::new("look first")
    };
    let of_two = Asking {
        needed: 2,
        ..Asking::new("look first")
    };
    let asking = [of_ops, of_two].map(PermissionDecision::Ask);
    authorize(&mut machine, asking.into_iter().chain([ask()]).collect());
    assert_eq!(tickets(&machine).len(), 2);
}

#[test]
fn a_decision_for_later_calls_is_rejected_where_the_ticket_does_not_take_it() {
    for (asking, always, said) in [
        (Asking::new("look first"), Always::Prefix, "has no prefix"),
        (
            Asking {
                from: Some("ops".into()),
                ..Asking::new("look first")
            },
            Always::Tool,
            "is put to ops, who is asked each time",
        ),
        (
            Asking {
                needed: 2,
                ..Asking::new("look first")
            },
            Always::Call,
            "needs 2 people, who are asked each time",
        ),
    ] {
        let mut machine = answered(agent(), one_call("push"));
        authorize(&mut machine, vec![PermissionDecision::Ask(asking)]);
        let before = machine.next();
        machine.take_events();
        for verdict in [Verdict::Approve, Verdict::Deny] {
            let wider = Decision {
                always: Some(always),
                ..decision(&machine, 0, verdict)
            };
            decide(&mut machine, wider, 3);
            assert_eq!(machine.next(), before);
            let events = machine.take_events();
            let [RunEvent::ApprovalRefused { reason, .. }] = &events[..] else {
                panic!("{events:?}");
            };
            assert!(reason.contains(said), "{reason}");
        }
    }
}

#[test]
fn edited_arguments_that_do_not_fit_or_are_denied_are_refused_and_the_ticket_stays_open() {
    let mut spec = agent();
    let mut tools = spec.head.tools.clone();
    for tool in &mut tools {
        tool.input_schema = json!({
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
        });
        tool.arguments = [("path".to_owned(), ArgumentKind::Path)].into();
    }
    spec.head_mut().tools = tools;
    spec.approvals.deny = vec!["push(path=secret/*)".into()];
    let mut machine = answered(spec, one_call("push"));
    authorize(&mut machine, vec![ask()]);
    let before = machine.next();
    machine.take_events();
    for (args, said) in [
        (
            json!({"path": "./secret//x"}),
            "the agent may not call push with path=secret/*",
        ),
        (json!({"path": 3}), "at /path: it is a number"),
        (json!({}), "\"path\" is missing"),
        (json!("x"), "an object is wanted"),
    ] {
        let mut edited = decision(&machine, 0, Verdict::Approve);
        edited.args = Some(args);
        machine
            .feed(Observation::DecisionArrived(edited), at(4))
            .unwrap();
        assert_eq!(machine.next(), before);
        let events = machine.take_events();
        let [RunEvent::ApprovalRefused { reason, .. }] = &events[..] else {
            panic!("{events:?}");
        };
        assert!(reason.contains(said), "{reason}");
    }
    let mut edited = decision(&machine, 0, Verdict::Approve);
    edited.args = Some(json!({"path": "open/x"}));
    machine
        .feed(Observation::DecisionArrived(edited), at(4))
        .unwrap();
    assert_ne!(machine.next(), before);
}

#[test]
fn a_decision_with_a_wrong_digest_or_ticket_is_refused_and_the_run_goes_on_waiting() {
    let mut machine = answered(agent(), one_call("push"));
    authorize(&mut machine, vec![ask()]);
    let before = machine.next();
    let mut wrong_digest = decision(&machine, 0, Verdict::Approve);
    wrong_digest.digest = "0".into();
    let mut unknown = decision(&machine, 0, Verdict::Approve);
    unknown.ticket = "t9-9".into();
    machine.take_events();
    for refused in [wrong_digest, unknown] {
        decide(&mut machine, refused, 4);
        assert_eq!(machine.next(), before);
        let events = machine.take_events();
        assert!(matches!(events[..], [RunEvent::ApprovalRefused { .. }]));
    }
}

#[test]
fn a_ticket_is_used_once() {
    let mut machine = answered(agent(), calls(&[("push", json!({})), ("push", json!({}))]));
    authorize(&mut machine, vec![ask(), ask()]);
    let approve = decision(&machine, 0, Verdict::Approve);
    decide(&mut machine, approve.clone(), 4);
    machine.take_events();
    decide(&mut machine, approve, 4);
    let events = machine.take_events();
    assert!(matches!(events[..], [RunEvent::ApprovalRefused { .. }]));
}

#[test]
fn a_lapsed_ticket_denies_the_call_or_fails_the_run() {
    let lapsing = |on_expiry| {
        let spec = AgentSpec {
            approval_timeout: Some(MINUTE),
            on_expiry,
            ..agent()
        };
        let mut machine = answered(spec, one_call("push"));
        authorize(&mut machine, vec![ask()]);
        assert_eq!(
            machine.next(),
            Action::Wait {
                until: Some(at(62))
            }
        );
        machine.feed(Observation::TicketsLapsed, at(61)).unwrap();
        assert!(machine.has_open_tickets(), "it lapsed too early");
        machine.feed(Observation::TicketsLapsed, at(62)).unwrap();
        machine
    };
    let denied = lapsing(OnExpiry::Deny);
    assert_eq!(denied.next(), Action::TakeMessages);
    assert!(last_results(&denied)[0].is_error);
    assert_eq!(exit(&lapsing(OnExpiry::Fail)), ExitReason::Failed);
}

#[test]
fn an_unknown_outcome_is_told_to_the_model_or_put_to_a_person() {
    let unknown = || StepFailure::new(FailureKind::OutcomeUnknown, "the worker was lost");
    let lost = |on_unknown_outcome| {
        let spec = AgentSpec {
            on_unknown_outcome,
            ..agent()
        };
        let mut machine = answered(spec, one_call("push"));
        authorize(&mut machine, vec![PermissionDecision::Allow]);
        make(&mut machine, vec![Err(unknown())], 3);
        machine
    };
    let told = lost(OnUnknownOutcome::TellModel);
    assert!(last_results(&told)[0].is_error);

    let mut asked = lost(OnUnknownOutcome::AskPerson);
    assert_eq!(asked.next(), Action::Wait { until: None });
    let approve = Decision {
        choice: Some("retry".into()),
        ..decision(&asked, 0, Verdict::Choose)
    };
    decide(&mut asked, approve, 4);
    let Some((_, options)) = calls_of(asked.next()) else {
        panic!("not made again");
    };
    assert_eq!(options[0].step, StepId::new(1, 1));
    make(&mut asked, vec![Err(unknown())], 5);
    let second = decision(&asked, 0, Verdict::Deny);
    assert_eq!(
        second.ticket, "t1-1-2",
        "each question has a ticket of its own"
    );
}

#[test]
fn time_spent_waiting_for_a_person_does_not_count() {
    let limits = Limits {
        duration: Some(30 * SECOND),
        ..Limits::default()
    };
    let mut machine = answered(AgentSpec { limits, ..agent() }, one_call("push"));
    authorize(&mut machine, vec![ask()]);
    let approve = decision(&machine, 0, Verdict::Approve);
    decide(&mut machine, approve, 86_400);
    make(&mut machine, vec![Ok(tool_text("x"))], 86_401);
    machine
        .feed(Observation::Messages(vec![]), at(86_402))
        .unwrap();
    assert_eq!(machine.next(), Action::Compact { required: false });
}

#[test]
fn an_approved_call_starts_while_its_neighbour_still_runs() {
    let mut machine = answered(agent(), calls(&[("look", json!({})), ("push", json!({}))]));
    authorize(&mut machine, vec![PermissionDecision::Allow, ask()]);
    assert_eq!(start(&mut machine, 2), [1]);
    assert_eq!(machine.next(), Action::Wait { until: None });
    let approve = decision(&machine, 0, Verdict::Approve);
    decide(&mut machine, approve, 3);
    assert_eq!(start(&mut machine, 3), [2]);
    for position in [2, 1] {
        let result = Ok(tool_text("x"));
        let answered = tool_ended(position, result);
        machine.feed(answered, at(4)).unwrap();
    }
    let ids: Vec<String> = last_results(&machine)
        .into_iter()
        .map(|result| result.tool_use_id)
        .collect();
    assert_eq!(ids, ["c1", "c2"], "the model reads them in its own order");
}

#[test]
fn of_a_state_that_was_lost_with_a_write_in_flight_the_outcome_is_unknown() {
    let door = crate::door::TestDoor::new(vec![crate::support::says("done")]);
    let mut machine = answered(agent(), calls(&[("look", json!({})), ("push", json!({}))]));
    authorize(&mut machine, vec![PermissionDecision::Allow; 2]);
    start(&mut machine, 2);
    let state = reread(&machine).into();
    let mut resumed = AgentLoop::resume(door.clone(), Keep, state);
    block_on(resumed.run()).unwrap();
    assert_eq!(
        door.batches(),
        [["c1"]],
        "the read is made again, the write is not"
    );
    let request = &door.requests()[0].0;
    let results = request.messages.last().unwrap();
    let text = serde_json::to_string(results).unwrap();
    assert!(text.contains("may or may not have taken effect"), "{text}");
}
