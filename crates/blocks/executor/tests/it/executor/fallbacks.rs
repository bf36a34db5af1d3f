//! Lists of models.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use neuron_config::ScriptModel;
use neuron_executor::{Executor, ExecutorBuilder, ModelPrice, Prices, RateLimiter};
use neuron_types::{
    CompletionRequest, CompletionResponse, ContentBlock, FailureKind, Hook, HookAction, HookError,
    HookEvent, Message, Priority, Provider, ProviderError, RequestHead, Role, WasmBoxedFuture,
};
use rust_decimal::Decimal;
use serde_json::json;

use neuron_testing::effects::scope;

const SECOND: Duration = Duration::from_secs(1); // Only compared, or the clock is paused.

const FALLBACK: &str = r#"{"turns": [{"text": "from b", "usage": {"input_tokens": 1000000}}]}"#;

fn script(json: &str) -> ScriptModel {
    ScriptModel::parse(json).unwrap()
}

/// A model that fails so, and would answer then.
fn failing(kind: &str, retry_after_ms: u64) -> ScriptModel {
    let failure = json!({
        "kind": kind, "message": "as told",
        "retry_after_ms": retry_after_ms, // Only compared: no request comes back.
    });
    script(&json!({"turns": [{"text": "from a", "fail": [failure]}]}).to_string())
}

fn listed(others: &[&str]) -> CompletionRequest {
    let head = RequestHead {
        provider: Some("a".into()),
        model: "m".into(),
        fallback_models: others.iter().map(|name| (*name).to_owned()).collect(),
        ..RequestHead::default()
    };
    CompletionRequest::new(head, vec![Message::user("Hi")])
}

fn two(first: impl Provider + 'static, second: impl Provider + 'static) -> ExecutorBuilder {
    Executor::builder()
        .provider("a", first)
        .provider("b", second)
}

#[tokio::test]
async fn the_next_model_answers_and_costs_its_own_price() {
    let mut prices = Prices::default();
    for (provider, model, dollars) in [("a", "m", 1), ("b", "n", 7)] {
        let price = ModelPrice {
            input: Decimal::from(dollars),
            output: Decimal::ZERO,
            cache_read: None,
            cache_write: None,
            long_prompt: None,
        };
        prices.insert(provider, model, price);
    }
    let executor = two(failing("overloaded", 0), script(FALLBACK));
    let executor = executor.prices(prices).build();
    let answer = executor.call_model(&scope(), &listed(&["b/n"])).await;
    let answer = answer.unwrap();
    assert_eq!(answer.message.text(), "from b");
    assert_eq!(answer.message.answered_by(), Some("b/n"));
    assert_eq!(answer.cost_usd, Some(Decimal::from(7)));
}

#[tokio::test]
async fn the_first_model_is_named_too_and_one_alone_is_not() {
    let executor = Executor::builder().provider("a", script(FALLBACK)).build();
    let named = |others: &'static [&str]| {
        let executor = executor.clone();
        async move {
            let answer = executor.call_model(&scope(), &listed(others)).await;
            answer.unwrap().message.answered_by().map(ToOwned::to_owned)
        }
    };
    assert_eq!(named(&["a/small"]).await.as_deref(), Some("a/m"));
    // A provider that is not here is left out.
    assert_eq!(named(&["nobody/n"]).await.as_deref(), Some("a/m"));
    assert_eq!(named(&[]).await, None);
}

#[tokio::test]
async fn a_failure_that_no_other_model_mends_is_the_steps() {
    for kind in ["invalid_request", "content_filter", "context_length"] {
        let executor = two(failing(kind, 0), script(FALLBACK)).build();
        let failure = executor.call_model(&scope(), &listed(&["b/n"])).await;
        let failure = failure.unwrap_err();
        assert_eq!(failure.kind.as_str(), kind);
        assert!(!failure.message.contains("b/n"), "{failure}");
    }
}

#[tokio::test]
async fn a_model_that_takes_the_request_for_invalid_is_passed_over() {
    let executor = two(failing("overloaded", 0), failing("invalid_request", 0));
    let executor = executor.provider("c", script(FALLBACK)).build();
    let answer = executor
        .call_model(&scope(), &listed(&["b/n", "c/o"]))
        .await;
    assert_eq!(answer.unwrap().message.answered_by(), Some("c/o"));
}

#[tokio::test]
async fn where_all_fail_the_door_comes_back_as_soon_as_one_may_answer() {
    let executor = two(
        failing("rate_limited", 60_000),
        failing("overloaded", 5_000),
    )
    .build();
    let failure = executor.call_model(&scope(), &listed(&["b/n"])).await;
    let failure = failure.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Overloaded);
    assert_eq!(failure.retry_after, Some(5 * SECOND));
    assert_eq!(failure.message, "b/n: as told; a/m: rate_limited: as told");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_is_paced_keeps_no_other_from_being_asked() {
    let limiter = RateLimiter::builder().requests_per_minute(1).build();
    let turn = limiter.admit(0, Priority::Interactive, Duration::MAX).await;
    drop(turn.unwrap());
    let start = tokio::time::Instant::now();
    let executor = two(script(FALLBACK), script(FALLBACK));
    let executor = executor.limiter("a", limiter).build();
    let answer = executor.call_model(&scope(), &listed(&["b/n"])).await;
    assert_eq!(answer.unwrap().message.answered_by(), Some("b/n"));
    assert!(start.elapsed() < 11 * SECOND);
    // With no other model to ask it is waited for.
    let alone = executor.call_model(&scope(), &listed(&[])).await;
    assert!(alone.is_err() || start.elapsed() > 11 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn each_model_has_the_time_of_the_attempt() {
    let slow = |ms: u64| {
        let late = json!({"turns": [{"text": "late", "delay_ms": ms}]}); // The clock is paused.
        script(&late.to_string())
    };
    let executor = two(slow(1_000_000), slow(59_000)).build();
    let answer = executor.call_model(&scope(), &listed(&["b/n"])).await;
    assert_eq!(answer.unwrap().message.answered_by(), Some("b/n"));
}

#[tokio::test]
async fn a_cancelled_call_asks_nobody_else() {
    let executor = two(Silent, script(FALLBACK));
    let (executor, scope, request) = (executor.build(), scope(), listed(&["b/n"]));
    let (result, ()) = tokio::join!(executor.call_model(&scope, &request), async {
        scope.cancellation.cancel();
    });
    assert_eq!(result.unwrap_err().kind, FailureKind::Cancelled);
}

/// A model that never answers.
struct Silent;

impl Provider for Silent {
    async fn complete(&self, _: &CompletionRequest) -> Result<CompletionResponse, ProviderError> {
        std::future::pending().await
    }
}

/// Remembers what models were asked, and ends the run at the first that is asked of `b` if it is to.
#[derive(Clone, Default)]
struct Asked {
    requests: Arc<Mutex<Vec<CompletionRequest>>>,
    ends: bool,
}

impl Hook for Asked {
    fn on_event<'a>(
        &'a self,
        event: &'a HookEvent<'a>,
    ) -> WasmBoxedFuture<'a, Result<HookAction, HookError>> {
        let mut action = HookAction::Continue;
        if let HookEvent::PreLlmCall { request } = event {
            self.requests.lock().unwrap().push((*request).clone());
            if self.ends && request.provider.as_deref() == Some("b") {
                let reason = "no".to_owned();
                action = HookAction::Terminate { reason };
            }
        }
        Box::pin(async { Ok(action) })
    }
}

#[tokio::test]
async fn a_hook_sees_each_request_and_ends_the_run_at_any() {
    for ends in [false, true] {
        let hook = Asked {
            ends,
            ..Asked::default()
        };
        let first = r#"{"turns": [{}, {"fail": [{"kind": "quota", "message": "as told"}]}]}"#;
        let second = r#"{"turns": [{}, {"text": "from b"}]}"#;
        let executor = two(script(first), script(second)).hook(hook.clone());
        let executor = executor.build();
        let mut request = listed(&["b/n"]);
        request.messages.push(Message {
            role: Role::Assistant,
            content: vec![
                ContentBlock::RedactedThinking { data: "x".into() },
                ContentBlock::Text("Hello.".into()),
                ContentBlock::AnsweredBy {
                    model: "a/m".into(),
                },
            ],
        });
        request.messages.push(Message::user("And?"));
        let result = executor.call_model(&scope(), &request).await;
        let asked = hook.requests.lock().unwrap().clone();
        assert_eq!(asked[0], request);
        assert_eq!(asked[1].provider.as_deref(), Some("b"));
        assert_eq!(asked[1].messages[1], Message::assistant("Hello."));
        match result {
            Ok(_) => assert!(!ends),
            Err(failure) => assert_eq!(failure.kind, FailureKind::Terminated),
        }
    }
}

/// Takes the conversation for an invalid one as long as another's answer is in it.
struct Picky;

impl Provider for Picky {
    async fn complete(&self, _: &CompletionRequest) -> Result<CompletionResponse, ProviderError> {
        Err(ProviderError::new(
            FailureKind::InvalidRequest,
            "what is this",
        ))
    }
}

#[tokio::test]
async fn a_first_model_that_cannot_read_what_another_answered_is_passed_over() {
    let executor = two(Picky, script(r#"{"turns": [{}, {"text": "again b"}]}"#)).build();
    let mut request = listed(&["b/n"]);
    let mut theirs = Message::assistant("from b");
    theirs.content.push(ContentBlock::AnsweredBy {
        model: "b/n".into(),
    });
    request.messages.push(theirs);
    request.messages.push(Message::user("And?"));
    let answer = executor.call_model(&scope(), &request).await;
    assert_eq!(answer.unwrap().message.text(), "again b");
}

#[tokio::test]
async fn one_model_that_goes_on_alone_is_sent_nothing_that_another_provider_answered() {
    let hook = Asked::default();
    let second = script(r#"{"turns": [{}, {"text": "from b"}]}"#);
    let executor = Executor::builder().provider("b", second);
    let executor = executor.hook(hook.clone()).build();
    let mut request = listed(&[]);
    let head = request.head_mut();
    head.provider = Some("b".into());
    head.model = "n".into();
    request.messages.push(Message {
        role: Role::Assistant,
        content: vec![
            ContentBlock::RedactedThinking { data: "x".into() },
            ContentBlock::Text("Hello.".into()),
            ContentBlock::AnsweredBy {
                model: "a/m".into(),
            },
        ],
    });
    request.messages.push(Message::user("And?"));
    let answer = executor.call_model(&scope(), &request).await.unwrap();
    assert_eq!(answer.message.text(), "from b");
    assert_eq!(answer.message.answered_by(), Some("b/n"));
    let asked = hook.requests.lock().unwrap().clone();
    assert_eq!(asked[0].messages[1], Message::assistant("Hello."));
}
