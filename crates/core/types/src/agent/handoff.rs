//! An agent that a run may be handed over to.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ToolDefinition;

/// An agent that runs of another one may be handed over to: what the model of those runs reads about it.
///
/// The model calls a tool for it, [`transfer_to_NAME`](Self::tool_name). The same run then continues under the
/// definition of that agent. The loop does that: no executor is called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Handoff {
    /// Its name on the worker.
    pub name: String,
    /// What it is for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What the agent sees of the conversation. Default is the whole conversation.
    #[serde(skip_serializing_if = "HandedConversation::is_whole")]
    pub conversation: HandedConversation,
}

/// What an agent sees of the conversation that is handed over to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandedConversation {
    /// The whole conversation.
    #[default]
    Whole,
    /// The first message, and a summary of what came after it by the model that hands it over. It stays whole where there
    /// is too little to summarise, or the model cannot.
    Summary,
    /// The last message of the user.
    Last,
}

impl HandedConversation {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub(crate) const fn is_whole(&self) -> bool {
        matches!(self, Self::Whole)
    }
}

impl Handoff {
    /// What the names of the tools begin with.
    pub const PREFIX: &str = "transfer_to_";

    /// The argument of the tool.
    const REASON: &str = "reason";

    /// Returns the agent of this name, which sees the whole conversation.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Returns the name of the tool that hands a run over to it.
    ///
    /// ```
    /// use neuron_types::Handoff;
    ///
    /// assert_eq!(Handoff::new("billing").tool_name(), "transfer_to_billing");
    /// ```
    #[must_use]
    pub fn tool_name(&self) -> String {
        format!("{}{}", Self::PREFIX, self.name)
    }

    /// Returns what the model reads about that tool.
    #[must_use]
    pub fn definition(&self) -> ToolDefinition {
        let name = &self.name;
        let told = self.description.trim();
        let does = "It takes the conversation over, and you are done with it.";
        let description = match told.is_empty() {
            true => format!("Hands the conversation over to the agent {name}. {does}"),
            false => {
                format!("Hands the conversation over to the agent {name}. {does}\n\n{told}")
            }
        };
        ToolDefinition {
            name: self.tool_name(),
            title: Some(format!("Transfer to {name}")),
            description,
            input_schema: json!({
                "type": "object",
                "properties": {
                    Self::REASON: {
                        "type": "string",
                        "description": "Why, in a sentence that the agent reads."
                    }
                },
                "required": [Self::REASON],
            }),
            ..ToolDefinition::default()
        }
    }

    /// Returns the reason that a call of the tool states, without space around it; empty if it states none.
    #[must_use]
    pub fn reason(args: &Value) -> &str {
        let reason = args.get(Self::REASON).and_then(Value::as_str);
        reason.unwrap_or_default().trim()
    }
}
