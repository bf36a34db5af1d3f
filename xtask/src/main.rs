#![doc = include_str!("../README.md")]

mod adapters;
mod bench;
mod changelog;
mod checkout;
mod ci;
mod circles;
mod clients;
mod clock;
mod command;
mod digest;
mod docs;
mod engines;
mod error;
mod fetch;
mod lock;
mod metadata;
mod node;
mod record;
mod replayed;
mod soak;
mod subjects;
mod test;
mod tools;
mod wasm;
mod words;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "The chores of this repository")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    Engines(engines::Args),
    Test(test::Args),
    Ci(ci::Args),
    Bench(bench::Args),
    Soak(soak::Args),
    Record(record::Args),
    Changelog(changelog::Args),
    Words(words::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().chore {
        Chore::Engines(args) => engines::run(&args),
        Chore::Test(args) => test::run(&args),
        Chore::Ci(args) => ci::run(&args),
        Chore::Bench(args) => bench::run(&args),
        Chore::Soak(args) => soak::run(&args),
        Chore::Record(args) => record::run(&args),
        Chore::Changelog(args) => changelog::run(&args),
        Chore::Words(args) => words::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", error.with_causes());
            ExitCode::FAILURE
        }
    }
}
