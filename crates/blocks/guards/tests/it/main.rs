//! What guards find, and what programs are asked.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests may"
)]

mod calls;
mod commands;
mod hooks;
mod models;
mod scripts;
mod secrets;
mod texts;
mod urls;

use neuron_types::{Guard, GuardPoint, GuardSubject, GuardVerdict};

/// Returns what a guard says that waits for nothing.
fn said(guard: &impl Guard, subject: GuardSubject<'_>) -> GuardVerdict {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(guard.check(subject)).unwrap()
}

/// Returns what it says of a text.
fn of_text(guard: &impl Guard, text: &str) -> GuardVerdict {
    said(guard, GuardSubject::new(GuardPoint::Output, text))
}

/// The text with what it finds replaced; the same where it finds nothing.
fn replaced(guard: &impl Guard, text: &str) -> String {
    match of_text(guard, text) {
        GuardVerdict::Pass => text.to_owned(),
        GuardVerdict::Replace { with, .. } => with,
        other => panic!("{other:?}"),
    }
}
