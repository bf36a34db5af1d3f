//! What a run with a budget puts aside before a model call, and what it is charged.

use neuron_loop::{Action, AgentMachine, Observation};
use neuron_types::{
    AgentSpec, Amount, Effect, ExitReason, FailureKind, Limits, ModelRate, PermissionDecision,
    RunEvent, Spent, StepFailure, StopReason, ToolOutput, UserMessage,
};
use rust_decimal::Decimal;

use crate::support::{
    agent, answered, at, authorize, exit, input, make, model_ended, one_call, says, to_model_call,
};

fn limited(tokens: u64) -> AgentSpec {
    let limits = Limits {
        tokens: Some(tokens),
        ..Limits::default()
    };
    AgentSpec { limits, ..agent() }
}

/// How many tokens the answer of the model call may have that is due.
fn most_output(machine: &AgentMachine) -> Option<u64> {
    match machine.next() {
        Action::Start(mut steps) => match steps.pop().unwrap().effect {
            Effect::Model(request) => request.max_tokens,
            other => panic!("{other:?} is no model call"),
        },
        other => panic!("no model call is due: {other:?}"),
    }
}

fn charged(machine: &mut AgentMachine) -> Vec<(u32, Amount)> {
    let events = machine.take_events().into_iter();
    let charged = events.filter_map(|event| match event {
        RunEvent::CallCharged {
            attempts, charged, ..
        } => Some((attempts, charged)),
        _ => None,
    });
    charged.collect()
}

fn begun(spec: AgentSpec) -> AgentMachine {
    let mut machine = AgentMachine::new(input(spec), at(0));
    to_model_call(&mut machine);
    machine
}

#[test]
fn a_run_without_a_budget_asks_for_what_its_agent_says() {
    assert_eq!(most_output(&begun(agent())), None);
}

#[test]
fn an_answer_may_have_no_more_than_the_budget_has_left() {
    let mut spec = limited(4_000);
    let most = most_output(&begun(spec.clone())).unwrap();
    assert!((2_000..4_000).contains(&most), "{most} of 4000");
    spec.head_mut().max_tokens = Some(700);
    assert_eq!(most_output(&begun(spec)), Some(700), "the agent wants less");
    let most = most_output(&begun(limited(1_000_000)));
    assert_eq!(most, Some(16_384), "what an answer may have at most");
}

#[test]
fn a_budget_of_money_bounds_the_answer_where_the_price_is_known() {
    let limits = Limits {
        cost_usd: Some(Decimal::new(1, 2)),
        ..Limits::default()
    };
    let rate = ModelRate {
        model: "test/m".into(),
        input: Decimal::ONE,
        output: Decimal::TEN,
    };
    let mut spec = AgentSpec {
        limits,
        rates: vec![rate],
        ..agent()
    };
    let most = most_output(&begun(spec.clone())).unwrap();
    assert!(
        (800..1_000).contains(&most),
        "one cent is for {most} tokens"
    );
    spec.head_mut().fallback_models = vec!["test/other".into()];
    assert_eq!(
        most_output(&begun(spec)),
        Some(16_384),
        "nobody knows what the other one costs"
    );
}

#[test]
fn no_call_is_made_for_which_there_is_no_room() {
    let mut machine = AgentMachine::new(input(limited(300)), at(0));
    while !matches!(machine.next(), Action::Done) {
        let observation = match machine.next() {
            Action::TakeMessages => Observation::Messages(Vec::new()),
            Action::Compact { .. } => Observation::ContextKept {
                tokens: 1,
                estimated: 1,
            },
            other => panic!("{other:?}"),
        };
        machine.feed(observation, at(0)).unwrap();
    }
    assert_eq!(exit(&machine), ExitReason::MaxTokens);
    assert_eq!(machine.state().turn, 0);
}

#[test]
fn what_the_model_has_read_counts_as_it_said_and_the_rest_by_its_bytes() {
    let mut machine = answered(limited(20_000), one_call("look"));
    authorize(&mut machine, vec![PermissionDecision::Allow]);
    let long = ToolOutput::text("x".repeat(3_000));
    make(&mut machine, vec![Ok(long)], 2);
    machine.feed(Observation::Messages(vec![]), at(2)).unwrap();
    to_model_call(&mut machine);
    let held = machine.state().budget.held.unwrap();
    let input = held.amount.tokens - held.output;
    assert!((3_015..3_300).contains(&input), "{input} tokens of input");
}

#[test]
fn a_call_that_was_given_up_is_charged_what_was_put_aside() {
    let mut spec = limited(50_000);
    spec.limits.deadline = Some(std::time::Duration::from_secs(5)); // The test says what time it is.
    let mut machine = begun(spec);
    let held = machine.state().budget.held.unwrap().amount;
    machine.feed(Observation::Started, at(1)).unwrap();
    let spent = Spent::default();
    machine
        .feed(Observation::TimeOver { spent }, at(6))
        .unwrap();
    assert_eq!(charged(&mut machine), [(1, held)]);
    let output = machine.output(&"r".parse().unwrap(), "local");
    assert_eq!((output.reserved, output.usage.total()), (held, 0));
}

#[test]
fn attempts_that_were_lost_are_charged_beside_the_answer() {
    let mut machine = begun(limited(200_000));
    let held = machine.state().budget.held.unwrap();
    assert_eq!(held.attempts, 2, "there is plenty");
    let mut answer = says("Done.");
    answer.spent_before = Some(Box::new(Spent {
        lost: 1,
        ..Spent::default()
    }));
    model_ended(&mut machine, Ok(answer), 1);
    assert_eq!(charged(&mut machine), [(1, held.amount)]);
    assert_eq!(machine.state().usage.total(), 15);
    assert_eq!(machine.state().budget.held, None);
}

#[test]
fn a_call_of_which_too_many_attempts_were_lost_is_made_again_while_there_is_room() {
    let lost = |spec| {
        let mut machine = begun(spec);
        let attempts = machine.state().budget.held.unwrap().attempts;
        let failure = StepFailure::new(FailureKind::OutOfBudget, "too many were lost");
        let spent = Spent {
            lost: attempts,
            ..Spent::default()
        };
        let failure = failure.with_spent(Some(Box::new(spent)));
        model_ended(&mut machine, Err(failure), 1);
        machine
    };
    let mut again = lost(limited(200_000));
    to_model_call(&mut again);
    assert_eq!(again.state().turn, 2);
    let mut ended = lost(limited(4_000));
    while !matches!(ended.next(), Action::Done) {
        let observation = Observation::ContextKept {
            tokens: 1,
            estimated: 1,
        };
        ended.feed(observation, at(2)).unwrap();
    }
    assert_eq!(exit(&ended), ExitReason::MaxTokens);
}

#[test]
fn what_a_provider_bills_beyond_what_was_asked_for_is_told() {
    let mut machine = begun(limited(3_000));
    let mut answer = says("Done.");
    answer.usage.output_tokens = 9_000;
    model_ended(&mut machine, Ok(answer), 1);
    let events = machine.take_events();
    let told = events.iter().find_map(|event| match event {
        RunEvent::CallExceeded { used, .. } => Some(used.tokens),
        _ => None,
    });
    assert_eq!(told, Some(9_010));
}

#[test]
fn an_answer_that_was_cut_at_the_budget_goes_on_when_a_person_adds_to_it() {
    let mut spec = limited(3_000);
    spec.on_limit = neuron_types::OnHalt::Ask;
    let mut machine = begun(spec);
    let held = machine.state().budget.held.unwrap();
    let mut answer = says("I was about to");
    answer.usage.output_tokens = held.output;
    answer.usage.input_tokens = held.amount.tokens - held.output;
    answer.stop_reason = StopReason::MaxTokens;
    model_ended(&mut machine, Ok(answer), 1);
    let ticket = machine.state().tickets[0].ticket.clone();
    let decision = neuron_types::Decision::choose(&ticket, "extend:tokens=5000");
    crate::support::decide(&mut machine, decision, 2);
    machine
        .feed(
            Observation::MessageArrived(UserMessage::new("Go on.")),
            at(3),
        )
        .unwrap();
    to_model_call(&mut machine);
    assert_eq!(machine.state().turn, 2);
}
