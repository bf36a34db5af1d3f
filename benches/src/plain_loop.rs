//! The cost of the plain loop a turn, and whether it grows with the conversation.

use std::time::{Duration, Instant};

use neuron_local::LocalDurableContext;
use neuron_types::RunId;
use serde_json::json;

use crate::{
    failure::Failure,
    model::run_of,
    report::{line, median, micros},
};

/// How long the measured runs are.
const LENGTHS: [u32; 3] = [10, 50, 1_000];

/// How many runs of each length count, and how many before them do not.
const ROUNDS: u32 = 100;
const WARM_UP: u32 = 20;

pub(crate) async fn measure() -> Result<(), Failure> {
    let mut times = LENGTHS.map(|_| Vec::new());
    // The lengths alternate, so that all see the same machine.
    for round in 0..WARM_UP + ROUNDS {
        for (turns, times) in LENGTHS.into_iter().zip(&mut times) {
            let time = run(turns).await?;
            if round >= WARM_UP {
                times.push(time / turns);
            }
        }
    }
    let [short, middle, long] = times.map(|times| micros(median(times)));
    let figures = json!({
        "us_per_turn_10": short,
        "us_per_turn_50": middle,
        "us_per_turn_1000": long,
        "ratio_1000_to_10": long / short,
    });
    line(
        "plain_loop",
        figures,
        "us_per_turn_50 <= 10, ratio_1000_to_10 <= 2",
    );
    Ok(())
}

/// Returns how long a run of this many turns takes.
async fn run(turns: u32) -> Result<Duration, Failure> {
    let (executor, input) = run_of(turns);
    let door = LocalDurableContext::new(executor, RunId::new("bench")?);
    let start = Instant::now();
    let output = neuron_workflows::agent(&door, input).await?;
    let time = start.elapsed();
    if output.turns == turns {
        Ok(time)
    } else {
        Err(format!("{} turns instead of {turns}", output.turns).into())
    }
}
