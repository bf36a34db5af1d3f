//! What the plain loop costs a turn, and whether that grows with the conversation.

use std::time::{Duration, Instant};

use neuron_runtime::LocalDurableContext;
use neuron_types::RunId;
use serde_json::json;

use crate::{
    Failure,
    model::run_of,
    report::{line, median, micros},
};

pub(crate) async fn measure() -> Result<(), Failure> {
    let short = per_turn(10, 200).await?;
    let middle = per_turn(50, 200).await?;
    let long = per_turn(1_000, 15).await?;
    let figures = json!({
        "us_per_turn_10": micros(short),
        "us_per_turn_50": micros(middle),
        "us_per_turn_1000": micros(long),
        "ratio_1000_to_10": micros(long) / micros(short),
    });
    line(
        "plain_loop",
        figures,
        "us_per_turn_50 <= 10, ratio_1000_to_10 <= 2",
    );
    Ok(())
}

/// The median time of a turn over `rounds` runs, after some that do not count.
async fn per_turn(turns: u32, rounds: u32) -> Result<Duration, Failure> {
    let mut times = Vec::new();
    for round in 0..rounds + rounds / 5 {
        let (executor, input) = run_of(turns);
        let door = LocalDurableContext::new(executor, RunId::new(format!("r{round}"))?);
        let start = Instant::now();
        let output = neuron_workflows::agent(&door, input).await?;
        let time = start.elapsed();
        if output.turns != turns {
            return Err(format!("{} turns instead of {turns}", output.turns).into());
        }
        if round >= rounds / 5 {
            times.push(time / turns);
        }
    }
    Ok(median(times))
}
