//! The time that each layer of tool middleware adds to a call.

use std::time::{Duration, Instant};

use neuron_tool::{
    ToolMiddleware, ToolRegistry,
    builtin::{
        ConcurrencyLimit, HookRunner, OutputFormatter, PermissionChecker, RateLimit,
        SchemaValidator, Timeout,
    },
    tool_middleware_fn,
};
use neuron_types::{
    ApprovalRules, Hook, HookAction, HookError, HookEvent, ToolCall, ToolContext, WasmBoxedFuture,
};
use serde_json::json;

use crate::{
    failure::Failure,
    model::{self, RESULT_BYTES},
    report::{judged, median, micros},
};

/// The number of calls that are timed together, and how often they are.
const CALLS: u32 = 1_000;
const ROUNDS: usize = 201;
/// How many rounds before them do not count.
const WARM_UP: usize = 20;
const TARGET_US: f64 = 1.0;

pub(crate) async fn measure() -> Result<(), Failure> {
    let bare = tools();
    let layered = layered();
    let mut bare_times = Vec::new();
    let mut times: Vec<Vec<Duration>> = layered.iter().map(|_| Vec::new()).collect();
    // The kinds alternate, so that all see the same machine.
    for round in 0..WARM_UP + ROUNDS {
        let time = calls(&bare).await?;
        if round >= WARM_UP {
            bare_times.push(time);
        }
        for ((_, registry), times) in layered.iter().zip(&mut times) {
            let time = calls(registry).await?;
            if round >= WARM_UP {
                times.push(time);
            }
        }
    }
    let per_call = |times| micros(median(times)) / f64::from(CALLS);
    let bare = per_call(bare_times);
    for ((layer, _), times) in layered.iter().zip(times) {
        let with = per_call(times);
        let added = with - bare;
        let figures = json!({
            "layer": layer,
            "added_us": added,
            "us_per_call": with,
            "us_per_bare_call": bare,
            "result_bytes": RESULT_BYTES,
            "calls": CALLS,
            "rounds": ROUNDS,
        });
        judged("tool_layer", figures, "added_us < 1", added < TARGET_US);
    }
    Ok(())
}

fn tools() -> ToolRegistry {
    model::tools("x".repeat(RESULT_BYTES))
}

/// Returns a registry for each kind of layer. No layer rejects a call, delays it or changes its result: the benchmark
/// measures what every call pays.
fn layered() -> Vec<(&'static str, ToolRegistry)> {
    let nothing =
        tool_middleware_fn(|call, ctx, next| Box::pin(async move { next.run(call, ctx).await }));
    let rules = ApprovalRules {
        allow: vec!["bash(command=cargo check)".to_owned()],
        approve: vec!["*".into(), "!lookup".into()],
        deny: vec!["write_file(path=*.lock)".to_owned()],
        ..ApprovalRules::default()
    };
    let minute = Duration::from_secs(60);
    vec![
        ("nothing", with(nothing)),
        ("schema_validator", with(SchemaValidator::new(&tools()))),
        ("permission_checker", with(PermissionChecker::new(rules))),
        ("output_formatter", with(OutputFormatter::new(RESULT_BYTES))),
        ("hook_runner", with(HookRunner::new(SilentHook))),
        ("timeout", with(Timeout::new(minute))),
        ("concurrency_limit", with(ConcurrencyLimit::new(8))),
        // The rate allows many calls a nanosecond, so that the limit is checked and never delays a call.
        (
            "rate_limit",
            with(RateLimit::new(1, Duration::from_nanos(1))),
        ),
    ]
}

fn with(layer: impl ToolMiddleware + 'static) -> ToolRegistry {
    let mut tools = tools();
    tools.add_middleware(layer);
    tools
}

/// Returns how long the calls take, one after the other.
async fn calls(registry: &ToolRegistry) -> Result<Duration, Failure> {
    let ctx = ToolContext::default();
    let call = ToolCall {
        id: "call-1".to_owned(),
        name: "lookup".to_owned(),
        input: json!({"key": 1}),
        ..ToolCall::default()
    };
    let start = Instant::now();
    for _ in 0..CALLS {
        let output = registry.execute_call(&call, &ctx).await?;
        if output.is_error {
            return Err("a call was refused".into());
        }
    }
    Ok(start.elapsed())
}

/// A hook that lets everything pass.
struct SilentHook;

impl Hook for SilentHook {
    fn on_event<'a>(
        &'a self,
        _: &'a HookEvent<'a>,
    ) -> WasmBoxedFuture<'a, Result<HookAction, HookError>> {
        Box::pin(async { Ok(HookAction::Continue) })
    }
}
