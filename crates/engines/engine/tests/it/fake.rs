//! A client of one run that goes through the states that the test sets.

use std::sync::{
    Mutex,
    atomic::{AtomicU32, Ordering},
};

use chrono::DateTime;
use neuron_engine::{
    EventPage, PageRequest, RunClient, RunClientError, RunFilter, RunFuture, RunPage,
};
use neuron_types::{
    Decision, ExitReason, Place, RecordedEvent, RunEvent, RunId, RunOutput, RunPhase, RunRequest,
    RunStatus, Ticket, UserMessage,
};
use serde_json::Value;

/// The answer to one look at the run.
pub(crate) type Look = Result<RunPhase, fn() -> RunClientError>;

/// A run whose looks are answered one after another; the last stays.
#[derive(Debug)]
pub(crate) struct Fake {
    pub(crate) looks: Mutex<Vec<Look>>,
    pub(crate) asked: AtomicU32,
    pub(crate) texts: Mutex<Vec<String>>,
    pub(crate) events: u64,
}

pub(crate) fn run_id() -> RunId {
    RunId::new("r1").unwrap()
}

pub(crate) fn ticket(name: &str) -> Ticket {
    Ticket {
        ticket: name.to_owned(),
        tool: Some("bash".to_owned()),
        digest: "d".to_owned(),
        ..Ticket::default()
    }
}

pub(crate) fn status(state: RunPhase) -> RunStatus {
    let mut status = RunStatus::new(run_id(), "fake", "default", DateTime::UNIX_EPOCH);
    status.state = state;
    if state.waits_for_person() {
        status.approvals.push(ticket("t1-1"));
    }
    status
}

impl Fake {
    pub(crate) fn new(looks: impl IntoIterator<Item = Look>) -> Self {
        let mut looks: Vec<_> = looks.into_iter().collect();
        looks.reverse();
        Self {
            looks: Mutex::new(looks),
            asked: AtomicU32::default(),
            texts: Mutex::default(),
            events: 0,
        }
    }

    fn look(&self) -> Result<RunStatus, RunClientError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let mut looks = self.looks.lock().unwrap();
        let look = if looks.len() > 1 {
            looks.pop()
        } else {
            looks.last().copied()
        };
        look.unwrap().map(status).map_err(|error| error())
    }

    fn now(&self) -> Look {
        *self.looks.lock().unwrap().last().unwrap()
    }
}

fn ready<'a, T: Send + 'a>(answer: Result<T, RunClientError>) -> RunFuture<'a, T> {
    Box::pin(std::future::ready(answer))
}

impl RunClient for Fake {
    fn place(&self) -> Place {
        Place::Memory
    }

    fn engine(&self) -> &'static str {
        "fake"
    }

    fn start<'a>(&'a self, _: &'a RunId, _: RunRequest) -> RunFuture<'a, ()> {
        ready(Ok(()))
    }

    fn request<'a>(&'a self, _: &'a RunId) -> RunFuture<'a, Option<RunRequest>> {
        ready(Ok(None))
    }

    fn status<'a>(&'a self, _: &'a RunId) -> RunFuture<'a, RunStatus> {
        ready(self.look())
    }

    fn events<'a>(&'a self, _: &'a RunId, after: u64, limit: usize) -> RunFuture<'a, EventPage> {
        // No more than two at once.
        let limit = u64::try_from(limit.clamp(1, 2)).unwrap();
        let last = self.events.min(after.saturating_add(limit));
        let events = (after + 1..=last).map(|seq| RecordedEvent {
            seq,
            at: DateTime::UNIX_EPOCH,
            event: RunEvent::TurnStarted { turn: 1 },
        });
        ready(Ok(EventPage::new(events.collect(), last < self.events)))
    }

    fn output<'a>(&'a self, _: &'a RunId) -> RunFuture<'a, Option<RunOutput>> {
        let output = match self.now() {
            Ok(state) if state.is_final() => Some(status(state).output(Some(ExitReason::Complete))),
            _ => None,
        };
        ready(Ok(output))
    }

    fn list<'a>(&'a self, filter: &'a RunFilter, _: PageRequest) -> RunFuture<'a, RunPage> {
        assert!(filter.is_open, "only runs that are not over have tickets");
        ready(self.look().map(|status| RunPage::of(vec![status])))
    }

    fn decide<'a>(&'a self, _: &'a RunId, _: &'a Decision) -> RunFuture<'a, ()> {
        ready(Ok(()))
    }

    fn send<'a>(&'a self, _: &'a RunId, message: UserMessage) -> RunFuture<'a, ()> {
        self.texts.lock().unwrap().push(message.text);
        ready(Ok(()))
    }

    fn signal<'a>(&'a self, _: &'a RunId, _: &'a str, _: Value) -> RunFuture<'a, ()> {
        ready(Ok(()))
    }

    fn cancel<'a>(&'a self, _: &'a RunId, _: Option<String>) -> RunFuture<'a, RunPhase> {
        ready(Ok(RunPhase::Running))
    }

    fn is_executing<'a>(&'a self, _: &'a RunId) -> RunFuture<'a, Option<bool>> {
        ready(Ok(None))
    }
}
