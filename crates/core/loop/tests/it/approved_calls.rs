//! Calls that the executor asks about, and the decisions that go along with them.

use neuron_loop::{Action, AgentMachine, Observation};
use neuron_types::{
    Always, AskRule, Asking, Decision, EffectKind, GuardEnd, GuardOutcome, GuardPoint, GuardSpec,
    Guarded, JudgedCall, Outcome, PermissionDecision, RememberedCalls, RememberedDecision,
    StepFailure, Ticket, ToolOutput, Verdict,
};
use serde_json::json;

use crate::{
    support::{
        agent, answered, ask, at, authorize, calls_of, decide, decide_as, make, one_call, starts,
        tickets, tool_ended,
    },
    tickets::{by, only, refusals, result, signed},
};

/// A machine whose only call a person approved for the rest of the run, with the ticket and the decision.
fn always_approved() -> (AgentMachine, Ticket, Decision) {
    let mut machine = answered(agent(), one_call("push"));
    authorize(&mut machine, vec![ask()]);
    let ticket = only(&machine);
    let always = Decision {
        always: Some(Always::Tool),
        ..by(&ticket, "ada")
    };
    decide_as(&mut machine, always.clone(), signed("ada", "ops"), 3);
    (machine, ticket, always)
}

/// Returns the failure of an executor that does not make a call without a person's decision.
fn not_approved(reason: &str, from: Option<&str>) -> StepFailure {
    StepFailure::not_approved(Asking {
        from: from.map(Into::into),
        ..Asking::new(reason)
    })
}

/// Answers the only call so.
fn fails(machine: &mut AgentMachine, failure: StepFailure, second: i64) {
    let position = machine.state().calls[0].position;
    assert!(starts(machine.next(), EffectKind::Tool));
    machine.feed(Observation::Started, at(second)).unwrap();
    let result = Err(failure);
    let answered = tool_ended(position, result);
    machine.feed(answered, at(second)).unwrap();
}

#[test]
fn a_call_that_its_executor_asks_about_waits_for_a_person_and_is_made_with_their_decision() {
    let mut machine = answered(agent(), one_call("push"));
    authorize(&mut machine, vec![PermissionDecision::Allow]);
    fails(
        &mut machine,
        not_approved("the worker asks", Some("ops")),
        3,
    );
    let ticket = only(&machine);
    assert_eq!(ticket.reason, "the worker asks");
    assert_eq!(ticket.from.as_deref(), Some("ops"));
    assert_eq!(machine.state().tool_calls, 0, "it was no attempt");
    decide_as(&mut machine, by(&ticket, "ada"), signed("ada", "ops"), 4);
    let Some((calls, _)) = calls_of(machine.next()) else {
        panic!("{:?}", machine.next());
    };
    let approval = calls[0].approval.clone().unwrap();
    assert_eq!(approval.ticket, ticket.ticket);
    assert_eq!(approval.decisions, [by(&ticket, "ada")]);
    assert_eq!(approval.args, None, "the call says what they are");
    let run = machine.state().run.clone();
    let nonce = machine.state().lineage.nonce;
    if let Some(run) = run {
        let judged = JudgedCall::of_texts(&calls[0].name, &calls[0].input);
        assert_eq!(approval.digest(&judged, &run, nonce), ticket.digest);
    }
    make(&mut machine, vec![Ok(ToolOutput::text("pushed"))], 5);
    assert_eq!(result(&machine), ("pushed".to_owned(), false));
}

#[test]
fn a_decision_that_does_not_count_for_the_executor_is_asked_for_again() {
    let (mut machine, first, _) = always_approved();
    fails(&mut machine, not_approved("her key is gone", None), 4);
    // What was decided for the rest of the run is what does not count.
    let second = only(&machine);
    assert_ne!(second.ticket, first.ticket);
    assert_eq!(second.reason, "her key is gone");
    decide(&mut machine, Decision::deny(&second), 5);
    assert!(tickets(&machine).is_empty());
}

#[test]
fn what_is_always_approved_goes_along_with_the_next_call() {
    let (machine, first, always) = always_approved();
    let remembered = &machine.state().agent.approvals.remembered;
    let approval = remembered[0].approval.clone().unwrap();
    assert_eq!(approval.decisions, [always]);
    assert_eq!(approval.args, first.args);
}

#[test]
fn arguments_that_the_rules_put_to_others_are_not_taken() {
    let mut spec = agent();
    let of_ops = AskRule {
        from: Some("ops".into()),
        needed: 2,
        then: Some("boss".into()),
        ..AskRule::new("push(to=prod)")
    };
    spec.approvals.approve = vec![of_ops, "push".into()];
    let mut machine = answered(spec.clone(), one_call("push"));
    authorize(&mut machine, vec![ask()]);
    let ticket = only(&machine);
    let edited = |to: &str| Decision {
        args: Some(json!({ "to": to })),
        ..by(&ticket, "ada")
    };
    let arrives = |machine: &mut AgentMachine, decision: Decision| {
        machine.take_events();
        machine
            .feed(Observation::DecisionArrived(decision), at(3))
            .unwrap();
        refusals(machine)
    };
    let said = arrives(&mut machine, edited("prod"));
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].starts_with("2 of ops decide about these arguments: "),
        "{said:?}"
    );
    assert!(arrives(&mut machine, edited("test")).is_empty());

    // Put to those who decide about them, it may be edited so: also where it was put to the next already.
    for from in ["ops", "boss"] {
        let mut machine = answered(spec.clone(), one_call("push"));
        authorize(&mut machine, vec![ask()]);
        let mut state = machine.state().clone();
        state.tickets[0].ticket.from = Some(from.into());
        state.tickets[0].ticket.needed = 2;
        let mut machine = AgentMachine::from(state);
        assert!(arrives(&mut machine, edited("prod")).is_empty(), "{from}");
    }
}

/// What people decided about calls of `push` for the rest of the run, where they were asked for this reason.
fn remembered(reason: &str, verdict: Verdict) -> RememberedDecision {
    RememberedDecision {
        tool: "push".into(),
        reason: reason.into(),
        calls: RememberedCalls::Tool,
        verdict,
        comment: None,
        approver: Some("ada".into()),
        approval: None,
    }
}

/// A machine whose only call guards looked at, which ended so, and then the rules.
fn guarded(known: RememberedDecision, end: GuardEnd, decision: PermissionDecision) -> AgentMachine {
    let mut spec = agent();
    spec.guards = vec![GuardSpec {
        name: "words".into(),
        at: [GuardPoint::Call].into(),
        settings: String::new(),
        judge: None,
    }];
    spec.approvals.remembered = vec![known];
    let mut machine = answered(spec, one_call("push"));
    let Action::Start(steps) = machine.next() else {
        panic!("{:?}", machine.next());
    };
    let position = steps[0].options.step.position;
    machine.feed(Observation::Started, at(2)).unwrap();
    let said = Guarded {
        end,
        ..Guarded::default()
    };
    let result = Ok(Outcome::Guard(GuardOutcome::Call(said)));
    let ended = Observation::Ended { position, result };
    machine.feed(ended, at(2)).unwrap();
    authorize(&mut machine, vec![decision]);
    machine
}

#[test]
fn what_is_always_approved_answers_the_rules_and_no_guard() {
    const GUARD: &str = "it is another repository";
    let asks = || GuardEnd::Ask(GUARD.into());
    let PermissionDecision::Ask(Asking { reason: rule, .. }) = ask() else {
        panic!("it asks");
    };
    let both = format!("{GUARD}; {rule}");
    let always = |reason: &str| remembered(reason, Verdict::Approve);
    let by_rule = guarded(always(&rule), GuardEnd::Pass, ask());
    assert!(tickets(&by_rule).is_empty());
    for known in [rule.as_str(), GUARD, &both] {
        let machine = guarded(always(known), asks(), ask());
        assert_eq!(only(&machine).reason, both);
        let machine = guarded(always(known), asks(), PermissionDecision::Allow);
        assert_eq!(only(&machine).reason, GUARD);
    }
    let never = remembered(GUARD, Verdict::Deny);
    let machine = guarded(never, asks(), PermissionDecision::Allow);
    assert!(tickets(&machine).is_empty());
    assert!(result(&machine).1, "it is denied");
}
