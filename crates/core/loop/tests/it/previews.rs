//! What calls would do, found out before a person is asked about them.

use futures::executor::block_on;
use neuron_loop::{Action, AgentLoop, AgentMachine, Observation};
use neuron_types::{
    AgentSpec, ApprovalRules, CallState, Decision, Effect, ExitReason, PermissionDecision, Preview,
    PreviewRequest, RunEvent, Step, StepId, Ticket, ToolEffects, Verdict, ticket_digest,
};
use serde_json::json;

use crate::{
    door::TestDoor,
    driver::Keep,
    support::{
        agent, answered, ask, at, authorize, calls, decide, input, last_results, make, one_call,
        preview_ended, previewing_agent, reread, says, tickets, tool_ended, tool_text,
    },
};

/// Starts the previews that are due, and returns what is asked and their positions in the turn.
fn preview(machine: &mut AgentMachine) -> Vec<(PreviewRequest, u32)> {
    let Action::Start(steps) = machine.next() else {
        panic!("nothing is previewed: {:?}", machine.next());
    };
    machine.feed(Observation::Started, at(3)).unwrap();
    let asked = steps.into_iter().filter_map(|Step { effect, options }| {
        let Effect::Preview(request) = effect else {
            return None;
        };
        assert_eq!(options.effects, ToolEffects::ReadOnly);
        Some((request, options.step.position))
    });
    asked.collect()
}

fn seen() -> Preview {
    Preview {
        diff: Some("-a\n+b\n".into()),
        text: Some("careful".into()),
        fingerprint: Some("sha256:1".into()),
    }
}

fn previewed(position: u32) -> Observation {
    preview_ended(position, Some(seen()))
}

fn only(machine: &AgentMachine) -> Ticket {
    let open = tickets(machine);
    assert_eq!(open.len(), 1);
    open[0].clone()
}

/// A machine that asks about its only call, whose preview is as [`seen`].
fn asked() -> AgentMachine {
    let mut machine = answered(previewing_agent(), one_call("push"));
    authorize(&mut machine, vec![ask()]);
    let position = preview(&mut machine)[0].1;
    machine.feed(previewed(position), at(4)).unwrap();
    machine
}

/// The fingerprint that the only call is made with.
fn made_with(machine: &AgentMachine) -> Option<String> {
    let Action::Start(steps) = machine.next() else {
        panic!("the call is not made: {:?}", machine.next());
    };
    match &steps[0].effect {
        Effect::Tool(call) => call.preview.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_person_is_asked_when_it_is_known_what_the_call_would_do() {
    let mut machine = answered(previewing_agent(), one_call("push"));
    authorize(&mut machine, vec![ask()]);
    assert!(!machine.has_open_tickets());
    assert_eq!(machine.state().waiting_since, None);
    let (request, position) = preview(&mut machine).remove(0);
    assert_eq!(
        (request.name.as_str(), request.input),
        ("push", json!({"path": "a"}))
    );
    assert_eq!(position, StepId::OWN_CALLS + 1);
    assert!(machine.wants(position));
    assert_eq!(machine.next(), Action::Wait { until: None });
    machine.feed(previewed(position), at(4)).unwrap();
    let ticket = only(&machine);
    assert_eq!(ticket.diff.as_deref(), Some("-a\n+b\n"));
    assert_eq!(ticket.text.as_deref(), Some("careful"));
    assert_eq!(ticket.fingerprint.as_deref(), Some("sha256:1"));
    assert_eq!(ticket.opened_at, at(4));
    assert_eq!(machine.state().waiting_since, Some(at(4)));
    // The digest covers it.
    let other = Ticket {
        diff: Some("-a\n+c\n".into()),
        ..ticket.clone()
    };
    assert_eq!(ticket.digest, ticket_digest(&ticket, None, None));
    assert_ne!(ticket.digest, ticket_digest(&other, None, None));
    // No event reports that it was called.
    let events = machine.take_events();
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, RunEvent::ToolCalled { .. }))
    );
    assert!(machine.feed(previewed(position), at(5)).is_err());
    let approve = Decision::approve(&ticket);
    decide(&mut machine, approve, 5);
    assert_eq!(made_with(&machine).as_deref(), Some("sha256:1"));
    make(&mut machine, vec![Ok(tool_text("done"))], 6);
    assert_eq!(machine.state().tool_calls, 1);
}

#[test]
fn calls_that_nobody_is_asked_about_or_that_have_no_previews_cost_nothing() {
    let mut allowed = answered(previewing_agent(), one_call("push"));
    authorize(&mut allowed, vec![PermissionDecision::Allow]);
    assert_eq!(made_with(&allowed), None);
    let mut blind = answered(agent(), one_call("push"));
    authorize(&mut blind, vec![ask()]);
    assert_eq!(only(&blind).diff, None);
}

#[test]
fn other_calls_go_on_while_a_preview_is_in_flight() {
    let both = calls(&[("push", json!({"path": "a"})), ("look", json!({}))]);
    let mut machine = answered(previewing_agent(), both);
    authorize(&mut machine, vec![ask(), PermissionDecision::Allow]);
    let position = preview(&mut machine)[0].1;
    let seen = tool_ended(2, Ok(tool_text("seen")));
    machine.feed(seen, at(4)).unwrap();
    assert_eq!(machine.state().waiting_since, None);
    machine.feed(previewed(position), at(5)).unwrap();
    assert_eq!(only(&machine).ticket, "t1-1");
}

#[test]
fn a_call_without_a_preview_is_asked_about_all_the_same() {
    let mut machine = answered(previewing_agent(), one_call("push"));
    authorize(&mut machine, vec![ask()]);
    let position = preview(&mut machine)[0].1;
    let nothing = preview_ended(position, None);
    machine.feed(nothing, at(4)).unwrap();
    let ticket = only(&machine);
    let said = (ticket.diff, ticket.text, ticket.fingerprint);
    assert_eq!(said, (None, None, None));
}

#[test]
fn edited_arguments_keep_the_fingerprint_of_the_same_path_only() {
    for (args, kept) in [
        (json!({"path": "a", "force": true}), Some("sha256:1")),
        (json!({"path": "b"}), None),
        (json!({}), None),
    ] {
        let mut machine = asked();
        let edited = Decision {
            args: Some(args.clone()),
            ..Decision::approve(&only(&machine))
        };
        decide(&mut machine, edited, 5);
        assert_eq!(made_with(&machine).as_deref(), kept, "{args}");
    }
}

#[test]
fn a_preview_in_flight_is_made_again_by_whoever_takes_the_run_up() {
    let mut machine = answered(previewing_agent(), one_call("push"));
    authorize(&mut machine, vec![ask()]);
    preview(&mut machine);
    let machine = reread(&machine);
    let door = TestDoor::new(vec![says("done")]);
    let mut run = AgentLoop::resume(door.clone(), Keep, machine.state().clone());
    block_on(run.run()).unwrap_err();
    assert_eq!(door.previewed(), 1);
    assert_eq!(only(run.machine()).diff.as_deref(), Some("+a\n"));
}

#[test]
fn a_run_that_is_cancelled_drops_its_previews() {
    let mut machine = answered(previewing_agent(), one_call("push"));
    authorize(&mut machine, vec![ask()]);
    let position = preview(&mut machine)[0].1;
    machine
        .feed(Observation::Cancelled { reason: None }, at(4))
        .unwrap();
    assert!(!machine.wants(position));
    assert!(last_results(&machine)[0].is_error);
}

#[test]
fn a_preview_goes_through_the_door_before_its_ticket_opens() {
    let door = TestDoor::new(vec![one_call("push"), says("done")]);
    let spec = asking(previewing_agent());
    let mut run = AgentLoop::new(door.clone(), Keep, input(spec));
    block_on(run.run()).unwrap_err();
    assert_eq!(door.previewed(), 1);
    assert!(door.batches().is_empty());
    let ticket = only(run.machine());
    assert_eq!(ticket.diff.as_deref(), Some("+a\n"));
    let slots = &run.machine().state().calls;
    assert_eq!(slots[0].state, CallState::Asked);
    let approve = Decision::of(&ticket, Verdict::Approve);
    door.signal("decision", serde_json::to_value(approve).unwrap());
    let output = block_on(run.run()).unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(door.batches(), [["c1"]]);
}

#[test]
fn a_segment_does_not_end_while_a_preview_is_in_flight() {
    let door = TestDoor::new(vec![one_call("push"), says("done")]);
    for _ in 0..20 {
        door.roll_over_with(Ok(()));
    }
    let spec = asking(previewing_agent());
    let mut run = AgentLoop::new(door.clone(), Keep, input(spec));
    block_on(run.run()).unwrap_err();
    // The door asserts that nothing was in flight.
    assert!(!door.carried().is_empty());
    assert_eq!(door.previewed(), 1);
}

/// The agent, which asks before it pushes.
fn asking(spec: AgentSpec) -> AgentSpec {
    AgentSpec {
        approvals: ApprovalRules {
            approve: vec!["push".into()],
            ..ApprovalRules::default()
        },
        ..spec
    }
}
