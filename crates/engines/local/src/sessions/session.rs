//! One stored conversation.

use std::{collections::BTreeMap, path::PathBuf};

use chrono::{DateTime, Utc};
use neuron_types::{Message, RunId, TokenUsage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A stored conversation, which runs take up and append to, one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its name: 1 to 128 letters, digits, `.`, `_` and `-` that start with a letter or digit, as the name of a
    /// [run](neuron_types::RunId).
    pub id: String,
    /// How often it was saved. A storage only accepts a session that was not saved by another caller since it was
    /// loaded; 0 if it was never saved.
    #[serde(default)]
    pub revision: u64,
    /// The whole conversation so far.
    pub messages: Vec<Message>,
    /// What is known of it besides its messages.
    pub state: SessionState,
    /// The run that has it and has not been taken in yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<SessionRun>,
    /// The run that was taken in last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_in: Option<SessionRun>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was last saved.
    pub updated_at: DateTime<Utc>,
}

impl Session {
    /// Returns a session of this name without messages.
    pub fn new(id: impl Into<String>, now: DateTime<Utc>) -> Self {
        Self {
            id: id.into(),
            revision: 0,
            messages: Vec::new(),
            state: SessionState::default(),
            run: None,
            taken_in: None,
            created_at: now,
            updated_at: now,
        }
    }
}

/// What is known of a session besides its messages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// The directory that its newest run worked in, if it is known.
    pub cwd: PathBuf,
    /// Tokens of all its runs, without those of the runs below them.
    pub token_usage: TokenUsage,
    /// How many things were said and done in its runs.
    pub event_count: u64,
    /// Data that programs keep with it.
    pub custom: BTreeMap<String, Value>,
}

/// A run that has taken a session up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRun {
    /// The run.
    pub run_id: RunId,
    /// The engine that it is on: `local`, `temporal`, `restate`. Default is `local`.
    #[serde(default = "local")]
    pub engine: String,
    /// The place on that engine, as a [place](neuron_types::Place) is written, if it is known. A local run is in the
    /// home directory that the session is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// When it took the session up. The run may be started a moment later.
    pub since: DateTime<Utc>,
}

impl SessionRun {
    /// Returns a run on this engine that takes a session up now.
    pub fn new(run_id: RunId, engine: impl Into<String>) -> Self {
        Self {
            run_id,
            engine: engine.into(),
            place: None,
            since: Utc::now(),
        }
    }

    /// Sets the place of the run on its engine. Default is that the place is unknown.
    #[must_use]
    pub fn in_place(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }

    /// Returns whether both are one run: of one id, on one engine, and not in two places of it.
    #[must_use]
    pub fn is_same_run(&self, other: &Self) -> bool {
        let places = self.place.as_ref().zip(other.place.as_ref());
        let is_elsewhere = places.is_some_and(|(one, other)| one != other);
        self.run_id == other.run_id && self.engine == other.engine && !is_elsewhere
    }
}

/// Returns the engine of runs for which an older version stored none.
fn local() -> String {
    "local".to_owned()
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// Its name.
    pub id: String,
    /// How many messages it has.
    pub messages: usize,
    /// The run that has it, if one does.
    #[serde(default)]
    pub run: Option<SessionRun>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was last saved.
    pub updated_at: DateTime<Utc>,
}

impl From<&Session> for SessionSummary {
    fn from(session: &Session) -> Self {
        Self {
            id: session.id.clone(),
            messages: session.messages.len(),
            run: session.run.clone(),
            created_at: session.created_at,
            updated_at: session.updated_at,
        }
    }
}
