//! Benchmarks, one JSON line a figure: `cargo xtask bench` with `local`, `providers`, `tools`, `context`,
//! `temporal` or `restate`.
//!
//! The runtime is that of the `neuron` command: the run on the main thread, and one worker.
//!
//! Figures of one run are comparable with each other, not with those of another machine or day.

use std::{env, error::Error, process::ExitCode};

mod context;
#[cfg(feature = "engines")]
mod engines;
mod journal;
mod model;
mod plain_loop;
mod process;
mod report;
mod streams;
mod tools;

/// Why a benchmark could not be made.
type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main(flavor = "multi_thread", worker_threads = 1)]
async fn main() -> ExitCode {
    let what = env::args().nth(1);
    let result = match what.as_deref() {
        Some("local") => local().await,
        Some("providers") => streams::measure(),
        Some("tools") => tools::measure().await,
        Some("context") => context::measure().await,
        #[cfg(feature = "engines")]
        Some("temporal") => engines::temporal().await,
        #[cfg(feature = "engines")]
        Some("restate") => engines::restate().await,
        #[cfg(feature = "engines")]
        Some("serve") => engines::serve(env::args().skip(2)).await,
        _ => {
            Err("say what to measure: local, providers, tools, context, temporal or restate".into())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("neuron-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn local() -> Result<(), Failure> {
    plain_loop::measure().await?;
    journal::measure().await?;
    process::measure()
}
