use neuron_types::{Decision, UserMessage, signal};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{BadSignal, CancelBody};

/// A signal, by its meaning for an agent run.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum AgentSignal {
    /// [`signal::DECISION`].
    Decision(Decision),
    /// [`signal::USER_MESSAGE`].
    Message(UserMessage),
    /// [`signal::CANCEL`].
    Cancel(CancelBody),
    /// Any other name: a signal for custom workflows.
    Other(Value),
}

impl AgentSignal {
    /// Reads a signal.
    ///
    /// # Errors
    ///
    /// [`BadSignal`] if the name has a meaning that the payload does not fit.
    pub fn read(name: &str, payload: Value) -> Result<Self, BadSignal> {
        match name {
            signal::DECISION => fitting(name, payload).map(Self::Decision),
            signal::USER_MESSAGE => fitting(name, payload).map(Self::Message),
            signal::CANCEL => Ok(Self::Cancel(CancelBody::of_signal(&payload))),
            _ => Ok(Self::Other(payload)),
        }
    }
}

fn fitting<T: DeserializeOwned>(name: &str, payload: Value) -> Result<T, BadSignal> {
    serde_json::from_value(payload).map_err(|source| BadSignal {
        name: name.to_owned(),
        source,
    })
}
