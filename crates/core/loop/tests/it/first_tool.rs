//! Runs that are complete with the result of their first tool.

use neuron_loop::{Action, AgentMachine, Observation};
use neuron_types::{
    AgentSpec, ContentItem, Decision, ExitReason, FailureKind, PermissionDecision, StepFailure,
    ToolOutput, UserMessage, Verdict,
};
use serde_json::json;

use crate::support::{
    agent, answered, ask, at, authorize, calls, decide, exit, last_results, make, start, tickets,
    to_model_call, tool_ended, tool_text,
};

fn stopping() -> AgentSpec {
    AgentSpec {
        stop_on_first_tool: true,
        ..agent()
    }
}

/// A machine whose two calls came to this.
fn called(spec: AgentSpec, results: [Result<ToolOutput, StepFailure>; 2]) -> AgentMachine {
    let mut machine = answered(spec, calls(&[("look", json!({})), ("push", json!({}))]));
    authorize(&mut machine, vec![PermissionDecision::Allow; 2]);
    make(&mut machine, results.into(), 3);
    machine
}

fn failed() -> Result<ToolOutput, StepFailure> {
    Err(StepFailure::new(
        FailureKind::Timeout,
        "no result within 1s",
    ))
}

fn output(machine: &AgentMachine) -> Option<String> {
    machine.output(&"r".parse().unwrap(), "local").output
}

#[test]
fn the_first_result_completes_the_run() {
    let results = [Ok(tool_text("one")), Ok(tool_text("two"))];
    let mut machine = called(stopping(), results.clone());
    assert_eq!(last_results(&machine).len(), 2);
    machine.feed(Observation::Messages(vec![]), at(4)).unwrap();
    assert_eq!(machine.next(), Action::Done);
    assert_eq!(exit(&machine), ExitReason::Complete);
    assert_eq!(output(&machine).as_deref(), Some("one"));
    assert_eq!(machine.state().turn, 1);

    let mut machine = called(agent(), results);
    machine.feed(Observation::Messages(vec![]), at(4)).unwrap();
    to_model_call(&mut machine);
    assert_eq!(machine.state().turn, 2);
}

#[test]
fn a_call_that_failed_completes_nothing() {
    let mut machine = called(stopping(), [failed(), Ok(tool_text("two"))]);
    machine.feed(Observation::Messages(vec![]), at(4)).unwrap();
    assert_eq!(output(&machine).as_deref(), Some("two"));
    assert_eq!(exit(&machine), ExitReason::Complete);

    for results in [
        [failed(), failed()],
        [failed(), Ok(ToolOutput::error("no"))],
    ] {
        let mut machine = called(stopping(), results);
        machine.feed(Observation::Messages(vec![]), at(4)).unwrap();
        to_model_call(&mut machine);
        assert_eq!(machine.state().turn, 2);
    }
}

#[test]
fn a_call_that_is_not_allowed_completes_nothing() {
    let mut machine = answered(stopping(), calls(&[("look", json!({}))]));
    authorize(&mut machine, vec![PermissionDecision::Deny("no".into())]);
    machine.feed(Observation::Messages(vec![]), at(4)).unwrap();
    to_model_call(&mut machine);
}

#[test]
fn a_message_that_came_meanwhile_is_read() {
    let mut machine = called(stopping(), [Ok(tool_text("one")), Ok(tool_text("two"))]);
    let message = UserMessage {
        text: "and?".into(),
    };
    let messages = Observation::Messages(vec![message]);
    machine.feed(messages, at(4)).unwrap();
    to_model_call(&mut machine);
    assert_eq!(machine.messages().last().unwrap().text(), "and?");
}

#[test]
fn what_a_person_changed_is_not_noted_in_the_output() {
    let mut machine = answered(stopping(), calls(&[("look", json!({"n": 1}))]));
    authorize(&mut machine, vec![ask()]);
    let ticket = tickets(&machine).remove(0);
    let decision = Decision {
        args: Some(json!({"n": 2})),
        ..Decision::of(&ticket, Verdict::Approve)
    };
    decide(&mut machine, decision, 3);
    assert_eq!(start(&mut machine, 3), [1]);
    let result = tool_ended(1, Ok(tool_text("seen")));
    machine.feed(result, at(4)).unwrap();
    let results = last_results(&machine);
    assert!(matches!(
        &results[0].content[..],
        [ContentItem::Text(_), ContentItem::Text(_)]
    ));
    machine.feed(Observation::Messages(vec![]), at(4)).unwrap();
    assert_eq!(output(&machine).as_deref(), Some("seen"));
}
