//! The handle of a plain local run, and what it shares with the run.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use neuron_engine::CancelBody;
use neuron_types::{Decision, Signal, UserMessage, signal};
use serde_json::Value;
use tokio::sync::Notify;

use crate::flight::stop::Stop;

/// The signals of a run, and whether it was cancelled.
#[derive(Default)]
pub(super) struct Reach {
    pub(super) stop: Stop,
    /// In the order in which they arrived.
    signals: Mutex<VecDeque<Signal>>,
    pub(super) arrived: Notify,
}

impl Reach {
    fn signals(&self) -> MutexGuard<'_, VecDeque<Signal>> {
        self.signals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a signal of one of these names has arrived.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        let signals = self.signals();
        signals
            .iter()
            .any(|signal| names.contains(&signal.name.as_str()))
    }

    /// Takes the oldest signal that has one of these names.
    pub(super) fn take(&self, names: &[&str]) -> Option<Signal> {
        let mut signals = self.signals();
        let is_wanted = |signal: &Signal| names.contains(&signal.name.as_str());
        let place = signals.iter().position(is_wanted)?;
        signals.remove(place)
    }
}

/// Sends signals to a plain local run from outside. Cheap to clone; harmless when the run is over.
#[derive(Clone)]
pub struct LocalHandle {
    pub(super) reach: Arc<Reach>,
}

impl LocalHandle {
    /// Queues a message, which the model reads before its next call.
    pub fn send(&self, message: &UserMessage) {
        self.put(signal::USER_MESSAGE, serde_json::json!(message));
    }

    /// Answers a ticket. The loop rejects a decision that fits no open ticket, with an event, and continues to wait.
    ///
    /// # Errors
    ///
    /// If the decision cannot be written as JSON.
    pub fn decide(&self, decision: &Decision) -> Result<(), serde_json::Error> {
        self.put(signal::DECISION, serde_json::to_value(decision)?);
        Ok(())
    }

    /// Sends any other signal; [`signal::CANCEL`] cancels the run.
    pub fn signal(&self, name: &str, payload: Value) {
        if name == signal::CANCEL {
            self.cancel(CancelBody::of_signal(&payload).reason);
        } else {
            self.put(name, payload);
        }
    }

    /// Cancels the run: it drops what it has in flight, and this and every later wait returns
    /// [`DurableError::Cancelled`](neuron_types::DurableError::Cancelled).
    pub fn cancel(&self, reason: Option<String>) {
        self.reach.stop.cancel(reason);
    }

    fn put(&self, name: &str, payload: Value) {
        self.reach.signals().push_back(Signal::new(name, payload));
        self.reach.arrived.notify_waiters();
    }
}

impl fmt::Debug for LocalHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalHandle").finish_non_exhaustive()
    }
}
