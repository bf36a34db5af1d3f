//! What a turn is given.

use neuron_types::{Message, SessionName};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Trigger, TurnConfig};

/// What a turn is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TurnInput {
    /// The last message of the user.
    pub message: Message,
    /// What set the turn off.
    #[serde(default)]
    pub trigger: Trigger,
    /// The key of the conversation before it, which a [`StateReader`](crate::StateReader) has; a new one where `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionName>,
    /// What is other than the turn's defaults.
    #[serde(default)]
    pub config: TurnConfig,
    /// Further fields of the requests to the provider, by its own names: see
    /// [`RequestHead::extra`](neuron_types::RequestHead::extra). A field that the agent sets itself keeps the agent's value.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

impl TurnInput {
    /// Returns the input of a turn of this message, with the turn's defaults and nothing said before it.
    #[must_use]
    pub fn new(message: Message) -> Self {
        Self {
            message,
            trigger: Trigger::default(),
            session: None,
            config: TurnConfig::default(),
            metadata: Map::new(),
        }
    }

    /// Returns the input of a turn of this text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Message::user(text))
    }

    /// Sets what set the turn off. Default is [`Trigger::User`].
    #[must_use]
    pub fn trigger(mut self, trigger: Trigger) -> Self {
        self.trigger = trigger;
        self
    }

    /// Sets the conversation that the turn continues. Default is a new one.
    #[must_use]
    pub fn session(mut self, session: SessionName) -> Self {
        self.session = Some(session);
        self
    }

    /// Sets what is other than the turn's defaults. Default is nothing.
    #[must_use]
    pub fn config(mut self, config: TurnConfig) -> Self {
        self.config = config;
        self
    }

    /// Adds a further field of the requests to the provider. One of the same name is replaced.
    #[must_use]
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }
}
