use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::future::join_all;
use neuron_executor::{Executor, RateLimiter, StepScope};
use neuron_testing::{effects::scope, tokens::answer};
use neuron_types::{
    CompletionRequest, CompletionResponse, DynProvider, FailureKind, Message, Priority, Provider,
    ProviderError, RequestHead, RunTags,
};
use tokio::time::{Instant, sleep};

const SECOND: Duration = Duration::from_secs(1); // The clock is paused.
const MINUTE: Duration = Duration::from_secs(60); // The clock is paused.

/// A model that takes its time, and notes when it was asked.
#[derive(Clone, Default)]
struct Slow {
    takes: Duration,
    fails: Option<(FailureKind, Duration)>,
    asked: Arc<Mutex<Vec<Instant>>>,
}

impl Slow {
    fn asked(&self) -> Vec<Instant> {
        self.asked.lock().unwrap().clone()
    }
}

impl Provider for Slow {
    async fn complete(&self, _: &CompletionRequest) -> Result<CompletionResponse, ProviderError> {
        self.asked.lock().unwrap().push(Instant::now());
        sleep(self.takes).await; // The clock is paused.
        match self.fails {
            Some((kind, after)) => Err(ProviderError::new(kind, "no").with_retry_after(after)),
            None => Ok(answer("yes")),
        }
    }
}

fn request() -> CompletionRequest {
    let head = RequestHead {
        provider: Some("p".into()),
        ..RequestHead::default()
    };
    CompletionRequest::new(head, vec![Message::user("go")])
}

fn one_a_minute() -> RateLimiter {
    RateLimiter::builder().requests_per_minute(1).build()
}

fn executor(model: &Slow, limiter: &RateLimiter) -> Executor {
    let builder = Executor::builder().provider("p", model.clone());
    builder.limiter("p", limiter.clone()).build()
}

/// An attempt that may take so long.
fn within(timeout: Duration) -> StepScope {
    StepScope { timeout, ..scope() }
}

#[tokio::test(start_paused = true)]
async fn waiting_takes_nothing_of_the_attempts_time() {
    let model = Slow {
        takes: 110 * SECOND,
        ..Slow::default()
    };
    let executor = executor(&model, &one_a_minute());
    let (scope, request) = (within(2 * MINUTE + 5 * SECOND), request());
    let calls = join_all((0..2).map(|_| executor.call_model(&scope, &request))).await;
    assert!(calls.iter().all(Result::is_ok), "{calls:?}");
    let asked = model.asked();
    assert!(asked[1] - asked[0] >= MINUTE, "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn executors_of_one_key_share_its_rate() {
    let (model, limiter) = (Slow::default(), one_a_minute());
    let executors = [executor(&model, &limiter), executor(&model, &limiter)];
    let (scope, request) = (within(10 * MINUTE), request());
    join_all(executors.iter().map(|one| one.call_model(&scope, &request))).await;
    let asked = model.asked();
    assert!(asked[1] - asked[0] >= MINUTE, "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_of_more_than_half_of_the_timeout_is_left_to_the_door() {
    let model = Slow::default();
    let executor = executor(&model, &one_a_minute());
    let (scope, request) = (within(MINUTE), request());
    executor.call_model(&scope, &request).await.unwrap();
    let begin = Instant::now();
    let failure = executor.call_model(&scope, &request).await.unwrap_err();
    assert_eq!(begin.elapsed(), Duration::ZERO);
    assert_eq!(failure.kind, FailureKind::RateLimited);
    assert!(failure.retryable);
    assert!(failure.retry_after >= Some(MINUTE), "{failure:?}");
    assert!(failure.message.starts_with("not sent"), "{failure:?}");
    assert_eq!(model.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled_waits_no_longer() {
    let model = Slow::default();
    let executor = executor(&model, &one_a_minute());
    let (scope, request) = (within(10 * MINUTE), request());
    executor.call_model(&scope, &request).await.unwrap();
    let (call, ()) = tokio::join!(executor.call_model(&scope, &request), async {
        sleep(5 * SECOND).await; // The clock is paused.
        scope.cancellation.cancel();
    });
    assert_eq!(call.unwrap_err().kind, FailureKind::Cancelled);
    assert_eq!(model.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_one_run_meets_holds_back_the_others() {
    let wait = 20 * SECOND;
    let model = Slow {
        fails: Some((FailureKind::RateLimited, wait)),
        ..Slow::default()
    };
    let limiter = RateLimiter::builder().requests_per_minute(600).build();
    let executor = executor(&model, &limiter);
    let (scope, request) = (within(10 * MINUTE), request());
    let failure = executor.call_model(&scope, &request).await.unwrap_err();
    assert_eq!(failure.retry_after, Some(wait));
    let begin = Instant::now();
    executor.call_model(&scope, &request).await.unwrap_err();
    assert!(model.asked()[1] - begin >= wait);
}

#[tokio::test(start_paused = true)]
async fn an_interactive_step_goes_before_those_of_a_batch() {
    let model = Slow::default();
    let executor = executor(&model, &one_a_minute());
    let request = request();
    let order = Mutex::new(Vec::new());
    let call = |priority| {
        let (executor, request, order) = (&executor, &request, &order);
        async move {
            let scope = StepScope {
                priority,
                ..within(60 * MINUTE)
            };
            executor.call_model(&scope, request).await.unwrap();
            order.lock().unwrap().push(priority);
        }
    };
    let (batch, interactive) = (Priority::Batch, Priority::Interactive);
    join_all([batch, batch, batch, interactive].map(call)).await;
    let order = order.into_inner().unwrap();
    assert_eq!(order, [batch, interactive, batch, batch]);
}

#[tokio::test(start_paused = true)]
async fn a_tenant_with_its_own_key_has_its_own_rate() {
    let (shared, own) = (Slow::default(), Slow::default());
    let provider: Arc<dyn DynProvider> = Arc::new(own.clone());
    let executor = executor(&shared, &one_a_minute())
        .to_builder()
        .tenant_provider("p", "acme", provider)
        .tenant_limiter("p", "acme", one_a_minute())
        .build();
    let request = request();
    let begin = Instant::now();
    for (tenant, is_free) in [
        (None, true),
        (Some("acme"), true),
        (Some("globex"), false),
        (Some("acme"), true),
    ] {
        let scope = StepScope {
            tags: RunTags {
                tenant: tenant.map(ToOwned::to_owned),
                ..RunTags::default()
            },
            ..within(10 * MINUTE)
        };
        let before = begin.elapsed();
        executor.call_model(&scope, &request).await.unwrap();
        let waited = begin.elapsed() - before;
        assert_eq!(waited.is_zero(), is_free, "{tenant:?} {waited:?}");
    }
    assert_eq!((shared.asked().len(), own.asked().len()), (2, 2));
}
