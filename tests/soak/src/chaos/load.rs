//! Runs with writes, reads and tickets.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use neuron_harness::chat;
use neuron_patience::patience;
use serde_json::{Value, json};

use crate::{
    model::Model,
    site::{BETWEEN_CALLS, Site},
};

pub(crate) const OUTPUT: &str = "Done.";

/// The turns whose call is a write.
pub(crate) const WRITES: [usize; 3] = [1, 3, 4];

/// The write that a person is asked about.
const ASKED: usize = 3;

pub(crate) const LAST: usize = 6;

/// Returns the id of the call of a turn.
pub(crate) fn call_id(turn: usize) -> String {
    format!("call_{turn}")
}

/// Returns the model's answer.
pub(crate) fn answer(run: &str, turn: usize) -> Value {
    let id = call_id(turn);
    if turn >= LAST {
        chat::text(OUTPUT)
    } else if WRITES.contains(&turn) {
        chat::calls(&[(
            &id,
            "bash",
            json!({"command": write(run, turn, turn == ASKED)}),
        )])
    } else {
        chat::calls(&[(&id, "read_file", json!({"path": "note"}))])
    }
}

/// Returns a command that appends its idempotency key, the run, the turn and the time. A person is asked about it if
/// the agent has a rule for `true asked*`.
pub(crate) fn write(run: &str, turn: usize, is_asked: bool) -> String {
    let asked = if is_asked { "true asked; " } else { "" };
    format!(
        "{asked}sleep 0.3; printf '%s {run} {turn} %s\\n' \"$NEURON_IDEMPOTENCY_KEY\" \"$EPOCHREALTIME\" >> writes; echo did" // What a kill may fall into.
    )
}

/// Keeps this many runs in progress until `is_enough`. Their ids begin with `name`, and a run is over when its turn
/// `last` is answered: no other run has that turn. Returns the runs that it started.
pub(crate) fn start_runs(
    site: &Site,
    model: &Model,
    name: &str,
    last: usize,
    at_once: usize,
    is_enough: &AtomicBool,
) -> Vec<String> {
    let mut runs = Vec::new();
    while !is_enough.load(Ordering::SeqCst) {
        if runs.len() < model.runs_with_turn(last) + at_once {
            let run = format!("{name}-{}", runs.len() + 1);
            site.starts(&run, "default");
            runs.push(run);
        }
        thread::sleep(BETWEEN_CALLS); // Between two looks.
    }
    runs
}

/// Approves every ticket until all runs are over.
pub(crate) fn approve(site: &Site, is_over: &AtomicBool) {
    while !is_over.load(Ordering::SeqCst) {
        // While the server or the worker is away, this returns nothing.
        for (run, ticket) in site.tickets().unwrap_or_default() {
            drop(site.ask(&["approve", &run, &ticket], patience()));
        }
        thread::sleep(BETWEEN_CALLS); // Between two looks.
    }
}
