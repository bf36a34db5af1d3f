//! What the hooks, traces and metrics that watch a run learn of it.

use serde::{Deserialize, Serialize};

use crate::RunEvent;

/// An event of a run, as it is passed to what watches the run: hooks, traces and metrics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunNotice {
    /// What happened, without the parts that no watcher may see.
    #[serde(flatten)]
    pub event: RunEvent,
    /// How long that took which ended with it, in milliseconds; `None` where nothing ended, or the time is no longer
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// Whose turn ended with it, or whose run, where it is known. In JSON it has a name that no field of an event has.
    #[serde(rename = "of_agent", default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The turn that that began in which ended with it, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_turn: Option<u32>,
}

impl From<RunEvent> for RunNotice {
    /// Returns the notice of an event with which nothing ended.
    fn from(event: RunEvent) -> Self {
        Self {
            event,
            took_ms: None,
            agent: None,
            in_turn: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Those events that have a field which a notice might have too.
    #[test]
    fn a_notice_is_read_back_with_what_its_event_says_too() {
        let events = [
            json!({"type": "run_started", "agent": "a", "model": "", "prompt": ""}),
            json!({"type": "agent_asked", "scope": 1, "agent": "a", "prompt": ""}),
            json!({"type": "child_started", "turn": 1, "call_id": "c", "run_id": "r.1-1", "agent": "b"}),
            json!({"type": "turn_ended", "turn": 2}),
        ];
        for event in events {
            // As it was recorded before there was more.
            let bare: RunNotice = serde_json::from_value(event.clone()).unwrap();
            assert_eq!(
                serde_json::to_value(&bare.event).unwrap()["type"],
                event["type"]
            );
            let notice = RunNotice {
                took_ms: Some(7),
                agent: Some("c".to_owned()),
                in_turn: Some(1),
                ..bare
            };
            let written: Value = serde_json::to_value(&notice).unwrap();
            assert_eq!(
                serde_json::from_value::<RunNotice>(written).unwrap(),
                notice
            );
        }
    }
}
