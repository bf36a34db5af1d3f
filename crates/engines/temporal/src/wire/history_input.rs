//! What one history of a run hands to the next.

use std::collections::{BTreeMap, VecDeque};

use neuron_engine::Unobserved;
use neuron_types::{Conversation, RecordedEvent, RunRequest, RunState, RunStatus, RunTags};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::Value;

/// What a history of a run begins with: a [`RunRequest`], or what the history before it handed over.
#[derive(Debug, Clone, Serialize)]
pub struct HistoryInput(pub(crate) Opening);

#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum Opening {
    New(Box<RunRequest>),
    Continued {
        continued: Box<Carried>,
    },
    /// A request by name that says what this build does not know, or too little.
    Unreadable(String),
}

/// A run between two histories.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Carried {
    pub(crate) state: RunState,
    pub(crate) status: RunStatus,
    /// Signals that nobody has taken, in the order of arrival.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) signals: BTreeMap<String, VecDeque<Value>>,
    /// The number of the next event.
    pub(crate) next_event: u64,
    /// What became of the newest tickets, as far as a refusal has to say it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) settled: Vec<RecordedEvent>,
    /// The ids of the updates that carried the newest decisions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) decided: Vec<String>,
    /// What the hooks have not been notified of.
    #[serde(
        rename = "untold",
        default,
        skip_serializing_if = "Unobserved::is_empty"
    )]
    pub(crate) unobserved: Unobserved,
    /// The id that Temporal gave the history before.
    pub(crate) previous: String,
    /// The history before has set search attributes. The server gives them to the next one, which has to go on.
    #[serde(default, skip_serializing_if = "is_not")]
    pub(crate) shown: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_not(value: &bool) -> bool {
    !*value
}

impl HistoryInput {
    /// The conversation that the history begins with; a new run's first model call says it all.
    pub(crate) fn conversation(self) -> Conversation {
        match self.0 {
            Opening::Continued { continued } => continued.state.conversation,
            _ => Conversation::default(),
        }
    }

    /// The agent's name.
    pub(crate) fn agent(&self) -> &str {
        match &self.0 {
            Opening::New(request) => request.agent.name(),
            Opening::Continued { continued } => &continued.state.agent.name,
            Opening::Unreadable(_) => "",
        }
    }

    /// Whose the run is.
    pub(crate) fn tags(&self) -> RunTags {
        match &self.0 {
            Opening::New(request) => request.tags.clone(),
            Opening::Continued { continued } => continued.status.tags(),
            Opening::Unreadable(_) => RunTags::default(),
        }
    }

    /// Whether it says for the first time whose the run is.
    pub(crate) fn brings_tags(&self) -> bool {
        matches!(&self.0, Opening::New(request) if !request.tags.is_empty())
    }

    /// The id of the history that this one says to go on from.
    pub(crate) fn previous(&self) -> Option<&str> {
        match &self.0 {
            Opening::Continued { continued } => Some(&continued.previous),
            Opening::New(_) | Opening::Unreadable(_) => None,
        }
    }

    /// Whether the history before has set search attributes.
    pub(crate) fn is_shown(&self) -> bool {
        matches!(&self.0, Opening::Continued { continued } if continued.shown)
    }
}

/// One of which nothing is known.
impl Default for HistoryInput {
    fn default() -> Self {
        Self(Opening::Unreadable(String::new()))
    }
}

impl From<RunRequest> for HistoryInput {
    fn from(request: RunRequest) -> Self {
        Self(Opening::New(Box::new(request)))
    }
}

impl From<Carried> for HistoryInput {
    fn from(carried: Carried) -> Self {
        let continued = Box::new(carried);
        Self(Opening::Continued { continued })
    }
}

impl<'de> Deserialize<'de> for HistoryInput {
    // By hand, so that what is wrong with an input is said in the words of what it is meant to be.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        let opening = match value.get_mut("continued").map(Value::take) {
            Some(carried) => {
                serde_json::from_value(carried).map(|continued| Opening::Continued { continued })
            }
            None => {
                let is_named = value.get("agent").is_some_and(Value::is_string);
                match serde_json::from_value(value) {
                    // The workflow fails with it. A whole definition may be one that an older worker reads: then its
                    // task fails, and that worker gets it.
                    Err(error) if is_named => Ok(Opening::Unreadable(error.to_string())),
                    request => request.map(Opening::New),
                }
            }
        };
        opening.map(Self).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use neuron_engine::json_bytes;
    use neuron_types::{AgentSpec, Message};

    use super::*;

    #[test]
    fn a_run_is_started_with_its_request_alone() {
        let request = RunRequest::new(AgentSpec::default(), Message::user("Go."));
        let json = serde_json::to_string(&HistoryInput::from(request.clone())).unwrap();
        assert_eq!(json, serde_json::to_string(&request).unwrap());
        assert_eq!(json_bytes(&request).unwrap(), json.len());
        let read: HistoryInput = serde_json::from_str(&json).unwrap();
        assert!(matches!(read.0, Opening::New(read) if *read == request));
    }

    #[test]
    fn says_what_is_missing_in_an_input() {
        let error =
            serde_json::from_str::<HistoryInput>(r#"{"version": 3, "agent": {}}"#).unwrap_err();
        assert!(error.to_string().contains("prompt"), "{error}");
        let named = serde_json::from_str::<HistoryInput>(r#"{"agent": "default"}"#).unwrap();
        assert!(matches!(named.0, Opening::Unreadable(error) if error.contains("prompt")));
        let error = serde_json::from_str::<HistoryInput>(r#"{"continued": {}}"#).unwrap_err();
        assert!(error.to_string().contains("state"), "{error}");
    }
}
