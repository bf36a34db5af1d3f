//! `kill -9` at every change of the journal.

use std::{collections::BTreeSet, fs, hint, path::PathBuf, time::Instant};

use neuron_e2e::{Running, poll::DEADLINE};

use crate::long_run::{CALLS, LAST_TURN, LongRun, RUN, Tool};

/// SQLite's write-ahead log: it only grows while the run is under way, by each change that is committed.
fn journal_size(run: &LongRun) -> u64 {
    let log: PathBuf = run.world.home().join("neuron.db-wal");
    fs::metadata(log).map_or(0, |log| log.len())
}

/// Looks at the size without a pause until `done` or the end of the process.
fn watch(run: &LongRun, process: &mut Running, mut done: impl FnMut(u64) -> bool) {
    let start = Instant::now();
    while !done(journal_size(run)) && process.is_running() {
        assert!(start.elapsed() < DEADLINE, "the run does not end");
        hint::spin_loop();
    }
}

/// Sizes closer than this, two pages, are of one change.
const APART: u64 = 8 * 1024;

/// The sizes that the journal has in a run that nobody kills.
fn sizes() -> Vec<u64> {
    let run = LongRun::new("", |_| None);
    let mut process = run.start();
    let mut sizes = BTreeSet::new();
    watch(&run, &mut process, |size| {
        sizes.insert(size);
        false
    });
    drop(process.finish().exits(0));
    let mut apart: Vec<u64> = Vec::new();
    for size in sizes {
        if apart.last().is_none_or(|last| size >= last + APART) {
            apart.push(size);
        }
    }
    apart
}

/// Kills the run as soon as the journal has this size, and goes on.
fn killed_at(size: u64) {
    let run = LongRun::new("", |_| None);
    let mut process = run.start();
    watch(&run, &mut process, |found| found >= size);
    drop(process.kill());
    let before = run.requests();

    if run.world.neuron(&["status", RUN]).code == Some(2) {
        // Killed before there was a run.
        assert!(before.is_empty());
        drop(run.start().finish().exits(0));
    }
    run.resume();

    let after = run.requests();
    assert_eq!(after.len(), LAST_TURN);
    // One call at most was in flight, and none that was journaled is made again.
    let repeated: Vec<_> = after.iter().filter(|(_, count)| **count > 1).collect();
    assert!(repeated.len() <= 1, "killed at {size}: {after:?}");
    assert!(
        after.values().all(|count| *count <= 2),
        "killed at {size}: {after:?}"
    );
    if let Some((turn, _)) = repeated.first() {
        assert_eq!(
            Some(*turn),
            before.keys().last(),
            "killed at {size}: {before:?}, {after:?}"
        );
    }
    for (number, _, tool) in CALLS {
        assert!(run.commands(number) <= usize::from(tool == Tool::Bash));
    }
}

/// Every `parts`-th change, starting with this one: the parts run side by side.
fn killed_at_changes(part: usize, parts: usize) {
    let sizes = sizes();
    assert!(
        sizes.len() >= 20,
        "a change for every step at least: {sizes:?}"
    );
    for size in sizes.into_iter().skip(part).step_by(parts) {
        killed_at(size);
    }
}

#[test]
fn killed_at_even_changes_of_the_journal_the_run_ends_as_without_kills() {
    killed_at_changes(0, 2);
}

#[test]
fn killed_at_odd_changes_of_the_journal_the_run_ends_as_without_kills() {
    killed_at_changes(1, 2);
}
