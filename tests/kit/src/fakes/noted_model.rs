//! Models that note when they are called.

use std::{
    sync::{Arc, Mutex},
    time::Instant,
};

use neuron_config::ScriptModel;
use neuron_types::{CompletionRequest, CompletionResponse, Provider, ProviderError};
use serde_json::{Value, json};

use super::lags;
use crate::Turnstile;

/// A script whose calls are noted, for executors of this process. Clones note them together.
#[derive(Debug, Clone)]
pub struct NotedModel {
    script: Arc<ScriptModel>,
    /// When each call began.
    pub calls: Arc<Mutex<Vec<Instant>>>,
    /// The number of calls that ended by themselves; the others were dropped.
    pub ended: Arc<Mutex<usize>>,
    /// When the last call was dropped before its end.
    pub dropped: Arc<Mutex<Option<Instant>>>,
    last: Arc<Mutex<Value>>,
    turnstile: Turnstile,
}

struct Drops<'a>(&'a NotedModel, bool);

impl Drop for Drops<'_> {
    fn drop(&mut self) {
        if self.1 {
            *self.0.ended.lock().unwrap() += 1;
        } else {
            *self.0.dropped.lock().unwrap() = Some(Instant::now());
        }
    }
}

impl NotedModel {
    /// Returns a model that answers from this script, in the form that [`neuron_config::script`] describes.
    ///
    /// # Panics
    ///
    /// If it is not a script.
    #[must_use]
    pub fn new(script: &Value) -> Self {
        Self {
            script: Arc::new(ScriptModel::parse(&script.to_string()).unwrap()),
            calls: Arc::default(),
            ended: Arc::default(),
            dropped: Arc::default(),
            last: Arc::default(),
            turnstile: Turnstile::default(),
        }
    }

    /// Returns a model that does not answer within a day.
    #[must_use]
    pub fn hanging() -> Self {
        Self::new(&json!({"turns": [{"text": "late", "delay_ms": 86_400_000}]})) // Nothing ends by it.
    }

    /// Returns the same model, whose calls pass this turnstile right after they are noted.
    #[must_use]
    pub fn behind(mut self, turnstile: &Turnstile) -> Self {
        self.turnstile = turnstile.clone();
        self
    }

    /// Returns how often the model was called.
    ///
    /// # Panics
    ///
    /// If a call panicked while it was noted.
    #[must_use]
    pub fn count(&self) -> usize {
        self.calls.lock().unwrap().len()
    }

    /// Returns the last message of the newest request.
    ///
    /// # Panics
    ///
    /// The panics of [`count`](Self::count).
    #[must_use]
    pub fn last_message(&self) -> Value {
        self.last.lock().unwrap().clone()
    }
}

impl Provider for NotedModel {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        self.calls.lock().unwrap().push(Instant::now());
        *self.last.lock().unwrap() = serde_json::to_value(request.messages.last()).unwrap();
        let mut drops = Drops(self, false);
        let _passed = self.turnstile.pass().await;
        lags().await;
        let result = self.script.complete(request).await;
        drops.1 = true;
        result
    }
}
