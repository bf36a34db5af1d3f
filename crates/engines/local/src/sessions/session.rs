//! One stored conversation.

use std::{collections::BTreeMap, path::PathBuf};

use chrono::{DateTime, Utc};
use neuron_types::{Message, RunId, TokenUsage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A stored conversation, which runs take up and append to, one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its name: 1 to 128 letters, digits, `.`, `_` and `-` that start with a letter or digit, as a
    /// [run's](neuron_types::RunId).
    pub id: String,
    /// How often it was saved. A storage takes a session only if nobody has saved it since it was loaded; 0 for one that was
    /// never saved.
    #[serde(default)]
    pub revision: u64,
    /// What was said so far, whole.
    pub messages: Vec<Message>,
    /// What else is known of it.
    pub state: SessionState,
    /// The run that has it and has not been taken in yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<SessionRun>,
    /// The run that was taken in last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_in: Option<SessionRun>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was last saved.
    pub updated_at: DateTime<Utc>,
}

impl Session {
    /// Returns a session of this name in which nothing was said.
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

/// What is known of a session beside its messages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// The directory that its newest run worked in, where it is known.
    pub cwd: PathBuf,
    /// Tokens of all its runs, those below them not counted.
    pub token_usage: TokenUsage,
    /// How many things were said and done in its runs.
    pub event_count: u64,
    /// What programs keep with it.
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
    /// Where on that engine, as a [place](neuron_types::Place) is written, if it is known. A local run is in the home directory
    /// that the session is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// When it took the session up. It may be started a moment later.
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

    /// Sets where on its engine the run is. Default is that nobody knows.
    #[must_use]
    pub fn in_place(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }

    /// Whether both are one run: of one id, on one engine, and not in two places of it.
    #[must_use]
    pub fn is_same_run(&self, other: &Self) -> bool {
        let places = self.place.as_ref().zip(other.place.as_ref());
        let is_elsewhere = places.is_some_and(|(one, other)| one != other);
        self.run_id == other.run_id && self.engine == other.engine && !is_elsewhere
    }
}

/// Where runs are of which an older version did not say it.
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
    /// When it was made.
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
