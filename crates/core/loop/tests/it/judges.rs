//! Guards that have models asked: what is put aside for them, and what they use.

use std::collections::BTreeSet;

use neuron_loop::{Action, AgentMachine, Observation};
use neuron_types::{
    AgentSpec, Effect, ExitReason, FailureKind, GuardOutcome, GuardPoint, GuardRequest, GuardSpec,
    Guarded, JudgeSpec, Limits, Message, ModelRate, OnHalt, Outcome, RunEvent, RunInput, Spent,
    Stage, Step, StepFailure, TokenUsage,
};
use rust_decimal::Decimal;

use crate::support::*;

fn judging(point: GuardPoint, tokens: Option<u64>) -> AgentSpec {
    AgentSpec {
        limits: Limits {
            tokens,
            ..Limits::default()
        },
        rates: vec![ModelRate {
            model: "judges/small".into(),
            input: Decimal::ONE,
            output: Decimal::TWO,
        }],
        guards: vec![GuardSpec {
            name: "judge".into(),
            at: [point].into(),
            settings: String::new(),
            judge: Some(Box::new(JudgeSpec {
                model: "judges/small".into(),
                max_tokens: 1_000,
                frame: 200,
                tools: BTreeSet::from(["look".into()]),
            })),
        }],
        ..agent()
    }
}

/// The machine of a run whose queued messages were taken.
fn begun(agent: AgentSpec) -> AgentMachine {
    let input = RunInput::new(agent, Message::user("Do it."));
    let mut machine = AgentMachine::new(input, at(0));
    feed(&mut machine, Observation::Messages(Vec::new()));
    machine
}

fn feed(machine: &mut AgentMachine, observation: Observation) {
    machine.feed(observation, at(0)).unwrap();
}

fn next_step(machine: &AgentMachine) -> Step {
    match machine.next() {
        Action::Start(mut steps) => steps.remove(0),
        other => panic!("{other:?}"),
    }
}

fn request(step: &Step) -> &GuardRequest {
    match &step.effect {
        Effect::Guard(request) => request,
        other => panic!("{other:?}"),
    }
}

fn spent(tokens: u64) -> Option<Box<Spent>> {
    let usage = TokenUsage {
        input_tokens: tokens,
        ..TokenUsage::default()
    };
    Some(Box::new(Spent::new(usage, Some(Decimal::ONE))))
}

/// Starts the step of guards that is next, and ends it so.
fn guards_end(machine: &mut AgentMachine, result: Result<GuardOutcome, StepFailure>) {
    let position = next_step(machine).options.step.position;
    feed(machine, Observation::Started);
    let result = result.map(Outcome::Guard);
    feed(machine, Observation::Ended { position, result });
}

fn passed() -> GuardOutcome {
    GuardOutcome::Input(vec![Guarded::default()])
}

fn charged(machine: &mut AgentMachine) -> usize {
    let events = machine.take_events();
    let is_charge = |event: &&RunEvent| matches!(event, RunEvent::CallCharged { .. });
    events.iter().filter(is_charge).count()
}

#[test]
fn what_a_judge_uses_is_what_the_run_uses() {
    let mut machine = begun(judging(GuardPoint::Input, Some(100_000)));
    let step = next_step(&machine);
    let held = step.options.held.expect("something is put aside");
    let judges = request(&step).judges();
    assert_eq!(judges[0].model, "judges/small");
    assert!(judges[0].max_input.unwrap() + 1_000 <= held.amount.tokens);
    assert!(!held.amount.cost_usd.is_zero());
    guards_end(&mut machine, Ok(passed().with_spent(spent(700))));
    assert_eq!(machine.state().usage.total(), 700);
    assert_eq!(machine.state().cost_usd, Some(Decimal::ONE));
    assert_eq!(machine.state().budget.held, None);
    let events = machine.take_events();
    let judged = |event: &RunEvent| matches!(event, RunEvent::Judged { usage, point: GuardPoint::Input, .. } if usage.total() == 700);
    assert!(events.iter().any(judged), "{events:#?}");
    assert!(matches!(machine.next(), Action::Compact { .. }));
}

#[test]
fn a_run_without_a_budget_puts_nothing_aside_and_has_its_judges_asked() {
    let machine = begun(judging(GuardPoint::Input, None));
    let step = next_step(&machine);
    assert_eq!(step.options.held, None);
    assert_eq!(request(&step).judges()[0].max_input, None);
}

#[test]
fn a_run_without_room_for_a_judge_of_its_prompt_ends_at_its_limit() {
    let machine = begun(judging(GuardPoint::Input, Some(3_000)));
    assert_eq!(machine.next(), Action::Done);
    let output = machine.output(&"r".parse().unwrap(), "local");
    assert_eq!(output.exit_reason, Some(ExitReason::MaxTokens));
    assert_eq!(output.usage.total(), 0);
}

#[test]
fn a_person_is_asked_where_limits_are_asked_about_and_the_judge_is_asked_then() {
    let asking = AgentSpec {
        on_limit: OnHalt::Ask,
        ..judging(GuardPoint::Input, Some(3_000))
    };
    let mut machine = begun(asking);
    let ticket = machine.state().tickets[0].ticket.clone();
    let chosen = neuron_types::Decision::choose(&ticket, "extend:tokens=100000");
    feed(&mut machine, Observation::DecisionArrived(chosen.clone()));
    let step = next_step(&machine);
    feed(&mut machine, Observation::Started);
    let taken = neuron_types::Verification::unverified(&chosen);
    let position = step.options.step.position;
    let result = Ok(Outcome::Verify(neuron_types::VerifyOutcome::Taken(taken)));
    feed(&mut machine, Observation::Ended { position, result });
    assert_eq!(machine.state().stage, Stage::GuardInput);
    assert!(next_step(&machine).options.held.is_some());
}

#[test]
fn attempts_that_were_lost_are_charged() {
    let mut machine = begun(judging(GuardPoint::Input, Some(100_000)));
    let held = next_step(&machine).options.held.unwrap();
    let said = passed().with_spent(Spent::of_lost(2));
    guards_end(&mut machine, Ok(said));
    let reserved = machine.state().budget.reserved;
    assert_eq!(reserved, held.amount.times(2));
    assert_eq!(charged(&mut machine), 1);
}

#[test]
fn a_step_for_whose_next_attempt_nothing_was_put_aside_is_made_again() {
    let mut machine = begun(judging(GuardPoint::Input, Some(100_000)));
    let failure = StepFailure::new(FailureKind::OutOfBudget, "two were lost");
    let first = next_step(&machine).options.step;
    guards_end(&mut machine, Err(failure.with_spent(Spent::of_lost(1))));
    let again = next_step(&machine).options;
    assert!(again.held.is_some() && again.step != first, "{again:?}");
}

/// The machine of a run whose model asked for a call of this tool.
fn called(agent: AgentSpec, tool: &str) -> AgentMachine {
    let mut machine = begun(agent);
    let kept = Observation::ContextKept {
        tokens: 1,
        estimated: 1,
    };
    feed(&mut machine, kept);
    feed(&mut machine, Observation::Started);
    let result = Ok(Outcome::Model(Box::new(one_call(tool))));
    feed(
        &mut machine,
        Observation::Ended {
            position: 0,
            result,
        },
    );
    machine
}

#[test]
fn a_judge_of_a_call_has_something_put_aside_until_it_has_judged() {
    let mut machine = called(judging(GuardPoint::Call, Some(100_000)), "look");
    let step = next_step(&machine);
    let held = step.options.held.expect("something is put aside");
    assert_eq!(machine.state().calls[0].held, Some(held));
    let before = machine.state().usage.total();
    let said = GuardOutcome::Call(Guarded::default()).with_spent(spent(400));
    guards_end(&mut machine, Ok(said));
    assert_eq!(machine.state().calls[0].held, None);
    assert_eq!(machine.state().usage.total(), before + 400);
    assert_eq!(charged(&mut machine), 0);
}

#[test]
fn a_judge_is_not_asked_about_calls_of_other_tools() {
    let mut agent = judging(GuardPoint::Call, Some(100_000));
    let judge = agent.guards[0].judge.as_mut().unwrap();
    judge.tools = BTreeSet::from(["other".into()]);
    let step = next_step(&called(agent, "look"));
    assert_eq!(step.options.held, None);
    assert!(request(&step).judges().is_empty());
}

#[test]
fn a_judge_of_a_call_that_the_budget_has_no_room_for_may_ask_nothing() {
    let mut agent = judging(GuardPoint::Call, Some(100_000));
    agent.guards[0].judge.as_mut().unwrap().max_tokens = 200_000;
    let step = next_step(&called(agent, "look"));
    assert_eq!(step.options.held, None);
    assert_eq!(request(&step).judges()[0].max_input, Some(0));
}

#[test]
fn a_judge_that_was_asked_when_its_run_was_cancelled_is_charged() {
    let mut machine = called(judging(GuardPoint::Call, Some(100_000)), "look");
    let held = next_step(&machine).options.held.unwrap();
    feed(&mut machine, Observation::Started);
    feed(&mut machine, Observation::Cancelled { reason: None });
    assert_eq!(machine.state().budget.reserved, held.amount);
    assert_eq!(charged(&mut machine), 1);
}
