//! `cargo xtask soak`: figures as JSON lines on standard output, the progress on standard error.

use std::{
    io::{self, Write as _},
    process::ExitCode,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use clap::{Parser, ValueEnum};
use neuron_soak::{Chaos, EngineName, Outage, Parked, Trees};

/// Shows with many runs, long outages and many faults that promises are kept.
#[derive(Debug, Parser)]
#[command(name = "neuron-soak")]
struct Args {
    /// Which soak
    #[arg(value_enum)]
    soak: Soak,
    /// Runs on each engine, of chaos seconds, of trees kills of the worker [default: 50 of outage, 10000 of parked, 3600 of
    /// chaos, 100 of trees]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    size: Option<u32>,
    /// What the faults of chaos and of trees are drawn from [default: the time]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// The engine, several times for several [default: all]
    #[arg(long, value_name = "local|temporal|restate")]
    engine: Vec<EngineName>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Soak {
    /// The model server is away for three minutes, in the middle of many runs
    Outage,
    /// Thousands of runs wait for people, and others continue
    Parked,
    /// Random faults for an hour
    Chaos,
    /// Trees of runs are killed, cancelled and ended from outside
    Trees,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let engines = match args.engine.is_empty() {
        true => EngineName::ALL.to_vec(),
        false => args.engine,
    };
    let seed = args.seed.unwrap_or_else(from_time);
    let runs = |default| args.size.map_or(default, |size| size as usize);
    let report = match args.soak {
        Soak::Outage => Outage::full(runs(50)).run(&engines),
        Soak::Parked => Parked::full(runs(10_000)).run(&engines),
        Soak::Chaos => {
            let lasts = Duration::from_secs(args.size.map_or(3_600, u64::from)); // As long as was asked for.
            Chaos::full(lasts, seed).run(&engines)
        }
        Soak::Trees => Trees::full(runs(100), seed).run(&engines),
    };
    let mut output = io::stdout().lock();
    for figures in &report.figures {
        // The reader of the figures may have read enough.
        drop(writeln!(output, "{figures}"));
    }
    for breach in &report.breaches {
        eprintln!("a promise was broken: {breach}");
    }
    if report.breaches.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn from_time() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
