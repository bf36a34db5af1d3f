//! What a model reads about a tool.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ArgumentKind, CacheControl};

/// What the model reads about a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolDefinition {
    /// See [`Tool::NAME`](crate::Tool::NAME).
    pub name: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// When to call it and what comes back.
    pub description: String,
    /// JSON Schema of the arguments; its type is `object`.
    pub input_schema: Value,
    /// JSON Schema of [`ToolOutput::structured_content`](crate::ToolOutput::structured_content).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What a call does to the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
    /// How long one attempt of a call may take where the agent does not say it for this tool; no longer than
    /// the agent's [`tool_timeout`](crate::AgentSpec::tool_timeout), which holds where `None`. No model is
    /// sent it.
    #[serde(
        rename = "timeout_ms",
        with = "crate::json::millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub timeout: Option<Duration>,
    /// What its arguments are for, by their names or by JSON pointers to them, so that [rules](crate::CallPattern) compare
    /// what a call does and not how it is spelled. The arguments that are not here are compared as texts. No model is sent
    /// it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, ArgumentKind>,
    /// Ends a cached prefix here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl>,
    /// The provider holds the model to the schema while it writes the arguments. A provider that cannot does
    /// without; the provider's default, which is no, where `None`. Not every schema can be held to: the
    /// provider's crate says which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// The result comes later, from another system, with the
    /// [token](crate::ToolContext::completion_token) that the tool is handed. No model is sent it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deferred: bool,
    /// Whether a person who is asked about a call is first shown what the tool's [`preview`](crate::Tool::preview)
    /// returns for the call. Default is false: the tool is asked nothing then. No model is sent this field.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub previews: bool,
    /// Whether the tool's [`outcome`](crate::Tool::outcome) finds out what became of a write whose outcome is unknown,
    /// before the model or a person learns of it. Default is false: the tool is asked nothing then. No model is sent
    /// this field.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outcomes: bool,
    /// Further fields of the provider's definition of a tool, by its own names, such as `input_examples` or
    /// `defer_loading`. What has a field here cannot be set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<Value>,
}

/// What a call does to the world, in the words of the Model Context Protocol.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolAnnotations {
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it twice with the same arguments is the same as calling it once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It reaches beyond this system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// What may be done with a call whose attempt failed or was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolEffects {
    /// It changes nothing: repeat it freely.
    ReadOnly,
    /// Repeating it is harmless, with the same idempotency key.
    Idempotent,
    /// One attempt. If its outcome is unknown it is not called again unless a person orders that.
    Write,
}

impl ToolDefinition {
    /// What stands between a server and the name that a tool has there.
    const OF_SERVER: &str = "__";

    /// Returns the server that it is of, where its name is `SERVER__TOOL`, as those of MCP servers are.
    #[must_use]
    pub fn server(&self) -> Option<&str> {
        self.parts().map(|(server, _)| server)
    }

    /// Returns its name without that of its server.
    #[must_use]
    pub fn own_name(&self) -> &str {
        self.parts().map_or(&self.name, |(_, name)| name)
    }

    fn parts(&self) -> Option<(&str, &str)> {
        let parts = self.name.split_once(Self::OF_SERVER);
        parts.filter(|(server, name)| !server.is_empty() && !name.is_empty())
    }

    /// Returns the effects that its annotations promise. A tool that promises nothing is a write.
    #[must_use]
    pub fn effects(&self) -> ToolEffects {
        match &self.annotations {
            Some(hints) if hints.read_only_hint == Some(true) => ToolEffects::ReadOnly,
            Some(hints) if hints.idempotent_hint == Some(true) => ToolEffects::Idempotent,
            _ => ToolEffects::Write,
        }
    }
}
