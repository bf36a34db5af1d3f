//! What one history of a run hands to the next.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
};

use neuron_types::{
    AgentSpec, Message, RecordedEvent, RunEvent, RunInput, RunStart, RunState, RunStatus,
};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::Value;

/// What a history of a run begins with: a [`RunInput`], or what the history before it handed over.
#[derive(Debug, Clone, Serialize)]
pub struct HistoryInput(pub(crate) Opening);

#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum Opening {
    New(Box<RunInput>),
    Continued { continued: Box<Carried> },
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
    /// What the hooks have not been told yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) untold: Vec<RunEvent>,
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
    pub(crate) fn conversation(self) -> Vec<Message> {
        match self.0 {
            Opening::New(_) => Vec::new(),
            Opening::Continued { continued } => continued.state.agent.request.messages,
        }
    }

    pub(crate) fn agent(&self) -> &AgentSpec {
        match &self.0 {
            Opening::New(input) => &input.agent,
            Opening::Continued { continued } => &continued.state.agent,
        }
    }

    /// Whether the history before has set search attributes.
    pub(crate) fn is_shown(&self) -> bool {
        matches!(&self.0, Opening::Continued { continued } if continued.shown)
    }

    pub(crate) fn into_start(self) -> RunStart {
        match self.0 {
            Opening::New(input) => RunStart::New(*input),
            Opening::Continued { continued } => RunStart::Continued(Box::new(continued.state)),
        }
    }
}

impl From<RunInput> for HistoryInput {
    fn from(input: RunInput) -> Self {
        Self(Opening::New(Box::new(input)))
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
            None => serde_json::from_value(value).map(Opening::New),
        };
        opening.map(Self).map_err(D::Error::custom)
    }
}

/// The length of a value's JSON.
pub(crate) fn json_bytes(value: &impl Serialize) -> Result<usize, serde_json::Error> {
    struct Count(usize);

    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut count = Count(0);
    serde_json::to_writer(&mut count, value)?;
    Ok(count.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_started_with_its_input_alone() {
        let input = RunInput {
            agent: AgentSpec::default(),
            prompt: Message::user("Go."),
        };
        let json = serde_json::to_string(&HistoryInput::from(input.clone())).unwrap();
        assert_eq!(json, serde_json::to_string(&input).unwrap());
        assert_eq!(json_bytes(&input).unwrap(), json.len());
        let read: HistoryInput = serde_json::from_str(&json).unwrap();
        assert_eq!(read.into_start(), RunStart::New(input));
    }

    #[test]
    fn says_what_is_missing_in_an_input() {
        let error = serde_json::from_str::<HistoryInput>(r#"{"agent": {}}"#).unwrap_err();
        assert!(error.to_string().contains("prompt"), "{error}");
        let error = serde_json::from_str::<HistoryInput>(r#"{"continued": {}}"#).unwrap_err();
        assert!(error.to_string().contains("state"), "{error}");
    }
}
