//! What reaches into a plain local run from outside, and what it shares with the run.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use neuron_types::{Decision, DurableError, UserMessage, signal};
use serde_json::Value;
use tokio::{sync::Notify, time::Instant};

use crate::stop::Stop;

/// The signals of a run, and whether it was cancelled.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) stop: Stop,
    signals: Mutex<BTreeMap<String, VecDeque<Value>>>,
    arrived: Notify,
}

impl Shared {
    fn signals(&self) -> MutexGuard<'_, BTreeMap<String, VecDeque<Value>>> {
        self.signals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, name: &str) -> Result<Option<Value>, DurableError> {
        self.stop.check()?;
        Ok(self.signals().get_mut(name).and_then(VecDeque::pop_front))
    }

    /// The next signal of this name, or `None` when the time is over.
    pub(super) async fn next(
        &self,
        name: &str,
        timeout: Option<Duration>,
    ) -> Result<Option<Value>, DurableError> {
        if timeout == Some(Duration::ZERO) {
            return self.take(name);
        }
        // A timeout beyond the clock's range is none.
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            // Listens before it looks, so that nothing arrives unseen in between.
            let arrived = self.arrived.notified();
            let mut arrived = std::pin::pin!(arrived);
            arrived.as_mut().enable();
            if let Some(payload) = self.take(name)? {
                return Ok(Some(payload));
            }
            tokio::select! {
                biased;
                () = self.stop.token().cancelled() => {}
                () = arrived => {}
                () = until(deadline) => return self.take(name),
            }
        }
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Reaches into a plain local run from outside. Cheap to clone; harmless when the run is over.
#[derive(Clone)]
pub struct LocalHandle {
    pub(super) shared: Arc<Shared>,
}

impl LocalHandle {
    /// Queues a message, which the loop takes up at the next turn boundary.
    pub fn send(&self, message: &UserMessage) {
        self.put(signal::USER_MESSAGE, user_message_payload(message));
    }

    /// Answers a ticket. The loop refuses a decision that fits no open ticket, with an event, and goes on
    /// waiting.
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
            self.cancel(cancel_reason(&payload));
        } else {
            self.put(name, payload);
        }
    }

    /// Cancels the run: effects in flight are ended, and this and every later door call answers
    /// [`DurableError::Cancelled`].
    pub fn cancel(&self, reason: Option<String>) {
        self.shared.stop.cancel(reason);
    }

    fn put(&self, name: &str, payload: Value) {
        self.shared
            .signals()
            .entry(name.to_owned())
            .or_default()
            .push_back(payload);
        self.shared.arrived.notify_waiters();
    }
}

impl fmt::Debug for LocalHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalHandle").finish_non_exhaustive()
    }
}

/// The reason in a cancel signal's payload, if it has one.
pub(crate) fn cancel_reason(payload: &Value) -> Option<String> {
    payload
        .get("reason")
        .and_then(Value::as_str)
        .map(ToOwned::to_owned)
}

pub(crate) fn user_message_payload(message: &UserMessage) -> Value {
    serde_json::json!({ "text": message.text })
}
