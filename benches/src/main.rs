#![doc = include_str!("../README.md")]

use std::{env, process::ExitCode};

mod context;
#[cfg(feature = "engines")]
mod engines;
mod failure;
mod journal;
mod model;
mod plain_loop;
mod process;
mod report;
mod sandbox;
mod streams;
mod tools;
mod watched;

use failure::Failure;

fn main() -> ExitCode {
    // This comes first: this program may have been started again as a sandbox's helper.
    neuron_sandbox::dispatch();
    measure()
}

#[tokio::main(flavor = "multi_thread", worker_threads = 1)]
async fn measure() -> ExitCode {
    let what = env::args().nth(1);
    let result = match what.as_deref() {
        Some("local") => local().await,
        Some("providers") => streams::measure(),
        Some("tools") => tools::measure().await,
        Some("sandbox") => sandbox::measure().await,
        Some("context") => context::measure().await,
        #[cfg(feature = "engines")]
        Some("temporal") => engines::temporal().await,
        #[cfg(feature = "engines")]
        Some("restate") => engines::restate().await,
        #[cfg(feature = "engines")]
        Some("serve") => engines::serve(env::args().skip(2)).await,
        _ => Err(
            "say what to measure: local, providers, tools, sandbox, context, temporal or restate"
                .into(),
        ),
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
    process::measure()?;
    watched::measure().await
}
