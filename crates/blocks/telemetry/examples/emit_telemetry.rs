//! Emits what a run with one turn would, to whatever the environment says. The tests run it.

use std::{env, process::ExitCode, time::Duration};

use neuron_telemetry::Telemetry;
use tracing::Level;
use tracing_subscriber::{
    Layer as _, filter::LevelFilter, fmt, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

/// What tests find again.
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

fn main() -> ExitCode {
    // How long the end may take, and whether all of it happens inside a runtime.
    let mut arguments = env::args().skip(1);
    let timeout = arguments.next().and_then(|millis| millis.parse().ok());
    let timeout = Duration::from_millis(timeout.unwrap_or(5_000)); // For a run by hand.
    match arguments.next().as_deref() {
        Some("inside") => {
            let runtime = tokio::runtime::Builder::new_current_thread().build();
            runtime.map_or(ExitCode::FAILURE, |runtime| {
                runtime.block_on(async { emit(timeout) })
            })
        }
        _ => emit(timeout),
    }
}

fn emit(timeout: Duration) -> ExitCode {
    let telemetry = match Telemetry::from_env("emitter") {
        Ok(telemetry) => telemetry,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let log = fmt::layer()
        .with_writer(std::io::stderr)
        .with_filter(LevelFilter::WARN);
    tracing_subscriber::registry()
        .with(telemetry.as_ref().map(Telemetry::layer))
        .with(log)
        .init();
    turn();
    match &telemetry {
        Some(telemetry) => {
            println!("samples: {}", telemetry.samples(TRACE));
            telemetry.shutdown(timeout);
            // What ends late is not complained of.
            turn();
            telemetry.shutdown(timeout);
        }
        None => println!("nothing is exported"),
    }
    ExitCode::SUCCESS
}

fn turn() {
    let turn = tracing::info_span!(
        target: "neuron::turn",
        "turn",
        otel.name = "invoke_agent helper",
        trace.id = TRACE,
        trace.span = "00f067aa0ba902b7",
        trace.took_ms = 1_500_u64,
        run_id = "run-1",
        agent = "helper",
    );
    turn.in_scope(|| {
        let call = tracing::info_span!(
            target: "neuron::model",
            "call",
            otel.name = "chat some-model",
            otel.kind = "client",
            gen_ai.usage.input_tokens = 12_u64,
            error.type = tracing::field::Empty,
        );
        call.record("error.type", "timeout");
        tracing::info!(target: "neuron::model", parent: &call, "what is said stays here");
    });
    tracing::event!(target: "neuron::metrics", Level::INFO,
        counter.neuron.run.started = 2_u64,
        histogram.gen_ai.invoke_agent.duration = 1.5,
        agent = "helper",
    );
}
