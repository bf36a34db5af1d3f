//! Several engines at once, or one after the other.

use std::thread;

use crate::{EngineName, Report};

/// Runs a function on all of these engines at once.
pub(crate) fn at_once(
    engines: &[EngineName],
    soak: impl Fn(EngineName) -> Report + Sync,
) -> Report {
    let soak = &soak;
    let mut report = Report::default();
    thread::scope(|scope| {
        let started: Vec<_> = engines
            .iter()
            .map(|engine| scope.spawn(move || soak(*engine)))
            .collect();
        for engine in started {
            report.add(engine.join().unwrap());
        }
    });
    report
}

/// Runs a function on one of these engines after the other.
pub(crate) fn in_turn(
    engines: &[EngineName],
    mut soak: impl FnMut(EngineName) -> Report,
) -> Report {
    let mut report = Report::default();
    for engine in engines {
        report.add(soak(*engine));
    }
    report
}
