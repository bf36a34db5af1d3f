//! What a run shows: its status and its events, kept where the shared handlers can read them.

use chrono::{DateTime, Utc};
use neuron_types::{RecordedEvent, RunEvent, RunStatus};
use restate_sdk::{endpoint::ContextInternal, serde::Json};
use serde::{Deserialize, Serialize};

use crate::{
    events,
    meter::{ASK, CALL, Meter, WRITE},
    record::{News, Record},
    wire::STATUS,
};

/// The run's clock, its status, and the events that are not written yet.
///
/// Events are written in chunks, one a door call, so no value grows with the run; the status is one small
/// value beside them. The first segment writes both into the workflow's state, later ones into the record.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Log {
    pub(crate) now: DateTime<Utc>,
    pub(crate) status: RunStatus,
    pub(crate) uuids: u64,
    count: u64,
    unobserved: Vec<RunEvent>,
    #[serde(skip)]
    unwritten: Vec<RecordedEvent>,
    #[serde(skip)]
    record: Option<Record>,
}

impl Log {
    pub(crate) fn new(status: RunStatus) -> Self {
        Self {
            now: status.started_at,
            status,
            uuids: 0,
            count: 0,
            unobserved: Vec::new(),
            unwritten: Vec::new(),
            record: None,
        }
    }

    /// The log of a later segment.
    pub(crate) fn on(self, record: Record) -> Self {
        Self {
            record: Some(record),
            ..self
        }
    }

    pub(crate) fn advance(&mut self, to: DateTime<Utc>) {
        self.now = self.now.max(to);
    }

    pub(crate) fn emit(&mut self, event: RunEvent) -> RecordedEvent {
        self.status.apply(&event, self.now);
        self.count += 1;
        self.unobserved.push(event.clone());
        let recorded = RecordedEvent {
            seq: self.count,
            at: self.now,
            event,
        };
        self.unwritten.push(recorded.clone());
        recorded
    }

    /// The events that the hooks have not been told yet. They are told inside a journaled step, so a replay
    /// takes them and tells nobody.
    pub(crate) fn take_unobserved(&mut self) -> Vec<RunEvent> {
        std::mem::take(&mut self.unobserved)
    }

    /// Writes what is new.
    pub(crate) fn write(&mut self, ctx: &ContextInternal, meter: &Meter) {
        if self.unwritten.is_empty() {
            return;
        }
        let news = self.take_news();
        match &self.record {
            Some(record) => {
                meter.count(ASK);
                record.append(ctx, news);
            }
            None => {
                meter.count(WRITE);
                events::write(ctx, news.events);
                self.write_status(ctx, meter);
            }
        }
    }

    /// The status as the workflow's own.
    pub(crate) fn write_status(&self, ctx: &ContextInternal, meter: &Meter) {
        meter.count(WRITE);
        ctx.set(STATUS, Json(&self.status));
    }

    /// What is new and where it is written, for those who wait until it is.
    pub(crate) fn take_record(&mut self, meter: &Meter) -> Option<(Record, News)> {
        let record = self.record.clone()?;
        meter.count(CALL);
        Some((record, self.take_news()))
    }

    fn take_news(&mut self) -> News {
        News {
            status: self.status.clone(),
            events: std::mem::take(&mut self.unwritten),
        }
    }
}
