//! Runs that repeat themselves.

use neuron_loop::AgentMachine;
use neuron_types::{
    AgentSpec, ContentItem, Decision, ExitReason, OnLoop, PermissionDecision, RunEvent, TicketKind,
    ToolResultBlock, Verdict,
};
use serde_json::json;

use crate::support::{
    agent, at, authorize, calls, decide, exit, input, last_results, make, model_ended, tickets,
    to_model_call, tool_text,
};

fn watched(on_loop: OnLoop) -> AgentMachine {
    let agent = AgentSpec {
        max_repeats: Some(3),
        on_loop,
        ..agent()
    };
    AgentMachine::new(input(agent), at(0))
}

/// A turn with one call of this path, whose result is this; and its last text.
fn turn(machine: &mut AgentMachine, path: &str, result: &str) -> String {
    to_model_call(machine);
    model_ended(machine, Ok(calls(&[("look", json!({"path": path}))])), 1);
    authorize(machine, vec![PermissionDecision::Allow]);
    make(machine, vec![Ok(tool_text(result))], 3);
    let results = last_results(machine);
    last_text(&results[0])
}

fn last_text(result: &ToolResultBlock) -> String {
    match result.content.last() {
        Some(ContentItem::Text(text)) => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_model_is_told_from_the_third_time_on_whatever_is_called_in_between() {
    let mut machine = watched(OnLoop::Hint);
    assert_eq!(turn(&mut machine, "a", "same"), "same");
    assert_eq!(turn(&mut machine, "b", "same"), "same");
    assert_eq!(turn(&mut machine, "a", "same"), "same");
    assert_eq!(turn(&mut machine, "a", "other"), "other");
    let hint = "[the call of look has had the same result 3 times: do something else, or answer with what you know]";
    assert_eq!(turn(&mut machine, "a", "same"), hint);
    for _ in 0..9 {
        turn(&mut machine, "a", "same");
    }
    let told = |event: &RunEvent| matches!(event, RunEvent::Guarded { guard, verdict, .. } if guard == "repeats" && verdict == "warn");
    assert_eq!(
        machine.take_events().iter().filter(|it| told(it)).count(),
        10
    );
}

#[test]
fn a_run_that_goes_on_repeating_itself_ends_where_its_agent_says_so() {
    let mut machine = watched(OnLoop::End);
    for _ in 0..6 {
        turn(&mut machine, "a", "same");
        if matches!(machine.next(), neuron_loop::Action::TakeMessages) {
            machine
                .feed(neuron_loop::Observation::Messages(vec![]), at(4))
                .unwrap();
        }
    }
    assert_eq!(exit(&machine), ExitReason::Guardrail);
}

#[test]
fn a_person_has_a_run_go_on_that_repeats_itself_or_ends_it() {
    for (choice, goes_on) in [("release", true), ("end", false)] {
        let mut machine = watched(OnLoop::Ask);
        for _ in 0..6 {
            turn(&mut machine, "a", "same");
            machine
                .feed(neuron_loop::Observation::Messages(vec![]), at(4))
                .unwrap();
        }
        let ticket = tickets(&machine).remove(0);
        assert_eq!(ticket.kind, TicketKind::Guard);
        assert_eq!(ticket.choices, ["release", "end"]);
        let decision = Decision {
            choice: Some(choice.to_owned()),
            ..Decision::of(&ticket, Verdict::Choose)
        };
        decide(&mut machine, decision, 5);
        if goes_on {
            assert_eq!(turn(&mut machine, "a", "same"), "same", "it counts anew");
        } else {
            assert_eq!(exit(&machine), ExitReason::Guardrail);
        }
    }
}
