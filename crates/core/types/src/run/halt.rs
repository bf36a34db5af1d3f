//! Why a run goes no further until a person decides.

use serde::{Deserialize, Serialize};

use crate::{ExitReason, RunError};

/// A message that guards found something in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubted {
    /// Its place in the conversation.
    pub message: usize,
    /// Why.
    pub reason: String,
}

/// A run that goes no further until a person decides about a ticket that is about no call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Halt {
    /// The ticket's id.
    pub ticket: String,
    /// Why.
    pub reason: HaltReason,
}

/// What a run ends with unless a person makes it continue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HaltReason {
    /// A step gave up.
    Failure(RunError),
    /// A limit is reached.
    Limit(ExitReason),
    /// Guards found something in messages that the model has not read.
    Input(Vec<Doubted>),
    /// It repeats itself, as this says.
    Loop(String),
    /// Guards found something in the answer that the run would end with: why.
    Output(String),
}
