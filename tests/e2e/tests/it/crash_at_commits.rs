//! `kill -9` at every change of the journal.

use std::{
    fs, hint,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use neuron_harness::{Reply, Running};
use neuron_patience::patience;

use crate::long_run::{CALLS, LAST_TURN, LongRun, RUN, Tool};

/// Returns the path of SQLite's write-ahead log.
fn log_of(run: &LongRun) -> PathBuf {
    run.world.database().with_extension("db-wal")
}

/// Returns the size of the log. It only grows while the run is in progress, by each change that is committed.
fn size_of(log: &Path) -> u64 {
    fs::metadata(log).map_or(0, |log| log.len())
}

/// Looks at the size without a pause until `done` or the end of the process.
fn watch(run: &LongRun, process: &mut Running, mut done: impl FnMut(u64) -> bool) {
    let (start, time, log) = (Instant::now(), patience(), log_of(run));
    while !done(size_of(&log)) && process.is_running() {
        assert!(start.elapsed() < time, "the run does not end");
        hint::spin_loop();
    }
}

/// A page: no step adds less to the journal.
const APART: u64 = 4 * 1024;

/// Returns the size of the journal in a run that is not killed.
fn full_size() -> u64 {
    let run = LongRun::new("", |_| None);
    let mut process = run.start();
    let mut largest = 0;
    watch(&run, &mut process, |size| {
        largest = largest.max(size);
        false
    });
    drop(process.finish().exits(0));
    largest
}

/// Kills the run as soon as the journal has this size, and resumes it. If the kill is late, the run gets no further
/// than to its next model call.
fn killed_at(size: u64) {
    let (log, is_killed) = (Arc::new(OnceLock::<PathBuf>::new()), Arc::default());
    let (looked_at, knows): (_, Arc<AtomicBool>) = (Arc::clone(&log), Arc::clone(&is_killed));
    let run = LongRun::new("", move |_| {
        let is_late = !knows.load(Ordering::SeqCst) && size_of(looked_at.get()?) >= size;
        is_late.then_some(Reply::Hang)
    });
    log.get_or_init(|| log_of(&run));
    let mut process = run.start();
    watch(&run, &mut process, |found| found >= size);
    let killed = process.kill();
    is_killed.store(true, Ordering::SeqCst);
    let before = run.requests();
    // What is journaled after the last answer cannot be delayed.
    let is_at_end = before.contains_key(&LAST_TURN);
    assert!(
        killed.code.is_none() || is_at_end,
        "killed at {size}: {killed:#?}"
    );

    let status = run.world.neuron(&["status", RUN]);
    if status.code != Some(0) {
        // The run was killed before it was recorded.
        status.exits(2).says(&["no run"]);
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
        // The last call may have been on its way when the others were counted.
        let last = before.keys().last().copied().unwrap_or_default();
        assert!(
            (last..=last + 1).contains(turn),
            "killed at {size}: {before:?}, {after:?}"
        );
    }
    for (number, _, tool) in CALLS {
        assert!(run.commands(number) <= usize::from(tool == Tool::Bash));
    }
}

/// The kills are divided into this many parts, which run side by side.
const PARTS: usize = 2;

fn killed_at_part(part: usize) {
    let full = full_size();
    assert!(full > 20 * APART, "every step is journaled: {full} bytes");
    for size in (0..full)
        .step_by(usize::try_from(APART).unwrap())
        .skip(part)
        .step_by(PARTS)
    {
        killed_at(size);
    }
}

#[test]
fn killed_at_even_changes_of_the_journal_the_run_ends_as_without_kills() {
    killed_at_part(0);
}

#[test]
fn killed_at_odd_changes_of_the_journal_the_run_ends_as_without_kills() {
    killed_at_part(1);
}
