//! Runs that ask a person before they end, and runs whose time is over.

use std::time::Duration;

use futures::executor::block_on;
use neuron_loop::{Action, AgentLoop, AgentMachine, Observation, Spent};
use neuron_types::{
    AgentSpec, ApprovalRules, CallState, Decision, EffectKind, ExitReason, FailureKind, Limits,
    OnExpiry, OnHalt, PermissionDecision, Role, RunEvent, RunPhase, Stage, StepFailure, StepId,
    StopReason, Ticket, TicketKind, ToolOutput, ticket_digest,
};
use serde_json::json;
use uuid::Uuid;

use crate::times::{MINUTE, SECOND};
use crate::{
    door::TestDoor,
    driver::Keep,
    support::{
        agent, answered, ask, at, authorize, calls, decide, exit, input, knowing_agent, make,
        model_call, model_ended, one_call, reread, response, says, start, starts, tickets,
        to_model_call, tool_ended,
    },
};

fn asking() -> AgentSpec {
    AgentSpec {
        on_failure: OnHalt::Ask,
        on_limit: OnHalt::Ask,
        ..agent()
    }
}

fn limited(limits: Limits) -> AgentSpec {
    AgentSpec { limits, ..asking() }
}

fn only(machine: &AgentMachine) -> Ticket {
    let mut open = tickets(machine);
    assert_eq!(open.len(), 1, "{open:#?}");
    open.remove(0)
}

fn phase(machine: &AgentMachine) -> RunPhase {
    machine.output(&"r".parse().unwrap(), "local").state
}

/// A machine whose model call gave up.
fn failed(spec: AgentSpec) -> AgentMachine {
    let mut machine = AgentMachine::new(input(spec), at(0));
    to_model_call(&mut machine);
    let failure = StepFailure::new(FailureKind::Authentication, "the key is wrong");
    model_ended(&mut machine, Err(failure), 1);
    machine
}

fn time_over(machine: &mut AgentMachine, seconds: i64) {
    let spent = Spent::default();
    machine
        .feed(Observation::TimeOver { spent }, at(seconds))
        .unwrap();
}

fn step(machine: &AgentMachine) -> StepId {
    match model_call(machine) {
        Some(options) => options.step,
        None => panic!("no model call is next: {:?}", machine.next()),
    }
}

#[test]
fn a_failure_is_asked_about_and_the_call_is_made_again_in_a_step_of_its_own() {
    let limits = Limits {
        turns: Some(1),
        ..Limits::default()
    };
    let mut machine = reread(&failed(limited(limits)));
    let ticket = only(&machine);
    assert_eq!(ticket.kind, TicketKind::Failure);
    assert_eq!(ticket.ticket, "failure-1");
    assert_eq!(
        ticket.text.as_deref(),
        Some("authentication: the key is wrong")
    );
    assert_eq!(ticket.choices, ["retry", "end"]);
    assert_eq!(phase(&machine), RunPhase::WaitingForApproval);
    assert_eq!(machine.next(), Action::Wait { until: None });
    decide(
        &mut machine,
        Decision::choose(&ticket, "retry:other/model"),
        2,
    );
    assert_eq!(only(&machine).ticket, "failure-1", "it lists no such model");
    decide(&mut machine, Decision::choose(&ticket, "retry"), 61);
    assert_eq!(machine.state().waited_ms, 60_000);
    to_model_call(&mut machine);
    assert_eq!(step(&machine), StepId::new(2, 0));
    model_ended(&mut machine, Ok(says("done")), 62);
    machine.feed(Observation::Messages(vec![]), at(62)).unwrap();
    assert_eq!(exit(&machine), ExitReason::Complete);
}

#[test]
fn a_failure_ends_the_run_if_a_person_says_so_or_says_nothing_in_time() {
    let mut ended = failed(asking());
    let ticket = only(&ended);
    decide(&mut ended, Decision::choose(&ticket, "end"), 2);
    let mut lapsed = failed(AgentSpec {
        approval_timeout: Some(5 * SECOND),
        ..asking()
    });
    assert_eq!(lapsed.next(), Action::Wait { until: Some(at(6)) });
    lapsed.feed(Observation::TicketsLapsed, at(6)).unwrap();
    for machine in [ended, lapsed] {
        let Stage::Ended(outcome) = &machine.state().stage else {
            panic!("the run goes on");
        };
        assert_eq!(outcome.exit_reason, ExitReason::Failed);
        let error = outcome.error.as_ref().unwrap();
        assert_eq!(error.kind, FailureKind::Authentication);
        assert!(tickets(&machine).is_empty());
    }
}

#[test]
fn what_somebody_decided_is_not_asked_about() {
    let mut machine = AgentMachine::new(input(asking()), at(0));
    to_model_call(&mut machine);
    let failure = StepFailure::new(FailureKind::Guardrail, "no");
    model_ended(&mut machine, Err(failure), 1);
    assert_eq!(exit(&machine), ExitReason::Guardrail);
}

#[test]
fn a_limit_is_raised_by_so_much() {
    let mut machine = answered(
        limited(Limits {
            turns: Some(1),
            ..Limits::default()
        }),
        one_call("look"),
    );
    authorize(&mut machine, vec![PermissionDecision::Allow]);
    make(&mut machine, vec![Ok(ToolOutput::text("seen"))], 3);
    machine.feed(Observation::Messages(vec![]), at(3)).unwrap();
    let ticket = only(&machine);
    assert_eq!(ticket.kind, TicketKind::Budget);
    assert_eq!(ticket.choices, ["extend:turns=VALUE", "end"]);
    assert_eq!(
        ticket.text.as_deref(),
        Some("the run has made 1 of 1 turns")
    );
    for wrong in ["extend:turns=VALUE", "extend:turns=0", "extend:colour=1"] {
        decide(&mut machine, Decision::choose(&ticket, wrong), 4);
        assert_eq!(only(&machine).ticket, ticket.ticket, "{wrong}");
    }
    decide(
        &mut machine,
        Decision::choose(&ticket, "extend:tokens=5"),
        4,
    );
    let again = only(&machine);
    assert_eq!(again.ticket, "budget-2", "that limit is reached still");
    decide(&mut machine, Decision::choose(&again, "extend:turns=2"), 5);
    let mut machine = reread(&machine);
    assert_eq!(machine.agent().limits.turns, Some(3));
    to_model_call(&mut machine);
    assert_eq!(step(&machine), StepId::new(2, 0));
}

#[test]
fn a_run_that_nobody_extends_ends_at_its_limit() {
    let reached = || {
        let limits = Limits {
            tokens: Some(5_000),
            ..Limits::default()
        };
        let mut answer = one_call("look");
        answer.usage.input_tokens = 5_000;
        let mut machine = answered(
            AgentSpec {
                approval_timeout: Some(5 * SECOND),
                ..limited(limits)
            },
            answer,
        );
        authorize(&mut machine, vec![PermissionDecision::Allow]);
        make(&mut machine, vec![Ok(ToolOutput::text("seen"))], 3);
        machine.feed(Observation::Messages(vec![]), at(3)).unwrap();
        machine
    };
    let mut ended = reached();
    let ticket = only(&ended);
    decide(&mut ended, Decision::choose(&ticket, "end"), 4);
    assert_eq!(exit(&ended), ExitReason::MaxTokens);
    let mut lapsed = reached();
    lapsed.feed(Observation::TicketsLapsed, at(9)).unwrap();
    assert_eq!(exit(&lapsed), ExitReason::MaxTokens);
    let mut state = reached().state().clone();
    state.agent.on_expiry = OnExpiry::Fail;
    let mut strict = AgentMachine::from(state);
    strict.feed(Observation::TicketsLapsed, at(9)).unwrap();
    assert_eq!(exit(&strict), ExitReason::Failed);
}

#[test]
fn calls_over_the_limit_are_made_when_it_was_raised() {
    let limits = Limits {
        tool_calls: Some(1),
        ..Limits::default()
    };
    let two = calls(&[("look", json!({})), ("push", json!({}))]);
    let mut machine = answered(limited(limits), two);
    authorize(&mut machine, vec![PermissionDecision::Allow; 2]);
    let ticket = only(&machine);
    assert_eq!(ticket.kind, TicketKind::Budget);
    decide(
        &mut machine,
        Decision::choose(&ticket, "extend:tool_calls=1"),
        4,
    );
    assert!(matches!(machine.next(), Action::Authorize(calls) if calls.len() == 1));
    authorize(&mut machine, vec![PermissionDecision::Allow]);
    assert_eq!(start(&mut machine, 5), [1, 2]);
}

#[test]
fn the_clocks_say_which_comes_first_and_one_stands_still_while_people_are_waited_for() {
    let limits = Limits {
        duration: Some(10 * SECOND),
        deadline: Some(MINUTE),
        ..Limits::default()
    };
    let spec = AgentSpec { limits, ..agent() };
    let mut machine = answered(spec, one_call("push"));
    assert_eq!(machine.clock(), Some((at(10), ExitReason::MaxDuration)));
    authorize(&mut machine, vec![ask()]);
    assert_eq!(machine.clock(), Some((at(60), ExitReason::Deadline)));
    let ticket = only(&machine);
    decide(&mut machine, Decision::approve(&ticket), 22);
    assert_eq!(machine.clock(), Some((at(30), ExitReason::MaxDuration)));
    assert_eq!(AgentMachine::new(input(agent()), at(0)).clock(), None);
}

#[test]
fn a_model_call_that_was_given_up_is_made_again_when_the_time_was_extended() {
    let limits = Limits {
        deadline: Some(10 * SECOND),
        ..Limits::default()
    };
    let mut machine = AgentMachine::new(input(limited(limits)), at(0));
    to_model_call(&mut machine);
    time_over(&mut machine, 10);
    let ticket = only(&machine);
    assert_eq!(ticket.choices, ["extend:deadline=VALUE", "end"]);
    assert_eq!(machine.clock(), None, "a person is asked already");
    decide(
        &mut machine,
        Decision::choose(&ticket, "extend:deadline=1m"),
        100,
    );
    assert_eq!(machine.clock(), Some((at(160), ExitReason::Deadline)));
    to_model_call(&mut machine);
    assert_eq!(step(&machine), StepId::new(2, 0));
}

#[test]
fn a_review_that_was_given_up_is_made_again_in_steps_of_its_own() {
    let limits = Limits {
        duration: Some(10 * SECOND),
        ..Limits::default()
    };
    let mut machine = AgentMachine::new(input(limited(limits)), at(0));
    machine.feed(Observation::Messages(vec![]), at(0)).unwrap();
    time_over(&mut machine, 10);
    let ticket = only(&machine);
    decide(
        &mut machine,
        Decision::choose(&ticket, "extend:duration=1m"),
        100,
    );
    assert_eq!(machine.next(), Action::Compact { required: false });
    assert_eq!(machine.state().turn, 1);
    assert_eq!(machine.clock(), Some((at(160), ExitReason::MaxDuration)));
}

#[test]
fn calls_that_were_given_up_are_made_again_and_a_write_keeps_its_result() {
    let limits = Limits {
        duration: Some(10 * SECOND),
        ..Limits::default()
    };
    let two = calls(&[("look", json!({})), ("push", json!({}))]);
    let mut machine = answered(limited(limits), two);
    authorize(&mut machine, vec![PermissionDecision::Allow; 2]);
    assert_eq!(start(&mut machine, 3), [1, 2]);
    time_over(&mut machine, 10);
    assert_eq!(machine.next(), Action::LeaveCalls);
    let written = tool_ended(2, Ok(ToolOutput::text("pushed")));
    machine.feed(written, at(12)).unwrap();
    machine.feed(Observation::CallsLeft, at(12)).unwrap();
    let ticket = only(&machine);
    assert_eq!(ticket.kind, TicketKind::Budget);
    decide(
        &mut machine,
        Decision::choose(&ticket, "extend:duration=1h"),
        13,
    );
    assert_eq!(start(&mut machine, 14), [1]);
    assert!(matches!(machine.state().calls[1].state, CallState::Done(_)));
}

#[test]
fn an_outcome_that_was_asked_for_when_the_time_was_over_is_asked_for_again() {
    let spec = AgentSpec {
        on_limit: OnHalt::Ask,
        limits: Limits {
            duration: Some(10 * SECOND),
            ..Limits::default()
        },
        ..knowing_agent()
    };
    let mut machine = answered(spec, one_call("push"));
    authorize(&mut machine, vec![PermissionDecision::Allow]);
    let lost = StepFailure::new(FailureKind::OutcomeUnknown, "the worker was lost");
    make(&mut machine, vec![Err(lost)], 3);
    assert!(starts(machine.next(), EffectKind::AskOutcome));
    machine.feed(Observation::Started, at(4)).unwrap();
    time_over(&mut machine, 10);
    machine.feed(Observation::CallsLeft, at(10)).unwrap();
    let ticket = only(&machine);
    decide(
        &mut machine,
        Decision::choose(&ticket, "extend:duration=1h"),
        11,
    );
    assert!(starts(machine.next(), EffectKind::AskOutcome));
}

#[test]
fn a_model_that_a_person_chose_is_asked_without_what_is_set_for_another_provider() {
    let mut spec = asking();
    let head = spec.head_mut();
    head.fallback_models = vec!["other/a".into(), "test/b".into()];
    head.extra = Some(json!({"service_tier": "auto"}));
    let pinned = |model: &str| {
        let mut machine = failed(spec.clone());
        let ticket = only(&machine);
        let choice = format!("retry:{model}");
        decide(&mut machine, Decision::choose(&ticket, &choice), 2);
        machine.agent().head.clone()
    };
    let other = pinned("other/a");
    assert_eq!(other.models().collect::<Vec<_>>(), ["other/a", "test/b"]);
    assert_eq!(other.extra, None);
    let same = pinned("test/b");
    assert_eq!(same.models().collect::<Vec<_>>(), ["test/b"]);
    assert!(same.extra.is_some());
}

#[test]
fn an_answer_that_was_rejected_is_not_the_last_word_when_it_is_asked_for_again() {
    let mut machine = AgentMachine::new(input(asking()), at(0));
    for _ in 0..2 {
        to_model_call(&mut machine);
        let mut wrong = says("no JSON");
        wrong.mismatch = Some("it is no JSON".into());
        model_ended(&mut machine, Ok(wrong), 1);
    }
    let ticket = only(&machine);
    assert_eq!(ticket.kind, TicketKind::Failure);
    decide(&mut machine, Decision::choose(&ticket, "retry"), 2);
    let last = machine.messages().last().unwrap();
    assert_eq!(last.role, Role::User);
    assert!(last.text().ends_with("with nothing but JSON that fits."));
}

#[test]
fn an_answer_without_text_is_asked_for_once_more_and_no_earlier_words_stand_for_it() {
    let mut spec = agent();
    spec.limits = Limits::default();
    let mut wanted = one_call("look");
    wanted
        .message
        .content
        .insert(0, says("Let me look.").message.content[0].clone());
    let mut machine = answered(spec, wanted);
    authorize(&mut machine, vec![PermissionDecision::Allow]);
    make(&mut machine, vec![Ok(ToolOutput::text("seen"))], 3);
    for turn in 2..4 {
        to_model_call(&mut machine);
        assert_eq!(step(&machine), StepId::new(turn, 0));
        model_ended(&mut machine, Ok(response(StopReason::EndTurn, vec![])), 4);
    }
    let rejected = |event: &RunEvent| matches!(event, RunEvent::AnswerRejected { .. });
    assert_eq!(
        machine
            .take_events()
            .iter()
            .filter(|event| rejected(event))
            .count(),
        1
    );
    machine.feed(Observation::Messages(vec![]), at(4)).unwrap();
    assert_eq!(exit(&machine), ExitReason::Complete);
    let output = machine.output(&"r".parse().unwrap(), "local");
    assert_eq!(output.output, None);
}

fn deadline(seconds: u64) -> Limits {
    Limits {
        deadline: Some(Duration::from_secs(seconds)), // The test says what time it is.
        ..Limits::default()
    }
}

#[test]
fn a_deadline_ends_a_model_call_that_hangs() {
    let door = TestDoor::new(vec![says("never")]);
    door.hang();
    let spec = AgentSpec {
        limits: deadline(30),
        ..agent()
    };
    let output = block_on(AgentLoop::new(door.clone(), Keep, input(spec)).run()).unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Deadline));
    assert_eq!(output.state, RunPhase::LimitReached);
    assert_eq!(door.left(), 1, "the model call");
    assert_eq!(door.waits(), [Some(30 * SECOND)]);
}

#[test]
fn a_deadline_ends_a_wait_for_people_and_a_duration_does_not() {
    let spec = |limits| AgentSpec {
        approvals: ApprovalRules {
            approve: vec!["push".into()],
            ..ApprovalRules::default()
        },
        limits,
        ..agent()
    };
    let run = |limits| {
        let door = TestDoor::new(vec![one_call("push")]);
        let output = block_on(AgentLoop::new(door.clone(), Keep, input(spec(limits))).run());
        (door, output)
    };
    let (_, output) = run(deadline(30));
    assert_eq!(output.unwrap().exit_reason, Some(ExitReason::Deadline));
    let duration = Limits {
        duration: Some(30 * SECOND),
        ..Limits::default()
    };
    let (door, output) = run(duration);
    assert!(output.is_err(), "it waits on");
    assert_eq!(door.waits(), [None]);
    assert_eq!(door.left(), 1, "its clock stands still");
}

#[test]
fn an_extended_run_goes_on_through_its_door() {
    let door = TestDoor::new(vec![says("done")]);
    door.hang();
    let mut opened = Ticket {
        ticket: "budget-1".into(),
        kind: TicketKind::Budget,
        run: Some("run".parse().unwrap()),
        text: Some("the run started 31 s ago, and has 30 s".into()),
        choices: vec!["extend:deadline=VALUE".into(), "end".into()],
        ..Ticket::default()
    };
    opened.digest = ticket_digest(&opened, Some(Uuid::nil()), None);
    let decision = Decision::choose(&opened, "extend:deadline=5m");
    door.signal("decision", serde_json::to_value(decision).unwrap());
    let spec = limited(deadline(30));
    let output = block_on(AgentLoop::new(door.clone(), Keep, input(spec)).run()).unwrap();
    assert_eq!(
        output.exit_reason,
        Some(ExitReason::Complete),
        "{output:#?}"
    );
    let steps: Vec<StepId> = door.requests().iter().map(|(_, made)| made.step).collect();
    assert_eq!(steps, [StepId::new(1, 0), StepId::new(2, 0)]);
}
