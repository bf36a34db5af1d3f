//! What became of calls whose outcome is unknown, asked of their tools.

use futures::executor::block_on;
use neuron_loop::{Action, AgentLoop, AgentMachine, Observation};
use neuron_types::{
    AgentSpec, ContentItem, Decision, Effect, ExitReason, FailureKind, GuardVerdict, Guarded,
    OnUnknownOutcome, OutcomeRequest, PermissionDecision, RunEvent, Step, StepFailure, StepId,
    TicketKind, ToolEffects, ToolOutput,
};
use serde_json::json;

use crate::{
    door::TestDoor,
    driver::Keep,
    support::{
        agent, answered, at, authorize, calls, decide, exit, knowing_agent, last_results, make,
        one_call, outcome_told, reread, says, start, tickets, tool_text,
    },
};

fn lost() -> StepFailure {
    StepFailure::new(FailureKind::OutcomeUnknown, "the worker was lost")
}

/// A machine whose only call has an unknown outcome.
fn unknown(spec: AgentSpec) -> AgentMachine {
    let mut machine = answered(spec, one_call("push"));
    authorize(&mut machine, vec![PermissionDecision::Allow]);
    make(&mut machine, vec![Err(lost())], 3);
    machine
}

/// Starts the question for the only outcome, and returns its position in the turn.
fn inquire(machine: &mut AgentMachine) -> u32 {
    let Action::Start(steps) = machine.next() else {
        panic!("nothing is asked: {:?}", machine.next());
    };
    machine.feed(Observation::Started, at(4)).unwrap();
    let [Step { effect, options }] = steps.as_slice() else {
        panic!("{steps:?}");
    };
    assert_eq!(options.effects, ToolEffects::ReadOnly);
    let asked = OutcomeRequest {
        step: StepId::new(1, 1),
        name: "push".into(),
        input: json!({"path": "a"}),
    };
    assert_eq!(*effect, Effect::AskOutcome(asked));
    options.step.position
}

fn inquired(position: u32, output: Option<ToolOutput>) -> Observation {
    let result = Ok(output);
    outcome_told(position, result)
}

#[test]
fn what_the_tool_knows_is_the_result_of_the_call() {
    let mut machine = unknown(knowing_agent());
    let position = inquire(&mut machine);
    assert_eq!(position, StepId::OWN_CALLS + 1);
    assert!(machine.wants(position));
    assert_eq!(machine.next(), Action::Wait { until: None });
    let machine = &mut reread(&machine);
    let output = Some(tool_text("pushed as 7"));
    machine.feed(inquired(position, output), at(5)).unwrap();
    let results = last_results(machine);
    assert!(!results[0].is_error);
    assert_eq!(
        results[0].content,
        [ContentItem::Text("pushed as 7".into())]
    );
    assert_eq!(machine.state().tool_calls, 1);
    let events = machine.take_events();
    let finished = events.iter().any(|event| {
        matches!(
            event,
            RunEvent::ToolFinished {
                failure: None,
                is_error: false,
                ..
            }
        )
    });
    assert!(finished, "{events:?}");
    assert!(machine.feed(inquired(position, None), at(6)).is_err());
}

#[test]
fn a_released_outcome_is_shown_although_the_step_of_the_call_failed() {
    let mut machine = unknown(knowing_agent());
    let position = inquire(&mut machine);
    let mut output = tool_text("pushed as 7");
    let mut said = Guarded::default();
    let reason = "it has a number".to_owned();
    said.take("numbers", GuardVerdict::Ask { reason });
    output.guarded = said.into_box();
    machine
        .feed(inquired(position, Some(output)), at(5))
        .unwrap();
    let release = Decision::choose(&tickets(&machine)[0], "release");
    decide(&mut machine, release, 6);
    let said = ContentItem::Text("pushed as 7".into());
    assert_eq!(last_results(&machine)[0].content, [said]);
    let events = machine.take_events();
    let is_shown = |event: &RunEvent| matches!(event, RunEvent::ToolFinished { reason: Some(reason), .. } if reason == "pushed as 7");
    assert!(events.iter().any(is_shown), "{events:?}");
}

#[test]
fn what_the_tool_does_not_know_is_as_unknown_as_before() {
    let pending = ToolOutput::pending(neuron_types::Pending::Form {
        requests: Vec::new(),
        state: None,
    });
    for output in [None, Some(pending)] {
        let mut machine = unknown(knowing_agent());
        let position = inquire(&mut machine);
        machine.feed(inquired(position, output), at(5)).unwrap();
        let result = &last_results(&machine)[0];
        assert!(result.is_error);
        let said = ContentItem::Text("the worker was lost".into());
        assert_eq!(result.content, [said]);
    }
    let mut machine = unknown(AgentSpec {
        on_unknown_outcome: OnUnknownOutcome::AskPerson,
        ..knowing_agent()
    });
    assert!(tickets(&machine).is_empty());
    let position = inquire(&mut machine);
    machine.feed(inquired(position, None), at(5)).unwrap();
    assert_eq!(tickets(&machine)[0].kind, TicketKind::UnknownOutcome);
}

#[test]
fn after_a_failed_question_the_outcome_is_unknown_unless_somebody_ends_the_run() {
    for (kind, state) in [
        (FailureKind::Unavailable, None),
        (FailureKind::Terminated, Some(ExitReason::Terminated)),
    ] {
        let mut machine = unknown(knowing_agent());
        let position = inquire(&mut machine);
        let result = Err(StepFailure::new(kind, "no"));
        let failed = outcome_told(position, result);
        machine.feed(failed, at(5)).unwrap();
        match state {
            Some(reason) => assert_eq!(exit(&machine), reason),
            None => assert_eq!(machine.next(), Action::TakeMessages),
        }
        assert!(last_results(&machine)[0].is_error);
    }
}

#[test]
fn a_tool_that_cannot_say_it_is_not_asked() {
    assert_eq!(unknown(agent()).next(), Action::TakeMessages);
    let mut failed = answered(knowing_agent(), one_call("push"));
    authorize(&mut failed, vec![PermissionDecision::Allow]);
    let failure = StepFailure::new(FailureKind::Timeout, "no result within 1s");
    make(&mut failed, vec![Err(failure)], 3);
    assert_eq!(failed.next(), Action::TakeMessages);
}

#[test]
fn the_next_write_waits_until_the_outcome_is_known() {
    let spec = AgentSpec {
        parallel_writes: false,
        ..knowing_agent()
    };
    let wanted = [("push", json!({"path": "a"})), ("push", json!({}))];
    let mut machine = answered(spec, calls(&wanted));
    authorize(&mut machine, vec![PermissionDecision::Allow; 2]);
    make(&mut machine, vec![Err(lost())], 3);
    let position = inquire(&mut machine);
    assert_eq!(machine.next(), Action::Wait { until: None });
    machine.feed(inquired(position, None), at(5)).unwrap();
    assert_eq!(start(&mut machine, 5), [2]);
}

#[test]
fn a_run_that_is_cancelled_leaves_the_outcome_unknown() {
    let mut machine = unknown(knowing_agent());
    let position = inquire(&mut machine);
    machine
        .feed(Observation::Cancelled { reason: None }, at(5))
        .unwrap();
    assert!(!machine.wants(position));
    assert_eq!(exit(&machine), ExitReason::Cancelled);
    let result = &last_results(&machine)[0];
    assert_eq!(
        result.content,
        [ContentItem::Text("the worker was lost".into())]
    );
}

#[test]
fn whoever_takes_a_run_up_asks_for_the_outcome_of_the_write_in_flight() {
    let mut machine = answered(knowing_agent(), one_call("push"));
    authorize(&mut machine, vec![PermissionDecision::Allow]);
    start(&mut machine, 3);
    let mut asked = unknown(knowing_agent());
    inquire(&mut asked);
    for machine in [machine, asked] {
        let door = TestDoor::new(vec![says("done")]);
        let state = reread(&machine).into();
        let mut resumed = AgentLoop::resume(door.clone(), Keep, state);
        let output = block_on(resumed.run()).unwrap();
        assert_eq!(output.exit_reason, Some(ExitReason::Complete));
        assert!(door.batches().is_empty());
        let request = &door.requests()[0].0;
        let text = serde_json::to_string(request.messages.last().unwrap()).unwrap();
        assert!(text.contains("it was pushed"), "{text}");
    }
}
