use std::{sync::Arc, time::Duration};

use neuron_config::{DemoModel, ScriptModel};
use neuron_executor::{Executor, ModelPrice, Prices, StepScope};
use neuron_types::{
    CompletionRequest, CompletionResponse, DynProvider, FailureKind, Message, Provider,
    ProviderError, RequestHead, RunTags,
};
use rust_decimal::Decimal;
use serde_json::json;

use neuron_testing::effects::scope;

fn script(json: &str) -> ScriptModel {
    ScriptModel::parse(json).unwrap()
}

fn request(provider: Option<&str>) -> CompletionRequest {
    CompletionRequest::new(
        RequestHead {
            provider: provider.map(Into::into),
            model: "m1".into(),
            ..RequestHead::default()
        },
        vec![Message::user("the secret prompt")],
    )
}

/// A provider that never answers.
struct Silent;

impl Provider for Silent {
    async fn complete(&self, _: &CompletionRequest) -> Result<CompletionResponse, ProviderError> {
        std::future::pending().await
    }
}

struct Panicking;

impl Provider for Panicking {
    async fn complete(&self, _: &CompletionRequest) -> Result<CompletionResponse, ProviderError> {
        panic!("no such luck")
    }
}

#[tokio::test]
async fn asks_the_provider_that_the_request_names() {
    let shared: Arc<dyn DynProvider> = Arc::new(script(r#"{"turns": [{"text": "from b"}]}"#));
    let executor = Executor::builder()
        .provider("a", script(r#"{"turns": [{"text": "from a"}]}"#))
        .shared_provider("b", shared)
        .build();
    let answer = executor.call_model(&scope(), &request(Some("b"))).await;
    assert_eq!(answer.unwrap().message.text(), "from b");
}

#[tokio::test]
async fn answers_to_turns_name_what_the_executor_has_no_tool_for() {
    let of = |what: &str| {
        Executor::builder()
            .provider("a", script(r#"{"turns": [{"text": "yes"}]}"#))
            .left_out([what.to_owned()])
            .build()
    };
    let executor = of("mine")
        .to_builder()
        .member("other", of("theirs"))
        .build();
    let told = async |agent: Option<&str>, position: u32| {
        let mut scope = scope();
        scope.agent = agent.map(ToOwned::to_owned);
        scope.step.position = position;
        let answer = executor.call_model(&scope, &request(None)).await;
        answer.unwrap().left_out
    };
    assert_eq!(told(None, 0).await, ["mine"]);
    assert_eq!(told(Some("other"), 0).await, ["theirs"]);
    assert!(told(None, 1).await.is_empty());
}

#[tokio::test]
async fn asks_for_a_tenant_what_is_there_for_it() {
    let own: Arc<dyn DynProvider> = Arc::new(script(r#"{"turns": [{"text": "of acme"}]}"#));
    let shared = r#"{"turns": [{"text": "shared"}]}"#;
    let executor = Executor::builder()
        .provider("a", script(shared))
        .tenant_provider("a", "acme", own)
        .provider("b", script(shared))
        .build();
    for (name, tenant, text) in [
        ("a", Some("acme"), "of acme"),
        ("a", Some("globex"), "shared"),
        ("a", None, "shared"),
        ("b", Some("acme"), "shared"),
    ] {
        let scope = StepScope {
            tags: RunTags {
                tenant: tenant.map(ToOwned::to_owned),
                ..RunTags::default()
            },
            ..scope()
        };
        let answer = executor.call_model(&scope, &request(Some(name))).await;
        assert_eq!(answer.unwrap().message.text(), text, "{name} {tenant:?}");
    }
}

#[tokio::test]
async fn needs_no_provider_name_where_there_is_one_provider() {
    let executor = Executor::builder()
        .provider("a", script(r#"{"turns": [{"text": "from a"}]}"#))
        .build();
    let answer = executor.call_model(&scope(), &request(None)).await;
    assert_eq!(answer.unwrap().message.text(), "from a");
}

#[tokio::test]
async fn names_the_known_providers_when_asked_for_another() {
    let executor = Executor::builder()
        .provider("demo", DemoModel)
        .provider("a", DemoModel)
        .build();
    let failure = executor
        .call_model(&scope(), &request(Some("b")))
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::NoWorker);
    assert_eq!(
        failure.message,
        "there is no provider \"b\": this executor has a, demo"
    );
    let failure = executor
        .call_model(&scope(), &request(None))
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::InvalidRequest);
    assert_eq!(
        failure.message,
        "the request names no provider: this executor has a, demo"
    );
}

#[tokio::test]
async fn prices_the_parts_of_the_prompt_apart() {
    let mut prices = Prices::default();
    let price = ModelPrice {
        input: "2".parse().unwrap(),
        output: "10".parse().unwrap(),
        cache_read: Some("0.2".parse().unwrap()),
        cache_write: Some("2.5".parse().unwrap()),
        long_prompt: None,
    };
    prices.insert("a", "m1", price);
    let executor = Executor::builder()
        .provider(
            "a",
            script(
                r#"{"turns": [{"text": "x", "usage": {"input_tokens": 1000, "output_tokens": 100,
                    "cache_read_tokens": 600, "cache_creation_tokens": 300}}]}"#,
            ),
        )
        .prices(prices)
        .build();
    let answer = executor.call_model(&scope(), &request(None)).await.unwrap();
    // 100 × 2 + 600 × 0.2 + 300 × 2.5 + 100 × 10 = 2070 millionths
    let expected: Decimal = "0.00207".parse().unwrap();
    assert_eq!(answer.cost_usd, Some(expected));
}

#[tokio::test]
async fn guesses_no_cost() {
    let mut prices = Prices::default();
    let price = ModelPrice {
        input: Decimal::ONE,
        output: Decimal::ONE,
        cache_read: None,
        cache_write: None,
        long_prompt: None,
    };
    prices.insert("priced", "m1", price);
    let used = r#"{"turns": [{"text": "x", "usage": {"input_tokens": 5}}]}"#;
    let stated = r#"{"turns": [{"text": "x", "usage": {"input_tokens": 5}, "cost_usd": "0.5"}]}"#;
    let costs = [
        ("unpriced", used, None),
        ("priced", r#"{"turns": [{"text": "x"}]}"#, None),
        ("priced", used, Some("0.000005")),
        ("priced", stated, Some("0.5")),
    ];
    for (provider, turns, expected) in costs {
        let executor = Executor::builder()
            .provider(provider, script(turns))
            .prices(prices.clone())
            .build();
        let answer = executor.call_model(&scope(), &request(None)).await.unwrap();
        let expected = expected.map(|cost| cost.parse().unwrap());
        assert_eq!(answer.cost_usd, expected, "{provider} {turns}");
    }
}

#[tokio::test(start_paused = true)]
async fn gives_up_a_model_call_at_its_timeout() {
    let executor = Executor::builder().provider("a", Silent).build();
    let failure = executor
        .call_model(&scope(), &request(None))
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Timeout);
    assert!(failure.retryable);
    assert_eq!(failure.message, "the model call had no result within 60s");
}

#[tokio::test(start_paused = true)]
async fn takes_a_timeout_beyond_the_clock_for_none() {
    let mut scope = scope();
    scope.timeout = Duration::MAX;
    let late = script(r#"{"turns": [{"text": "late", "delay_ms": 86400000}]}"#); // The clock is paused.
    let executor = Executor::builder().provider("a", late).build();
    let answer = executor.call_model(&scope, &request(None)).await.unwrap();
    assert_eq!(answer.message.text(), "late");
}

#[tokio::test]
async fn ends_a_model_call_when_the_run_is_cancelled() {
    let scope = scope();
    let executor = Executor::builder().provider("a", Silent).build();
    let request = request(None);
    let (result, ()) = tokio::join!(executor.call_model(&scope, &request), async {
        scope.cancellation.cancel();
    });
    assert_eq!(result.unwrap_err().kind, FailureKind::Cancelled);
}

#[tokio::test]
async fn fails_the_step_when_a_provider_panics() {
    let executor = Executor::builder().provider("a", Panicking).build();
    let failure = executor
        .call_model(&scope(), &request(None))
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Internal);
    assert_eq!(failure.message, "the model call panicked: no such luck");
}

#[tokio::test]
async fn passes_on_what_the_provider_said_of_its_failure() {
    let asked = Duration::from_millis(1500); // Only compared, never waited for.
    let failure = json!({
        "kind": "rate_limited", "status": 429, "message": "slow down",
        "retry_after_ms": 1500, // Only compared, never waited for.
    });
    let model = script(&json!({"turns": [{"fail": [failure]}]}).to_string());
    let executor = Executor::builder().provider("a", model).build();
    let failure = executor
        .call_model(&scope(), &request(None))
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::RateLimited);
    assert_eq!(failure.status, Some(429));
    assert_eq!(failure.retry_after, Some(asked));
    assert_eq!(failure.message, "slow down (HTTP 429)");
}
