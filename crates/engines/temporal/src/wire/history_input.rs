//! The input of a history: what one history of a run hands to the next.

use std::collections::{BTreeMap, VecDeque};

use neuron_engine::{Unobserved, read_request};
use neuron_types::{
    Conversation, DurableError, FailureKind, RecordedEvent, RunRequest, RunStart, RunState,
    RunStatus, RunTags, StepFailure,
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The input of a history of a run: a [`RunRequest`], or the state that the history before it handed over.
#[derive(Debug, Clone, Serialize)]
pub struct HistoryInput(pub(crate) Opening);

#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum Opening {
    New(Box<RunRequest>),
    Continued {
        continued: Box<Carried>,
    },
    /// A request that was written by hand and has fields that this build does not know, or too few. The run fails with
    /// it.
    Wrong(String),
    /// An input that another build may read: the run is left to that build.
    Unknown(Unknown),
}

/// An input that this build cannot read.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Unknown {
    /// The reason.
    pub(crate) reason: String,
    /// The run's status, if that can be read.
    pub(crate) status: Option<Box<RunStatus>>,
}

/// A run between two histories.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Carried {
    pub(crate) state: RunState,
    pub(crate) status: RunStatus,
    /// Signals that were not taken yet, in the order of arrival.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) signals: BTreeMap<String, VecDeque<Value>>,
    /// Decisions that arrived as raw signals and were not taken yet, in the order of arrival.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub(crate) raw: VecDeque<Value>,
    /// The number of the next event.
    pub(crate) next_event: u64,
    /// The results of the newest tickets, as far as a rejection has to name them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) settled: Vec<RecordedEvent>,
    /// The ids of the updates that carried the newest decisions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) decided: Vec<String>,
    /// The newest decisions that the run rejected, by their ids, with the reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rejected: Vec<(String, String)>,
    /// The events that the hooks have not been notified of.
    #[serde(
        rename = "untold",
        default,
        skip_serializing_if = "Unobserved::is_empty"
    )]
    pub(crate) unobserved: Unobserved,
    /// Temporal's id of the history before.
    pub(crate) previous: String,
    /// Whether the history before has set search attributes. The server copies them to this one, which has to keep them
    /// current.
    #[serde(default, skip_serializing_if = "is_not")]
    pub(crate) shown: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_not(value: &bool) -> bool {
    !*value
}

impl HistoryInput {
    /// Returns where the workflow starts in the history.
    ///
    /// # Errors
    ///
    /// Why it does not start: the input has too little, or is one that another build may read.
    pub(crate) fn into_start(self) -> Result<RunStart, DurableError> {
        match self.0 {
            Opening::New(request) => Ok(RunStart::request(*request)),
            Opening::Continued { continued } => Ok(continued.state.into()),
            Opening::Wrong(reason) => {
                Err(StepFailure::new(FailureKind::InvalidRequest, reason).into())
            }
            Opening::Unknown(unknown) => Err(DurableError::engine(unknown.reason)),
        }
    }

    /// Returns the request that the run was started with, if this is its first history and this build can read it. The
    /// reason why it cannot be read is left out: it may contain what people wrote.
    pub(crate) fn into_request(self) -> Option<RunRequest> {
        match self.0 {
            Opening::New(request) => Some(*request),
            Opening::Continued { .. } | Opening::Wrong(_) | Opening::Unknown(_) => None,
        }
    }

    /// Returns the conversation that the history begins with; a new run's first model call states all of it.
    pub(crate) fn conversation(self) -> Conversation {
        match self.0 {
            Opening::Continued { continued } => continued.state.conversation,
            _ => Conversation::default(),
        }
    }

    /// Returns the agent's name.
    pub(crate) fn agent(&self) -> &str {
        match &self.0 {
            Opening::New(request) => request.agent.name(),
            Opening::Continued { continued } => &continued.state.agent.name,
            Opening::Wrong(_) | Opening::Unknown(_) => "",
        }
    }

    /// Returns the tags of the run.
    pub(crate) fn tags(&self) -> RunTags {
        match &self.0 {
            Opening::New(request) => request.tags.clone(),
            Opening::Continued { continued } => continued.status.tags(),
            Opening::Wrong(_) | Opening::Unknown(_) => RunTags::default(),
        }
    }

    /// Returns why another build is needed to read the input; `None` if this build can read it, or no build can.
    pub(crate) fn unknown(&self) -> Option<&str> {
        match &self.0 {
            Opening::Unknown(unknown) => Some(&unknown.reason),
            _ => None,
        }
    }

    /// Returns the status of the run when the history began, if it is not the first history.
    pub(crate) fn status(&self) -> Option<&RunStatus> {
        match &self.0 {
            Opening::Continued { continued } => Some(&continued.status),
            Opening::Unknown(unknown) => unknown.status.as_deref(),
            Opening::New(_) | Opening::Wrong(_) => None,
        }
    }

    /// Returns whether the input has the run's tags for the first time.
    pub(crate) fn brings_tags(&self) -> bool {
        matches!(&self.0, Opening::New(request) if !request.tags.is_empty())
    }

    /// Returns the id of the history that this one continues, according to the input.
    pub(crate) fn previous(&self) -> Option<&str> {
        match &self.0 {
            Opening::Continued { continued } => Some(&continued.previous),
            Opening::New(_) | Opening::Wrong(_) | Opening::Unknown(_) => None,
        }
    }

    /// Returns whether the history before has set search attributes.
    pub(crate) fn is_shown(&self) -> bool {
        matches!(&self.0, Opening::Continued { continued } if continued.shown)
    }
}

/// An input about which nothing is known.
impl Default for HistoryInput {
    fn default() -> Self {
        Self(Opening::Unknown(Unknown::default()))
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
    // By hand, so that an error about an input uses the words of the type that the input is meant to be.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // An input that cannot be read is no error here: the SDK would fail the task without a reason.
        let value = Value::deserialize(deserializer)?;
        Ok(Self(match value.get("continued") {
            Some(carried) => continued(carried),
            None => match read_request(value) {
                Ok(request) => Opening::New(Box::new(request)),
                Err(wrong) if wrong.is_by_hand => Opening::Wrong(wrong.reason),
                Err(unread) => Opening::Unknown(Unknown {
                    reason: unread.reason,
                    status: None,
                }),
            },
        }))
    }
}

/// Reads the state that the history before handed over.
fn continued(carried: &Value) -> Opening {
    match Box::<Carried>::deserialize(carried) {
        Ok(continued) => Opening::Continued { continued },
        Err(error) => {
            let status = carried.get("status");
            Opening::Unknown(Unknown {
                reason: error.to_string(),
                status: status.and_then(|status| Deserialize::deserialize(status).ok()),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use neuron_types::{AgentSpec, Message, RunId};
    use serde_json::json;

    use neuron_types::json_bytes;

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
        let read = |json: &str| serde_json::from_str::<HistoryInput>(json).unwrap();
        let named = read(r#"{"agent": "default"}"#);
        assert!(matches!(&named.0, Opening::Wrong(error) if error.contains("prompt")));
        assert_eq!(named.unknown(), None);
        for (json, said) in [
            (r#"{"version": 4, "agent": {}}"#, "prompt"),
            (
                r#"{"version": 5, "agent": "default", "prompt": "Go."}"#,
                "state version 5",
            ),
            (r#"{"continued": {}}"#, "state"),
        ] {
            let input = read(json);
            let why = input.unknown().unwrap();
            assert!(why.contains(said), "{why}");
        }
    }

    #[test]
    fn a_state_of_another_build_is_left_to_it_with_where_the_run_stood() {
        let run_id = RunId::new("r").unwrap();
        let status = RunStatus::new(run_id, "temporal", "clerk", DateTime::UNIX_EPOCH);
        let json = json!({"continued": {"state": {"version": 5}, "status": status}});
        let input: HistoryInput = serde_json::from_value(json).unwrap();
        assert!(input.unknown().unwrap().contains("state version 5"));
        assert_eq!(input.status(), Some(&status));
        assert_eq!(input.agent(), "");
    }
}
