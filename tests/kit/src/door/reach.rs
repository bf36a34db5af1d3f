//! Signals to a run from outside.

use std::sync::Arc;

use futures::future::BoxFuture;
use neuron_engine::RunClient;
use neuron_local::{Journal, LocalHandle};
use neuron_types::{RunId, signal};
use serde_json::{Value, json};

/// Sends signals to one run from outside.
pub trait Reach: Send + Sync {
    /// Sends a signal, and returns when the door's other side has it.
    fn signal<'a>(&'a self, name: &'a str, payload: Value) -> BoxFuture<'a, ()>;

    /// Cancels the run, with the same guarantee as [`signal`](Self::signal).
    fn cancel<'a>(&'a self, reason: &'a str) -> BoxFuture<'a, ()> {
        self.signal(signal::CANCEL, json!({ "reason": reason }))
    }
}

impl Reach for LocalHandle {
    fn signal<'a>(&'a self, name: &'a str, payload: Value) -> BoxFuture<'a, ()> {
        Box::pin(async move { Self::signal(self, name, payload) })
    }
}

impl Reach for (Journal, RunId) {
    fn signal<'a>(&'a self, name: &'a str, payload: Value) -> BoxFuture<'a, ()> {
        Box::pin(async move { self.0.signal(&self.1, name, payload).await.unwrap() })
    }
}

impl Reach for (Arc<dyn RunClient>, RunId) {
    fn signal<'a>(&'a self, name: &'a str, payload: Value) -> BoxFuture<'a, ()> {
        Box::pin(async move { self.0.signal(&self.1, name, payload).await.unwrap() })
    }

    fn cancel<'a>(&'a self, reason: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let reason = Some(reason.to_owned());
            self.0.cancel(&self.1, reason).await.unwrap();
        })
    }
}
