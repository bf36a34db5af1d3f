use neuron_context::{NoCompaction, Strategy, TokenCounter};
use neuron_types::{
    ContextError, ContextPolicy, ContextRule, ContextStrategy, DurableError, FailureKind, Message,
    StepFailure,
};

use crate::{
    conversation::{calls, result, results},
    scripted::{Scripted, compact, reason},
};

fn strategy(rules: &[ContextRule], at_tokens: Option<u64>) -> Strategy {
    Strategy::from_policy(&ContextPolicy {
        rules: rules.to_vec(),
        at_tokens,
        ..ContextPolicy::default()
    })
}

/// Ten tool turns, each with a result of 1,000 tokens and as much text of the model's own.
fn conversation() -> Vec<Message> {
    let mut messages = vec![Message::user("read")];
    for turn in 0..10 {
        let id = turn.to_string();
        messages.push(calls(&[&id]));
        messages.push(results(vec![result(&id, "x".repeat(4_000))]));
        messages.push(Message::assistant("y".repeat(4_000)));
        messages.push(Message::user("go on"));
    }
    messages
}

const CLEAR: ContextRule = ContextRule::ClearToolResults { keep: 1 };
const SUMMARIZE: ContextRule = ContextRule::Summarize {
    keep: 4,
    model: None,
    summary_prompt: None,
};

fn failing(error: DurableError) -> Scripted {
    Scripted::new([Err(error)])
}

fn overloaded() -> DurableError {
    DurableError::Step(StepFailure::new(FailureKind::Overloaded, "no capacity"))
}

#[test]
fn stops_at_the_rule_that_is_enough() {
    let strategy = strategy(&[CLEAR, SUMMARIZE], Some(15_000));
    let new = compact(&strategy, conversation(), &Scripted::silent()).unwrap();
    assert!(strategy.token_estimate(&new) < 13_500);
    assert_eq!(new.len(), conversation().len());
}

#[test]
fn goes_on_to_the_next_rule_where_one_is_not_enough() {
    let strategy = strategy(&[CLEAR, SUMMARIZE], Some(8_000));
    let model = Scripted::saying("Goal: read.");
    let new = compact(&strategy, conversation(), &model).unwrap();
    assert_eq!(model.asked(), 1);
    assert!(strategy.token_estimate(&new) < 8_000);
}

#[test]
fn saves_a_tenth_even_where_the_estimate_is_below_the_threshold() {
    // The provider counted more than the estimate, or rejected the conversation as too long.
    let messages = conversation();
    let strategy = strategy(
        &[ContextRule::ClearToolResults { keep: 9 }, SUMMARIZE],
        Some(1_000_000),
    );
    let model = Scripted::saying("Goal: read.");
    compact(&strategy, messages, &model).unwrap();
    assert_eq!(model.asked(), 1);
}

#[test]
fn keeps_what_was_saved_when_a_later_rule_fails() {
    let strategy = strategy(&[CLEAR, SUMMARIZE], Some(8_000));
    let error = compact(&strategy, conversation(), &failing(overloaded())).unwrap_err();
    assert!(error.to_string().contains("8000"), "{error}");
    let ContextError::StillTooLarge {
        messages,
        tokens,
        reason,
        ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(messages.len(), conversation().len());
    assert_eq!(tokens, strategy.token_estimate(&messages));
    assert!(tokens < strategy.token_estimate(&conversation()));
    assert!(reason.contains("no capacity"), "{reason}");
}

#[test]
fn goes_on_to_the_next_rule_when_the_summary_call_fails() {
    let rules = [SUMMARIZE, ContextRule::SlidingWindow { keep: 4 }];
    let strategy = strategy(&rules, Some(8_000));
    let new = compact(&strategy, conversation(), &failing(overloaded())).unwrap();
    assert_eq!(new.len(), 5);
}

#[test]
fn tells_of_the_failed_summary_call_where_nothing_was_saved() {
    let strategy = strategy(&[SUMMARIZE, ContextRule::SlidingWindow { keep: 99 }], None);
    let error = compact(&strategy, conversation(), &failing(overloaded())).unwrap_err();
    assert!(matches!(error, ContextError::Model(DurableError::Step(_))));
}

#[test]
fn passes_on_at_once_that_the_run_was_cancelled() {
    let strategy = strategy(&[CLEAR, SUMMARIZE], Some(8_000));
    let model = failing(DurableError::Cancelled { reason: None });
    let error = compact(&strategy, conversation(), &model).unwrap_err();
    assert!(matches!(
        error,
        ContextError::Model(DurableError::Cancelled { .. })
    ));
}

#[test]
fn says_what_every_rule_said_where_none_helps() {
    let rules = [
        ContextRule::SlidingWindow { keep: 50 },
        ContextRule::ClearToolResults { keep: 60 },
    ];
    let why = reason(compact(
        &strategy(&rules, None),
        conversation(),
        &Scripted::silent(),
    ));
    assert!(
        why.contains("newest 50") && why.contains("newest 60"),
        "{why}"
    );
}

#[test]
fn has_a_default_threshold_only_if_there_are_rules() {
    let with_rules = strategy(&[CLEAR], None);
    assert!(!with_rules.should_compact(&[], 99_999));
    assert!(with_rules.should_compact(&[], 100_000));

    let without = strategy(&[], Some(10));
    assert!(!without.should_compact(&[], u64::MAX));
    let why = reason(compact(&without, conversation(), &Scripted::silent()));
    assert!(why.contains("keeps its whole conversation"), "{why}");
}

#[test]
fn no_compaction_never_asks_for_any() {
    let strategy = NoCompaction::default();
    assert!(!strategy.should_compact(&conversation(), u64::MAX));
    reason(compact(&strategy, conversation(), &Scripted::silent()));
}

#[test]
fn estimates_with_the_counter_it_was_given() {
    let messages = [Message::user("x".repeat(4_000))];
    let plain = strategy(&[CLEAR], None);
    let dense = plain.clone().with_counter(TokenCounter::new(2.0));
    assert_eq!(plain.token_estimate(&messages), 1_004);
    assert_eq!(dense.token_estimate(&messages), 2_004);
}

#[test]
fn its_future_is_send_where_the_handle_is() {
    fn assert_send<T: Send>(_: T) {}
    let model = Scripted::silent();
    assert_send(strategy(&[SUMMARIZE], None).compact(conversation(), &model));
}
