//! What a run shows: its status and its events, kept where the shared handlers can read them.

use chrono::{DateTime, Utc};
use neuron_types::{RecordedEvent, RunEvent, RunStatus};
use restate_sdk::{endpoint::ContextInternal, serde::Json};

use crate::wire::{STATUS, events_key};

/// The run's clock, its status, and the events that are not written yet.
///
/// Events are written in chunks, one a door call, so no value grows with the run; the status is one small
/// value beside them.
pub(crate) struct Log {
    pub(crate) now: DateTime<Utc>,
    pub(crate) status: RunStatus,
    pub(crate) uuids: u64,
    count: u64,
    unwritten: Vec<RecordedEvent>,
    unobserved: Vec<RunEvent>,
}

impl Log {
    pub(crate) fn new(status: RunStatus) -> Self {
        Self {
            now: status.started_at,
            status,
            uuids: 0,
            count: 0,
            unwritten: Vec::new(),
            unobserved: Vec::new(),
        }
    }

    pub(crate) fn advance(&mut self, to: DateTime<Utc>) {
        self.now = self.now.max(to);
    }

    pub(crate) fn emit(&mut self, event: RunEvent) {
        self.status.apply(&event, self.now);
        self.count += 1;
        self.unobserved.push(event.clone());
        self.unwritten.push(RecordedEvent {
            seq: self.count,
            at: self.now,
            event,
        });
    }

    /// The events that the hooks have not been told yet. They are told inside a journaled step, so a replay
    /// takes them and tells nobody.
    pub(crate) fn take_unobserved(&mut self) -> Vec<RunEvent> {
        std::mem::take(&mut self.unobserved)
    }

    /// Writes what is new.
    pub(crate) fn write(&mut self, ctx: &ContextInternal) {
        if let Some(first) = self.unwritten.first() {
            let key = events_key(first.seq);
            ctx.set(&key, Json(std::mem::take(&mut self.unwritten)));
            self.write_status(ctx);
        }
    }

    pub(crate) fn write_status(&self, ctx: &ContextInternal) {
        ctx.set(STATUS, Json(&self.status));
    }
}
