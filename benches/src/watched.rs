//! The time that guards, hooks and telemetry add to a turn in memory.

use std::time::{Duration, Instant};

use neuron_guards::TextGuard;
use neuron_local::LocalDurableContext;
use neuron_telemetry::Telemetry;
use neuron_types::{GuardSpec, Hook, HookAction, HookError, HookEvent, RunId, WasmBoxedFuture};
use serde_json::json;
use tracing_subscriber::{layer::SubscriberExt as _, util::SubscriberInitExt as _};

use crate::{
    failure::Failure,
    model::{built_run_of, run_of},
    report::{line, median, micros},
};

const TURNS: u32 = 50;
const ROUNDS: u32 = 100;
const WARM_UP: u32 = 20;

/// The addition with which a run is measured.
#[derive(Clone, Copy)]
enum With {
    Nothing,
    /// A guard that looks for secrets in results and answers.
    Guard,
    /// A hook that lets everything pass.
    Hook,
    Both,
}

impl With {
    const ALL: [Self; 4] = [Self::Nothing, Self::Guard, Self::Hook, Self::Both];
}

pub(crate) async fn measure() -> Result<(), Failure> {
    let [nothing, guard, hook, both] = rounds(With::ALL, &|| ()).await?;
    // The telemetry is the whole process's, from here on.
    let (telemetry, spans, metrics) = Telemetry::in_memory();
    tracing_subscriber::registry()
        .with(telemetry.layer())
        .try_init()?;
    let sampler = telemetry.clone();
    neuron_executor::record_traces(move |trace| sampler.samples(trace));
    neuron_executor::record_metrics();
    let forget = || {
        spans.reset();
        metrics.reset();
    };
    let [told, all] = rounds([With::Nothing, With::Both], &forget).await?;
    let figures = json!({
        "us_per_turn": nothing,
        "guard_us": guard - nothing,
        "hook_us": hook - nothing,
        "guard_and_hook_us": both - nothing,
        "telemetry_us": told - nothing,
        "all_us": all - nothing,
    });
    line("watched_turn", figures, "us_per_turn as in plain_loop");
    Ok(())
}

/// Returns the medians of a turn in microseconds. The kinds alternate, so that all see the same machine.
async fn rounds<const N: usize>(kinds: [With; N], between: &dyn Fn()) -> Result<[f64; N], Failure> {
    let mut times = kinds.map(|_| Vec::new());
    for round in 0..WARM_UP + ROUNDS {
        for (with, times) in kinds.into_iter().zip(&mut times) {
            let time = run(with).await?;
            between();
            if round >= WARM_UP {
                times.push(time / TURNS);
            }
        }
    }
    Ok(times.map(|times| micros(median(times))))
}

/// Returns how long a run takes.
async fn run(with: With) -> Result<Duration, Failure> {
    let guard = || TextGuard::secrets("secrets");
    let (executor, mut input) = match with {
        With::Nothing => run_of(TURNS),
        With::Guard => built_run_of(TURNS, |builder| builder.guard(guard())),
        With::Hook => built_run_of(TURNS, |builder| builder.hook(Silent)),
        With::Both => built_run_of(TURNS, |builder| builder.guard(guard()).hook(Silent)),
    };
    if matches!(with, With::Guard | With::Both) {
        input.agent.guards = vec![GuardSpec::of(&guard())];
    }
    let door = LocalDurableContext::new(executor, RunId::new("bench")?);
    let start = Instant::now();
    let output = neuron_workflows::agent(&door, input).await?;
    let time = start.elapsed();
    if output.turns == TURNS {
        Ok(time)
    } else {
        Err(format!("{} turns instead of {TURNS}", output.turns).into())
    }
}

/// A hook that lets everything pass.
struct Silent;

impl Hook for Silent {
    fn on_event<'a>(
        &'a self,
        _: &'a HookEvent<'a>,
    ) -> WasmBoxedFuture<'a, Result<HookAction, HookError>> {
        Box::pin(async { Ok(HookAction::Continue) })
    }
}
