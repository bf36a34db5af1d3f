//! The request that a run is started with, as far as this build reads it.

use neuron_engine::{UnreadRequest, read_request};
use neuron_types::RunRequest;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The request that a run is started with; or why this build cannot read it.
///
/// A request that no build can read is no error here: the SDK would report it in its own words.
#[derive(Debug)]
pub(crate) struct Given(pub(crate) Result<RunRequest, UnreadRequest>);

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(read_request(Value::deserialize(deserializer)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_newer_client_asks_for_is_left_to_a_newer_worker_and_a_slip_is_said_at_once() {
        let newer = r#"{"version": 5, "agent": "default", "prompt": "Go."}"#;
        let given: Given = serde_json::from_str(newer).unwrap();
        let newer = given.0.unwrap_err();
        assert!(newer.reason.contains("state version 5") && !newer.is_by_hand);
        let slip: Given = serde_json::from_str(r#"{"agent": "default"}"#).unwrap();
        let slip = slip.0.unwrap_err();
        assert!(slip.reason.contains("missing field `prompt`") && slip.is_by_hand);
        let known: Given = serde_json::from_str(r#"{"agent": "a", "prompt": "Go."}"#).unwrap();
        assert_eq!(known.0.unwrap().agent.name(), "a");
    }
}
