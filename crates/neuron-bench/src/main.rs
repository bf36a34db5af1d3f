//! Benchmarks, one JSON line each: `cargo xtask bench local`.
//!
//! The runtime is that of the `neuron` command: the run on the main thread, and one worker.
//!
//! Figures of one run are comparable with each other, not with those of another machine or day.

use std::{env, error::Error, process::ExitCode};

mod journal;
mod model;
mod plain_loop;
mod process;
mod report;

/// Why a benchmark could not be made.
type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main(flavor = "multi_thread", worker_threads = 1)]
async fn main() -> ExitCode {
    let what = env::args().nth(1);
    let result = match what.as_deref() {
        Some("local") => local().await,
        _ => Err("say what to measure: local".into()),
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
