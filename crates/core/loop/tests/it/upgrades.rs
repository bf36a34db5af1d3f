//! Runs that adopt the current definition of their agent.

use futures::executor::block_on;
use neuron_loop::{AgentLoop, AgentMachine, Observation};
use neuron_types::{
    AgentOrigin, AgentSpec, ApprovalRules, CurrentDefinition, ExitReason, FailureKind,
    LimitOverrides, Limits, Lineage, OnHalt, Overrides, RunEvent, RunInput, Stage, StepFailure,
    SystemPrompt, UpgradeRequest,
};
use serde_json::json;

use crate::{
    door::TestDoor,
    driver::Keep,
    support::{agent, at, definition_ended, input, one_call, says, to_model_call},
};

fn named(agent: AgentSpec) -> RunInput {
    RunInput {
        origin: Some(AgentOrigin::default()),
        ..input(agent)
    }
}

/// The same agent with other instructions, fewer tools, and a denial.
fn later() -> AgentSpec {
    let mut agent = AgentSpec {
        approvals: ApprovalRules {
            deny: vec!["push".into()],
            ..ApprovalRules::default()
        },
        ..agent()
    };
    let head = agent.head_mut();
    head.system = Some(SystemPrompt::Text("Be brief.".into()));
    head.model = "n".into();
    head.tools.retain(|tool| tool.name != "hold");
    agent
}

fn said(events: &[RunEvent]) -> Vec<String> {
    let upgrades = events.iter().filter_map(|event| match event {
        RunEvent::Upgraded { changes, .. } => Some(changes.join(", ")),
        RunEvent::SignalIgnored { reason, .. } => Some(reason.clone()),
        _ => None,
    });
    upgrades.collect()
}

fn wish(machine: &mut AgentMachine) {
    let request = UpgradeRequest {
        by: Some("ada".into()),
    };
    let arrived = Observation::UpgradeArrived(request);
    machine.feed(arrived, at(0)).unwrap();
}

/// A run that is about to look for the current definition.
fn asking(input: RunInput) -> AgentMachine {
    let mut machine = AgentMachine::new(input, at(0));
    wish(&mut machine);
    machine.feed(Observation::Messages(vec![]), at(0)).unwrap();
    machine.take_events();
    machine
}

fn find(machine: &mut AgentMachine, found: CurrentDefinition) -> Vec<String> {
    definition_ended(machine, Ok(found), 1);
    said(&machine.take_events())
}

fn here(agent: AgentSpec) -> CurrentDefinition {
    CurrentDefinition::Here(Box::new(agent))
}

#[test]
fn a_run_goes_by_the_current_definition_from_its_next_turn_on() {
    let door = TestDoor::new(vec![one_call("look"), one_call("push"), says("done")]);
    let mut run = AgentLoop::new(door.clone(), Keep, named(agent()));
    door.define(later());
    // It is taken with the signals that are there when the first turn is over.
    door.on_first_signal(|door| door.signal("upgrade", json!({"by": "ada"})));
    door.signal("user_message", json!({"text": "one"}));
    block_on(run.run()).unwrap();
    let models: Vec<String> = door
        .requests()
        .iter()
        .map(|(request, _)| request.model.clone())
        .collect();
    assert_eq!(models, ["n", "n", "n"]);
    assert_eq!(
        said(&door.events()),
        ["instructions, model, rules, tool removed: hold"]
    );
    // The rules are those of the new definition.
    assert_eq!(door.batches(), [["c1"]]);
    let state = run.machine().state();
    assert_eq!(state.definition, later().fingerprint());
    assert_eq!(state.agent, later());
}

#[test]
fn nothing_is_looked_for_where_nobody_wishes_it() {
    let door = TestDoor::new(vec![one_call("look"), says("done")]);
    door.define(later());
    block_on(AgentLoop::new(door.clone(), Keep, named(agent())).run()).unwrap();
    assert_eq!(door.requests()[1].0.model, "m");
    assert_eq!(said(&door.events()), Vec::<String>::new());
}

#[test]
fn the_same_definition_changes_nothing_and_says_so() {
    let mut machine = asking(named(agent()));
    let before = machine.state().agent.clone();
    assert_eq!(find(&mut machine, here(agent())), [""]);
    assert_eq!(machine.state().agent, before);
    to_model_call(&mut machine);
}

#[test]
fn a_run_without_a_name_keeps_its_definition() {
    let mut machine = AgentMachine::new(input(agent()), at(0));
    wish(&mut machine);
    let said = said(&machine.take_events());
    assert!(said[0].contains("not started with the name"), "{said:?}");
    to_model_call(&mut machine);
}

#[test]
fn a_run_whose_agent_is_gone_keeps_its_definition() {
    let mut machine = asking(named(agent()));
    let missing = CurrentDefinition::Missing("nobody has it".into());
    let said = find(&mut machine, missing);
    assert_eq!(said, ["the run keeps its definition: nobody has it"]);
    to_model_call(&mut machine);
    assert_eq!(machine.state().agent, agent());

    let mut failing = asking(named(agent()));
    let failure = StepFailure::new(FailureKind::NoWorker, "not here");
    definition_ended(&mut failing, Err(failure), 1);
    to_model_call(&mut failing);
}

#[test]
fn decisions_are_signed_from_the_definition_on_that_says_so() {
    let given = |signed| here(AgentSpec { signed, ..later() });
    let upgraded = |before: bool, now: bool| {
        let lineage = Lineage {
            signed: before,
            ..Lineage::default()
        };
        let mut machine = AgentMachine::new(named(agent()), at(0)).with_lineage(lineage);
        wish(&mut machine);
        machine.feed(Observation::Messages(vec![]), at(0)).unwrap();
        machine.take_events();
        definition_ended(&mut machine, Ok(given(now)), 1);
        let told = machine
            .take_events()
            .into_iter()
            .find_map(|event| match event {
                RunEvent::Upgraded { signed, .. } => Some(signed),
                _ => None,
            });
        (machine.state().lineage.signed, told)
    };
    assert_eq!(upgraded(false, false), (false, Some(false)));
    assert_eq!(upgraded(false, true), (true, Some(true)));
    assert_eq!(upgraded(true, false), (true, Some(true)));
}

#[test]
fn what_the_caller_narrowed_narrows_the_current_definition() {
    let limits = |turns| Limits {
        turns: Some(turns),
        ..Limits::default()
    };
    let overrides = Overrides {
        limits: LimitOverrides {
            turns: Some(20),
            tool_calls: Some(5),
            ..LimitOverrides::default()
        },
        tools: Some(vec!["look".into(), "hold".into()]),
        deny: vec!["look(path=b)".into()],
        ..Overrides::default()
    };
    let origin = AgentOrigin {
        overrides,
        ..AgentOrigin::default()
    };
    let first = agent().narrowed(&origin.overrides).unwrap();
    let mut machine = asking(RunInput {
        origin: Some(origin),
        ..input(first)
    });
    let current = AgentSpec {
        limits: limits(10),
        ..later()
    };
    find(&mut machine, here(current));
    let agent = machine.agent();
    assert_eq!(agent.limits.turns, Some(10));
    assert_eq!(agent.limits.tool_calls, Some(5));
    let tools: Vec<&str> = agent.head.tools.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(tools, ["look"]);
    assert_eq!(agent.caller_rules.deny, ["look(path=b)"]);
}

#[test]
fn what_the_current_definition_lets_nobody_set_keeps_the_run_from_adopting_it() {
    let mut origin = AgentOrigin {
        overrides: Overrides {
            model: Some("test/other".into()),
            ..Overrides::default()
        },
        ..AgentOrigin::default()
    };
    let mut start = named(agent());
    start.origin = Some(origin.clone());
    let mut machine = asking(start.clone());
    let said = find(&mut machine, here(later()));
    assert!(
        said[0].contains("does not let callers set model"),
        "{said:?}"
    );

    // Whose agent file it is may set it all the same.
    origin.may_set = [neuron_types::CallerSetting::Model].into();
    start.origin = Some(origin);
    let mut machine = asking(start);
    find(&mut machine, here(later()));
    assert_eq!(machine.agent().head.model, "other");
    assert!(machine.agent().callers_may_set.is_empty());
}

#[test]
fn limits_that_people_raised_stay_raised() {
    let limited = |turns| AgentSpec {
        limits: Limits {
            turns: Some(turns),
            ..Limits::default()
        },
        on_limit: OnHalt::Ask,
        ..later()
    };
    for (current, wanted) in [(3, 6), (9, 9)] {
        let mut state = AgentMachine::new(named(limited(6)), at(0)).state().clone();
        state.raised.turns = Some(6);
        let mut machine = AgentMachine::from(state);
        wish(&mut machine);
        machine.feed(Observation::Messages(vec![]), at(0)).unwrap();
        find(&mut machine, here(limited(current)));
        assert_eq!(machine.agent().limits.turns, Some(wanted));
    }
}

#[test]
fn the_turn_that_is_made_again_goes_by_the_current_definition() {
    let spec = AgentSpec {
        on_failure: OnHalt::Ask,
        ..agent()
    };
    let door = TestDoor::new(vec![]);
    let failure = StepFailure::new(FailureKind::ModelNotFound, "it is gone");
    door.answer_with(Err(failure.into()));
    door.answer_with(Ok(says("done")));
    door.define(AgentSpec {
        on_failure: OnHalt::Ask,
        ..later()
    });
    let mut run = AgentLoop::new(door.clone(), Keep, named(spec));
    let error = block_on(run.run()).unwrap_err();
    assert!(matches!(error, neuron_types::DurableError::Suspended));
    let ticket = run.machine().state().tickets[0].ticket.clone();
    door.signal("upgrade", json!(null));
    let decision = json!({
        "ticket": ticket.ticket, "digest": ticket.digest, "verdict": "choose", "choice": "retry",
    });
    door.signal("decision", decision);
    let state = run.machine().state().clone();
    let mut run = AgentLoop::resume(door.clone(), Keep, state);
    let output = block_on(run.run()).unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Complete));
    let models: Vec<String> = door
        .requests()
        .iter()
        .map(|(request, _)| request.model.clone())
        .collect();
    assert_eq!(models, ["m", "n"]);
}

#[test]
fn a_run_that_ends_first_says_so() {
    let mut machine = AgentMachine::new(named(agent()), at(0));
    wish(&mut machine);
    let cancelled = Observation::Cancelled { reason: None };
    machine.feed(cancelled, at(1)).unwrap();
    assert_eq!(
        said(&machine.take_events()),
        ["the run ended before its next turn"]
    );
    assert!(matches!(machine.state().stage, Stage::Ended(_)));
}

#[test]
fn what_people_decided_holds_where_rules_and_tool_are_the_same() {
    let rules = ApprovalRules {
        approve: vec!["push".into()],
        remembered: vec![
            serde_json::from_value(json!({
                "tool": "push", "reason": "approval is required", "verdict": "approve",
            }))
            .unwrap(),
        ],
        ..ApprovalRules::default()
    };
    let current = |approvals: ApprovalRules| AgentSpec {
        approvals,
        ..later()
    };
    let asked = ApprovalRules {
        remembered: vec![],
        ..rules.clone()
    };
    for (approvals, kept) in [(asked, 1), (later().approvals, 0)] {
        let mut machine = asking(named(AgentSpec {
            approvals: rules.clone(),
            ..agent()
        }));
        find(&mut machine, here(current(approvals)));
        assert_eq!(machine.agent().approvals.remembered.len(), kept);
    }
}
