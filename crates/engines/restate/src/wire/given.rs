//! What a run is started with, as far as this build reads it.

use neuron_engine::read_request;
use neuron_types::RunRequest;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;

/// What a run is started with; or why this build cannot read what another one may.
///
/// What no build reads is an error of whoever starts the run.
#[derive(Debug)]
pub(crate) struct Given(pub(crate) Result<RunRequest, String>);

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match read_request(Value::deserialize(deserializer)?) {
            Ok(request) => Ok(Self(Ok(request))),
            Err(wrong) if wrong.is_by_hand => Err(D::Error::custom(wrong.reason)),
            Err(unread) => Ok(Self(Err(unread.reason))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_newer_client_asks_for_is_left_to_a_newer_worker_and_a_slip_is_said_at_once() {
        let newer = r#"{"version": 4, "agent": "default", "prompt": "Go."}"#;
        let given: Given = serde_json::from_str(newer).unwrap();
        assert!(given.0.unwrap_err().contains("state version 4"));
        let slip = serde_json::from_str::<Given>(r#"{"agent": "default"}"#).unwrap_err();
        assert!(slip.to_string().contains("missing field `prompt`"));
        let known: Given = serde_json::from_str(r#"{"agent": "a", "prompt": "Go."}"#).unwrap();
        assert_eq!(known.0.unwrap().agent.name(), "a");
    }
}
