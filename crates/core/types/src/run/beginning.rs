//! What a run begins with: its agent's definition, and whether it is given what that takes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{AgentSpec, Conversation, Message, ModelRate, SessionName};

/// Asks what a run begins with: see [`Effect::Begin`](crate::Effect::Begin).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BeginRequest {
    /// The agent's name.
    pub agent: String,
    /// The caller who started the run gave the agent's definition: it is not looked for, but may not be taken here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defined: Option<DefinedByCaller>,
    /// The models that the caller who started the run chose, as `provider/model`: the most that they cost is looked up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// What the run is given: a text, or a value as JSON.
    pub given: String,
    /// The stored conversation with which it continues, one of its tenant's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionName>,
}

/// What has to be known of a definition that the caller who starts a run gives.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DefinedByCaller {
    /// What the agent [is given](AgentSpec::input), as a JSON Schema; any text where `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
}

/// What a run begins with.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Begun {
    /// The definition of the agent that the run names; `None` where the caller who started the run gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Box<AgentSpec>>,
    /// Decisions about the run have to be signed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub signed: bool,
    /// What the models that were asked about cost at most, as far as that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<ModelRate>,
    /// Why what the run is given is not what its agent takes; `None` if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mismatch: Option<String>,
    /// What was said in the session with which the run continues.
    #[serde(default, skip_serializing_if = "<[Message]>::is_empty")]
    pub said: Conversation,
}
