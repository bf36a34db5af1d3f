use std::{sync::Arc, time::Duration};

use neuron_tool::{
    ToolContext, ToolError, ToolOutput, ToolRegistry,
    builtin::{ConcurrencyLimit, RateLimit, Timeout},
    neuron_tool,
};
use serde_json::json;
use tokio::{task::JoinSet, time::Instant};

const SECOND: Duration = Duration::from_secs(1); // The clock is paused.

/// Takes a second.
#[neuron_tool(read_only)]
async fn nap() -> Result<String, ToolError> {
    tokio::time::sleep(SECOND).await; // The clock is paused.
    Ok("rested".into())
}

fn registry(limit: impl neuron_tool::ToolMiddleware + 'static) -> Arc<ToolRegistry> {
    let mut registry = ToolRegistry::new();
    registry.register(NapTool);
    registry.add_tool_middleware("nap", limit);
    Arc::new(registry)
}

/// Returns when each of the calls was done, in whole seconds.
async fn done_after(registry: &Arc<ToolRegistry>, calls: usize) -> Vec<u64> {
    let start = Instant::now();
    let mut naps = JoinSet::new();
    for _ in 0..calls {
        let registry = Arc::clone(registry);
        naps.spawn(async move {
            let output = registry
                .execute("nap", json!({}), &ToolContext::default())
                .await;
            assert_eq!(output.unwrap(), ToolOutput::text("rested"));
            start.elapsed().as_secs()
        });
    }
    let mut times = naps.join_all().await;
    times.sort_unstable();
    times
}

#[tokio::test(start_paused = true)]
async fn a_timeout_ends_calls_that_take_longer() {
    let short = registry(Timeout::new(SECOND / 2));
    let ended = short
        .execute("nap", json!({}), &ToolContext::default())
        .await;
    assert!(matches!(ended, Err(ToolError::Timeout(limit)) if limit == SECOND / 2));
    assert_eq!(
        done_after(&registry(Timeout::new(SECOND * 2)), 1).await,
        [1]
    );
}

#[tokio::test(start_paused = true)]
async fn no_more_calls_go_on_at_once_than_the_limit_says() {
    let registry = registry(ConcurrencyLimit::new(2));
    assert_eq!(done_after(&registry, 5).await, [1, 1, 2, 2, 3]);
}

#[tokio::test(start_paused = true)]
async fn no_more_calls_begin_in_a_stretch_than_the_limit_says() {
    let registry = registry(RateLimit::new(2, SECOND * 10));
    assert_eq!(done_after(&registry, 5).await, [1, 1, 11, 11, 21]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_waits_no_longer_and_takes_no_place() {
    let registry = registry(RateLimit::new(1, SECOND * 10));
    let start = Instant::now();
    assert_eq!(done_after(&registry, 1).await, [1]);
    let ctx = ToolContext::default();
    let (ended, ()) = tokio::join!(registry.execute("nap", json!({}), &ctx), async {
        ctx.cancellation_token.cancel();
    });
    assert!(matches!(ended, Err(ToolError::Cancelled)));
    assert_eq!(start.elapsed().as_secs(), 1);
    assert_eq!(done_after(&registry, 1).await, [10]);
}

/// Makes one more call.
async fn nap_now(registry: &ToolRegistry) -> Result<ToolOutput, ToolError> {
    let ctx = ToolContext::default();
    registry.execute("nap", json!({}), &ctx).await
}

#[tokio::test(start_paused = true)]
async fn a_call_that_finds_no_place_in_time_is_not_made_and_says_so() {
    let registry = registry(ConcurrencyLimit::new(1).max_wait(SECOND / 2));
    let (made, not_made) = tokio::join!(nap_now(&registry), nap_now(&registry));
    assert_eq!(made.unwrap(), ToolOutput::text("rested"));
    let not_made = not_made.unwrap_err();
    assert!(matches!(not_made, ToolError::Unavailable { .. }));
    assert_eq!(
        not_made.to_string(),
        "unavailable: too many calls of nap are going on: this one waited for 500ms and was not made"
    );
    assert_eq!(done_after(&registry, 1).await, [1]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waited_too_long_to_begin_does_not_count() {
    let registry = registry(RateLimit::new(1, SECOND * 10).max_wait(SECOND * 5));
    let start = Instant::now();
    nap_now(&registry).await.unwrap();
    let not_made = nap_now(&registry).await.unwrap_err();
    assert!(matches!(not_made, ToolError::Unavailable { .. }));
    assert_eq!(start.elapsed(), SECOND * 6);
    nap_now(&registry).await.unwrap();
    assert_eq!(start.elapsed(), SECOND * 11);
}

#[tokio::test(start_paused = true)]
async fn a_stretch_of_any_length_can_be_limited() {
    let registry = registry(RateLimit::new(1, Duration::MAX).max_wait(SECOND));
    nap_now(&registry).await.unwrap();
    let not_made = nap_now(&registry).await.unwrap_err();
    assert!(matches!(not_made, ToolError::Unavailable { .. }));
}
