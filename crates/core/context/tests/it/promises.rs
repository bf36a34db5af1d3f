//! The promises of the crate's documentation, on random conversations.

use neuron_context::{
    Composite, SlidingWindow, Strategy, Summarization, TokenCounter, ToolResultClearing,
};
use neuron_types::{
    ContentBlock, ContextError, ContextPolicy, ContextRule, ContextStrategy, Message, Role,
    StopReason,
};
use proptest::{prelude::*, strategy::Strategy as _, test_runner::TestCaseResult};

use crate::{
    conversation::{assert_valid, conversation},
    scripted::{Scripted, answer, compact},
};

const SUMMARY: &str = "Goal: the user wants something.";

fn summarizer() -> Scripted {
    Scripted::new((0..4).map(|_| Ok(answer(SUMMARY, StopReason::EndTurn))))
}

fn is_bound(block: &ContentBlock) -> bool {
    matches!(
        block,
        ContentBlock::RedactedThinking { .. }
            | ContentBlock::Thinking {
                signature: Some(_),
                ..
            }
    )
}

/// The message without what an edit may remove from it or change in it.
fn lasting(message: &Message) -> Message {
    let mut message = message.clone();
    message.content.retain(|block| !is_bound(block));
    for block in &mut message.content {
        if let ContentBlock::ToolResult(result) = block {
            result.content.clear();
        }
    }
    message
}

fn is_summary(message: &Message) -> bool {
    message.role == Role::User && message.text().ends_with(SUMMARY)
}

/// Where the two begin to differ.
fn first_edit(old: &[Message], new: &[Message]) -> usize {
    old.iter()
        .zip(new)
        .take_while(|(old, new)| old == new)
        .count()
}

/// What the operator said, in order.
fn instructions(messages: &[Message]) -> Vec<&ContentBlock> {
    let operator = messages
        .iter()
        .filter(|message| message.role == Role::System);
    operator.flat_map(|message| &message.content).collect()
}

/// What is left of the conversation, whether it is under the threshold or not.
fn left(
    result: Result<Vec<Message>, ContextError>,
    strategy: &impl ContextStrategy,
) -> Result<Vec<Message>, ContextError> {
    match result {
        Err(ContextError::StillTooLarge {
            messages,
            tokens,
            at_tokens,
            reason,
        }) => {
            assert!(tokens >= at_tokens && !reason.is_empty());
            assert_eq!(tokens, strategy.token_estimate(&messages));
            Ok(messages)
        }
        other => other,
    }
}

/// Checks everything that is promised of every strategy, and that a second compaction changes nothing more
/// than the first left over.
fn check(strategy: &impl ContextStrategy, old: Vec<Message>) -> TestCaseResult {
    let before = strategy.token_estimate(&old);
    let result = compact(strategy, old.clone(), &summarizer());
    if let Ok(new) = &result {
        prop_assert!(!strategy.should_compact(new, strategy.token_estimate(new)));
    }
    let new = match left(result, strategy) {
        Ok(new) => new,
        Err(ContextError::CompactionFailed(reason)) => {
            prop_assert!(!reason.is_empty());
            return Ok(());
        }
        Err(other) => return Err(TestCaseError::fail(format!("{other:?}"))),
    };

    prop_assert!(strategy.token_estimate(&new) < before);
    assert_valid(&new);
    prop_assert_eq!(&new[0], &old[0]);

    let mut rest = old.iter();
    prop_assert_eq!(instructions(&new), instructions(&old));
    let said = |message: &&Message| !is_summary(message) && message.role != Role::System;
    for message in new.iter().filter(said) {
        let kept = lasting(message);
        prop_assert!(
            rest.any(|old| lasting(old) == kept),
            "a message is new or out of order: {:?}",
            message
        );
    }

    let edit = first_edit(&old, &new);
    prop_assert!(!new[edit..].iter().flat_map(|m| &m.content).any(is_bound));

    let again = left(compact(strategy, old, &summarizer()), strategy).ok();
    prop_assert_eq!(again.as_ref(), Some(&new));
    match left(compact(strategy, new.clone(), &summarizer()), strategy) {
        Ok(newer) => {
            prop_assert!(strategy.token_estimate(&newer) < strategy.token_estimate(&new));
            assert_valid(&newer);
        }
        Err(error) => prop_assert!(matches!(error, ContextError::CompactionFailed(_))),
    }
    Ok(())
}

fn rule() -> impl proptest::strategy::Strategy<Value = ContextRule> {
    prop_oneof![
        (0_usize..30).prop_map(|keep| ContextRule::SlidingWindow { keep }),
        (0_usize..30).prop_map(|keep| ContextRule::ClearToolResults { keep }),
        (0_usize..30).prop_map(|keep| ContextRule::Summarize {
            keep,
            model: None,
            summary_prompt: None,
        }),
    ]
}

proptest! {
    #[test]
    fn sliding_window_keeps_its_promises(old in conversation(), keep in 0_usize..30) {
        check(&SlidingWindow::new(keep), old)?;
    }

    #[test]
    fn sliding_window_keeps_the_newest_messages(old in conversation(), keep in 0_usize..30) {
        if let Ok(new) = compact(&SlidingWindow::new(keep), old.clone(), &Scripted::silent()) {
            let newest: Vec<_> = old[old.len() - keep..].iter().map(lasting).collect();
            let kept: Vec<_> = new.iter().map(lasting).collect();
            prop_assert!(kept.ends_with(&newest));
        }
    }

    #[test]
    fn sliding_window_has_nothing_left_to_drop(old in conversation(), keep in 0_usize..30) {
        let strategy = SlidingWindow::new(keep);
        if let Ok(new) = compact(&strategy, old, &Scripted::silent()) {
            prop_assert!(compact(&strategy, new, &Scripted::silent()).is_err());
        }
    }

    #[test]
    fn tool_result_clearing_keeps_its_promises(old in conversation(), keep in 0_usize..30) {
        check(&ToolResultClearing::new(keep), old)?;
    }

    #[test]
    fn tool_result_clearing_keeps_every_message_and_the_newest_results(
        old in conversation(), keep in 0_usize..30
    ) {
        let strategy = ToolResultClearing::new(keep);
        if let Ok(new) = compact(&strategy, old.clone(), &Scripted::silent()) {
            prop_assert_eq!(new.len(), old.len());
            let newest = |messages: &[Message]| -> Vec<ContentBlock> {
                messages.iter().rev().flat_map(|message| message.content.iter().rev())
                    .filter(|block| matches!(block, ContentBlock::ToolResult(_)))
                    .take(keep).cloned().collect()
            };
            prop_assert_eq!(newest(&new), newest(&old));
            prop_assert!(compact(&strategy, new, &Scripted::silent()).is_err());
        }
    }

    #[test]
    fn summarization_keeps_its_promises(old in conversation(), keep in 0_usize..30) {
        check(&Summarization::new(keep), old)?;
    }

    #[test]
    fn summarization_does_not_summarise_its_summary(old in conversation(), keep in 0_usize..30) {
        let strategy = Summarization::new(keep);
        if let Ok(new) = compact(&strategy, old, &summarizer()) {
            let summary = new.iter().skip(1).find(|message| message.role != Role::System);
            prop_assert!(summary.is_some_and(is_summary));
            prop_assert!(compact(&strategy, new, &Scripted::silent()).is_err());
        }
    }

    #[test]
    fn rules_in_order_keep_their_promises(
        old in conversation(),
        rules in proptest::collection::vec(rule(), 0..4),
        at_tokens in 1_u64..20_000,
    ) {
        let policy = ContextPolicy { rules, at_tokens: Some(at_tokens), ..ContextPolicy::default() };
        check(&Strategy::from_policy(&policy), old)?;
    }

    #[test]
    fn single_strategies_keep_their_promises_below_their_threshold(
        old in conversation(), keep in 0_usize..30, at_tokens in 1_u64..5_000,
    ) {
        check(&SlidingWindow { at_tokens, ..SlidingWindow::new(keep) }, old.clone())?;
        check(&ToolResultClearing { at_tokens, ..ToolResultClearing::new(keep) }, old.clone())?;
        check(&Summarization { at_tokens, ..Summarization::new(keep) }, old)?;
    }

    #[test]
    fn a_chain_keeps_the_promises(
        old in conversation(), keep in 0_usize..30, at_tokens in 1_u64..5_000,
    ) {
        let chain = Composite::new(
            ToolResultClearing { at_tokens, ..ToolResultClearing::new(keep) },
            Summarization { at_tokens, ..Summarization::new(keep) },
        )
        .then(SlidingWindow { at_tokens, ..SlidingWindow::new(keep / 2) });
        check(&chain, old)?;
    }

    #[test]
    fn estimates_add_up(old in conversation(), at in 0_usize..40, chars in 1.0_f64..8.0) {
        let counter = TokenCounter::new(chars);
        let (left, right) = old.split_at(at.min(old.len()));
        prop_assert_eq!(
            counter.estimate_messages(&old),
            counter.estimate_messages(left) + counter.estimate_messages(right)
        );
    }
}
