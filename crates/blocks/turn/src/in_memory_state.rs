//! State that ends with its process.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use neuron_types::{Conversation, Message, SessionName, WasmBoxedFuture};
use serde_json::Value;

use crate::{Effect, EffectFailed, EffectHandler, StateError, StateReader};

/// State that ends with its process, for tests and simple programs. It carries the memory effects out, and no others.
#[derive(Debug, Default)]
pub struct InMemoryState {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    sessions: BTreeMap<SessionName, Conversation>,
    /// By scope and key.
    values: BTreeMap<(String, String), Value>,
}

impl InMemoryState {
    /// Returns a state that holds nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds messages to the conversation of a session.
    pub fn append(&self, session: &SessionName, messages: impl IntoIterator<Item = Message>) {
        let mut kept = self.kept();
        let conversation = kept.sessions.entry(session.clone()).or_default();
        for message in messages {
            conversation.push(message);
        }
    }

    /// Writes a value under a key of a scope.
    pub fn write(&self, scope: impl Into<String>, key: impl Into<String>, value: Value) {
        let place = (scope.into(), key.into());
        self.kept().values.insert(place, value);
    }

    /// Returns the value under a key of a scope.
    #[must_use]
    pub fn value(&self, scope: &str, key: &str) -> Option<Value> {
        let place = (scope.to_owned(), key.to_owned());
        self.kept().values.get(&place).cloned()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StateReader for InMemoryState {
    fn history<'a>(
        &'a self,
        session: &'a SessionName,
    ) -> WasmBoxedFuture<'a, Result<Conversation, StateError>> {
        let history = self.kept().sessions.get(session).cloned();
        Box::pin(std::future::ready(Ok(history.unwrap_or_default())))
    }

    fn read<'a>(
        &'a self,
        scope: &'a str,
        key: &'a str,
    ) -> WasmBoxedFuture<'a, Result<Option<Value>, StateError>> {
        Box::pin(std::future::ready(Ok(self.value(scope, key))))
    }
}

impl EffectHandler for InMemoryState {
    fn handle<'a>(&'a self, effect: &'a Effect) -> WasmBoxedFuture<'a, Result<bool, EffectFailed>> {
        let is_carried_out = match effect {
            Effect::WriteMemory { scope, key, value } => {
                self.write(scope, key, value.clone());
                true
            }
            Effect::DeleteMemory { scope, key } => {
                let place = (scope.clone(), key.clone());
                self.kept().values.remove(&place);
                true
            }
            _ => false,
        };
        Box::pin(std::future::ready(Ok(is_carried_out)))
    }
}
