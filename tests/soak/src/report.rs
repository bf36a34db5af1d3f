//! The report of a soak.

use serde_json::Value;

use crate::EngineName;

/// The figures of a soak, and the promises that were broken in it.
#[derive(Debug, Default)]
#[must_use]
pub struct Report {
    /// A JSON object for each engine.
    pub figures: Vec<Value>,
    /// A sentence for each broken promise.
    pub breaches: Vec<String>,
}

impl Report {
    /// Adds a promise that was broken.
    pub(crate) fn breach(&mut self, engine: EngineName, what: &str) {
        let breach = format!("{engine}: {what}");
        eprintln!("BROKEN {breach}");
        self.breaches.push(breach);
    }

    /// Adds the promise as broken unless it is kept.
    pub(crate) fn promise(&mut self, engine: EngineName, is_kept: bool, what: &str) {
        if !is_kept {
            self.breach(engine, what);
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.figures.extend(other.figures);
        self.breaches.extend(other.breaches);
    }
}
