//! Which calls of a turn wait for others.

use neuron_loop::{Action, AgentMachine, Observation};
use neuron_types::{
    AgentSpec, CallState, ContentItem, Decision, EffectKind, FailureKind, OnUnknownOutcome,
    PermissionDecision, StepFailure, ToolAnnotations, ToolSettings, Verdict,
};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{
    agent, answered, ask, at, authorize, calls, decide, last_results, previewing_agent, start,
    starts, tickets, tool_ended, tool_text,
};

/// The agent, whose writes have an order. `put` is idempotent.
fn ordered() -> AgentSpec {
    let mut spec = AgentSpec {
        parallel_writes: false,
        ..agent()
    };
    let tools = &mut spec.head_mut().tools;
    let mut put = tools[1].clone();
    put.name = "put".into();
    put.annotations = Some(ToolAnnotations {
        idempotent_hint: Some(true),
        ..ToolAnnotations::default()
    });
    tools.push(put);
    spec
}

/// A machine whose model asked for calls of these tools, all of them allowed.
fn allowed(spec: AgentSpec, tools: &[&str]) -> AgentMachine {
    let wanted: Vec<_> = tools.iter().map(|tool| (*tool, json!({}))).collect();
    let mut machine = answered(spec, calls(&wanted));
    authorize(&mut machine, vec![PermissionDecision::Allow; tools.len()]);
    machine
}

fn end(machine: &mut AgentMachine, position: u32) {
    let result = Ok(tool_text(&position.to_string()));
    let answered = tool_ended(position, result);
    machine.feed(answered, at(4)).unwrap();
}

#[test]
fn reads_go_on_together_and_writes_one_after_another() {
    let tools = ["look", "look", "push", "put", "look", "look", "push"];
    let mut machine = allowed(ordered(), &tools);
    assert_eq!(start(&mut machine, 3), [1, 2]);
    end(&mut machine, 2);
    assert_eq!(machine.next(), Action::Wait { until: None });
    end(&mut machine, 1);
    for write in [3, 4] {
        assert_eq!(start(&mut machine, 3), [write]);
        assert_eq!(machine.next(), Action::Wait { until: None });
        end(&mut machine, write);
    }
    assert_eq!(start(&mut machine, 3), [5, 6]);
    end(&mut machine, 5);
    end(&mut machine, 6);
    assert_eq!(start(&mut machine, 3), [7]);
    end(&mut machine, 7);
    assert_eq!(last_results(&machine).len(), tools.len());
}

#[test]
fn a_failed_write_lets_the_next_one_begin() {
    let mut machine = allowed(ordered(), &["push", "push"]);
    assert_eq!(start(&mut machine, 3), [1]);
    let failure = StepFailure::new(FailureKind::Timeout, "no result within 1s");
    let failed = tool_ended(1, Err(failure));
    machine.feed(failed, at(4)).unwrap();
    assert_eq!(start(&mut machine, 4), [2]);
}

#[test]
fn the_order_is_lifted_for_an_agent_or_a_tool() {
    let spec = AgentSpec {
        parallel_writes: true,
        ..ordered()
    };
    let tools = ["push", "look", "put", "push"];
    let mut machine = allowed(spec, &tools);
    assert_eq!(start(&mut machine, 3), [1, 2, 3, 4]);

    let mut spec = ordered();
    let own = ToolSettings {
        parallel_writes: Some(true),
        ..ToolSettings::default()
    };
    spec.tool_settings.insert("push".into(), own);
    let mut machine = allowed(spec, &tools);
    assert_eq!(start(&mut machine, 3), [1, 2, 4]);
    end(&mut machine, 2);
    assert_eq!(start(&mut machine, 3), [3]);
}

#[test]
fn a_call_that_waits_for_a_person_holds_no_other_back_and_starts_when_it_is_approved() {
    let wanted = ["push", "push", "look", "push"].map(|tool| (tool, json!({})));
    let mut machine = answered(ordered(), calls(&wanted));
    let allow = PermissionDecision::Allow;
    authorize(
        &mut machine,
        vec![ask(), allow.clone(), allow.clone(), allow],
    );
    assert_eq!(start(&mut machine, 3), [2]);
    let approve = Decision::of(&tickets(&machine)[0], Verdict::Approve);
    decide(&mut machine, approve, 3);
    // At once, beside the write that runs.
    assert_eq!(start(&mut machine, 3), [1]);
    end(&mut machine, 2);
    // What comes after it in the model's order finds what it left behind.
    assert_eq!(machine.next(), Action::Wait { until: None });
    end(&mut machine, 1);
    assert_eq!(start(&mut machine, 3), [3]);
    end(&mut machine, 3);
    assert_eq!(start(&mut machine, 3), [4]);
}

#[test]
fn a_write_whose_outcome_a_person_is_asked_about_holds_no_other_back() {
    let spec = AgentSpec {
        on_unknown_outcome: OnUnknownOutcome::AskPerson,
        ..ordered()
    };
    let mut machine = allowed(spec, &["push", "push"]);
    assert_eq!(start(&mut machine, 3), [1]);
    let unknown = StepFailure::new(FailureKind::OutcomeUnknown, "the worker was lost");
    let lost = tool_ended(1, Err(unknown));
    machine.feed(lost, at(4)).unwrap();
    assert_eq!(start(&mut machine, 4), [2]);
}

#[test]
fn what_a_call_would_do_is_found_out_when_the_writes_before_it_have_ended() {
    let spec = AgentSpec {
        parallel_writes: false,
        ..previewing_agent()
    };
    let wanted = ["push", "push", "look"].map(|tool| (tool, json!({})));
    let mut machine = answered(spec, calls(&wanted));
    let allow = PermissionDecision::Allow;
    authorize(&mut machine, vec![allow.clone(), ask(), allow]);
    assert_eq!(start(&mut machine, 3), [1]);
    assert_eq!(machine.next(), Action::Wait { until: None });
    assert_eq!(machine.state().waiting_since, None);
    end(&mut machine, 1);
    assert!(starts(machine.next(), EffectKind::Preview));
    assert!(starts(machine.next(), EffectKind::Tool));
    machine.feed(Observation::Started, at(4)).unwrap();
    assert!(machine.wants(3));
}

#[test]
fn calls_beyond_the_bound_of_a_turn_are_answered_and_not_made() {
    let spec = AgentSpec {
        calls_per_turn: Some(2),
        ..agent()
    };
    let wanted = ["look", "push", "look", "push"].map(|tool| (tool, json!({})));
    let mut machine = answered(spec, calls(&wanted));
    let allow = PermissionDecision::Allow;
    authorize(
        &mut machine,
        vec![allow.clone(), allow.clone(), allow, ask()],
    );
    assert!(tickets(&machine).is_empty());
    assert_eq!(start(&mut machine, 3), [1, 2]);
    end(&mut machine, 1);
    end(&mut machine, 2);
    let results = last_results(&machine);
    for (result, position) in results.iter().zip(1..).skip(2) {
        let said = format!(
            "not called: one turn makes at most 2 calls, and this is call {position}: call again in the next turn"
        );
        assert!(result.is_error);
        assert_eq!(result.content, [ContentItem::Text(said)]);
    }
    assert_eq!(machine.state().tool_calls, 2);
}

/// The calls of a turn that are in flight.
fn running(machine: &AgentMachine) -> Vec<u32> {
    let slots = machine.state().calls.iter();
    let running = slots.filter(|slot| matches!(slot.state, CallState::Running));
    running.map(|slot| slot.position).collect()
}

proptest! {
    #[test]
    fn no_call_begins_while_a_write_before_it_goes_on_nor_a_write_beside_anything(
        tools in prop::collection::vec(prop::sample::select(vec!["look", "push", "put"]), 1..12),
        ends in prop::collection::vec(any::<prop::sample::Index>(), 12),
        together in any::<bool>(),
    ) {
        let spec = AgentSpec { parallel_tools: together, ..ordered() };
        let mut machine = allowed(spec, &tools);
        let is_read = |position: u32| tools[usize::try_from(position).unwrap() - 1] == "look";
        let mut begun = Vec::new();
        for end_of in ends {
            if starts(machine.next(), EffectKind::Tool) {
                begun.extend(start(&mut machine, 3));
            }
            let running = running(&machine);
            let Some(first) = running.first() else {
                break;
            };
            prop_assert!(together || running.len() == 1);
            prop_assert!(running.len() == 1 || running.iter().all(|position| is_read(*position)));
            // All that come before have begun.
            prop_assert_eq!(begun.iter().copied().max(), Some(u32::try_from(begun.len()).unwrap()));
            // Each read that is next to those runs beside them.
            let next = u32::try_from(begun.len()).unwrap() + 1;
            let has_next = usize::try_from(next).unwrap() <= tools.len();
            prop_assert!(!together || !has_next || !is_read(*first) || !is_read(next));
            end(&mut machine, running[end_of.index(running.len())]);
        }
        prop_assert_eq!(machine.next(), Action::TakeMessages);
        let texts: Vec<_> = last_results(&machine).into_iter().map(|result| result.content).collect();
        let expected: Vec<_> = (1..=tools.len()).map(|n| vec![ContentItem::Text(n.to_string())]).collect();
        prop_assert_eq!(texts, expected);
    }
}
