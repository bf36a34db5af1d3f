//! Reading what is kept.

use std::error::Error;

use neuron_types::{Conversation, SessionName, WasmBoxedFuture, WasmCompatSend, WasmCompatSync};
use serde_json::Value;

/// Reads what is kept: conversations, by their sessions, and values, as effects write them.
///
/// It reads only. What a turn wants written is among its [effects](crate::TurnOutput::effects), and the caller keeps the
/// conversation. It is asked before the turn's first step, and it is not journaled: a turn on a durable engine is given
/// what was said before with its run.
pub trait StateReader: WasmCompatSend + WasmCompatSync {
    /// Reads the conversation of a session, oldest message first. A session that does not exist has no messages.
    ///
    /// # Errors
    ///
    /// [`StateError`], if it is there and cannot be read.
    fn history<'a>(
        &'a self,
        session: &'a SessionName,
    ) -> WasmBoxedFuture<'a, Result<Conversation, StateError>>;

    /// Reads the value under a key of a scope, as [`Effect::WriteMemory`](crate::Effect::WriteMemory) names them;
    /// `None` if there is no value. The default returns `None`.
    ///
    /// # Errors
    ///
    /// [`StateError`], if it is there and cannot be read.
    fn read<'a>(
        &'a self,
        _scope: &'a str,
        _key: &'a str,
    ) -> WasmBoxedFuture<'a, Result<Option<Value>, StateError>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

/// Why something that is kept cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the state cannot be read")]
pub struct StateError {
    #[source]
    source: Box<dyn Error + Send + Sync>,
}

impl StateError {
    /// Wraps the cause.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            source: source.into(),
        }
    }
}
