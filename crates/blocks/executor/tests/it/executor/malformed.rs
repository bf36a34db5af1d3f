//! Answers that cannot be read: asked again at once, and not for ever.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use neuron_executor::Executor;
use neuron_types::{
    CompletionRequest, CompletionResponse, FailureKind, Message, Provider, ProviderError,
    RequestHead, StopReason, TokenUsage,
};

use neuron_testing::effects::scope;

/// Answers as given for each request, and with an answer of a known end behind that.
struct Wild {
    asked: Arc<AtomicUsize>,
    first: fn(usize) -> Option<Result<StopReason, FailureKind>>,
}

impl Provider for Wild {
    async fn complete(&self, _: &CompletionRequest) -> Result<CompletionResponse, ProviderError> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        let usage = TokenUsage {
            input_tokens: 10,
            output_tokens: 1,
            ..TokenUsage::default()
        };
        let stop_reason = match (self.first)(asked).unwrap_or(Ok(StopReason::EndTurn)) {
            Ok(reason) => reason,
            Err(kind) => return Err(ProviderError::new(kind, "wild").with_usage(usage)),
        };
        Ok(CompletionResponse {
            model: "m1".to_owned(),
            message: Message::assistant("whole"),
            usage,
            stop_reason,
            ..CompletionResponse::default()
        })
    }
}

fn request(fallback_models: Vec<String>) -> CompletionRequest {
    let head = RequestHead {
        provider: Some("a".into()),
        model: "m1".into(),
        fallback_models,
        ..RequestHead::default()
    };
    CompletionRequest::new(head, vec![Message::user("go")])
}

fn wild(first: fn(usize) -> Option<Result<StopReason, FailureKind>>) -> (Wild, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let provider = Wild {
        asked: Arc::clone(&asked),
        first,
    };
    (provider, asked)
}

fn unknown_end() -> Option<Result<StopReason, FailureKind>> {
    Some(Ok(StopReason::Other("from_the_future".into())))
}

#[tokio::test]
async fn three_malformed_answers_in_a_row_end_the_step_and_cost_what_they_cost() {
    for first in [(|_| unknown_end()) as fn(usize) -> _, |_| {
        Some(Err(FailureKind::MalformedAnswer))
    }] {
        let (provider, asked) = wild(first);
        let executor = Executor::builder().provider("a", provider).build();
        let failure = executor.call_model(&scope(), &request(vec![])).await;
        let failure = failure.unwrap_err();
        assert_eq!(failure.kind, FailureKind::MalformedAnswer);
        assert!(!failure.retryable, "{failure}");
        assert!(
            failure.message.starts_with("3 times in a row: "),
            "{failure}"
        );
        assert_eq!(asked.load(Ordering::SeqCst), 3);
        assert_eq!(failure.spent.unwrap().usage.input_tokens, 30);
    }
}

#[tokio::test]
async fn an_answer_after_malformed_ones_counts_and_so_do_their_tokens() {
    let (provider, asked) = wild(|asked| (asked < 2).then(unknown_end)?);
    let executor = Executor::builder().provider("a", provider).build();
    let answer = executor.call_model(&scope(), &request(vec![])).await;
    let answer = answer.unwrap();
    assert_eq!(answer.message.text(), "whole");
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    assert_eq!(answer.spent_before.unwrap().usage.input_tokens, 20);
}

#[tokio::test]
async fn another_failure_between_is_the_attempts_own_and_is_tried_again() {
    let (provider, asked) = wild(|asked| match asked {
        0 => unknown_end(),
        _ => Some(Err(FailureKind::Overloaded)),
    });
    let executor = Executor::builder().provider("a", provider).build();
    let failure = executor.call_model(&scope(), &request(vec![])).await;
    let failure = failure.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Overloaded);
    assert!(failure.retryable);
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    assert_eq!(failure.spent.unwrap().usage.input_tokens, 20);
}

#[tokio::test]
async fn the_next_model_answers_where_one_is_malformed_three_times() {
    let (odd, asked) = wild(|_| unknown_end());
    let (good, _) = wild(|_| None);
    let executor = Executor::builder()
        .provider("a", odd)
        .provider("b", good)
        .build();
    let answer = executor
        .call_model(&scope(), &request(vec!["b/m2".to_owned()]))
        .await
        .unwrap();
    assert_eq!(answer.message.answered_by(), Some("b/m2"));
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    assert_eq!(answer.spent_before.unwrap().usage.input_tokens, 30);
}
