//! What whoever watches a run is told of it.

use serde::{Deserialize, Serialize};

use crate::RunEvent;

/// An event of a run, as it is told to those who watch: hooks, traces and metrics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunNotice {
    /// What happened, without what nobody who watches is told.
    #[serde(flatten)]
    pub event: RunEvent,
    /// How long that took which ended with it, in milliseconds; `None` where nothing did, or nobody knows any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// Whose turn ended with it, or whose run, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The turn that that began in which ended with it, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_turn: Option<u32>,
}

impl From<RunEvent> for RunNotice {
    /// One with which nothing ended.
    fn from(event: RunEvent) -> Self {
        Self {
            event,
            took_ms: None,
            agent: None,
            in_turn: None,
        }
    }
}
