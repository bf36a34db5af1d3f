//! The tools by which a model asks for effects.

use std::sync::Arc;

use neuron_types::{
    ToolAnnotations, ToolContext, ToolDefinition, ToolDyn, ToolError, ToolOutput, WasmBoxedFuture,
};
use serde_json::{Value, json};

use crate::{Effect, effect::FIELD};

/// A tool by which the model asks for an [`Effect`].
///
/// Calling it does nothing: its result states to the model that the effect is asked for, and to the turn which one it
/// is. It counts as read-only, so no rule about writes asks a person: the caller that carries the effect out decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EffectTool {
    /// `write_memory`.
    WriteMemory,
    /// `delete_memory`.
    DeleteMemory,
    /// `delegate`.
    Delegate,
    /// `handoff`.
    Handoff,
    /// `signal`.
    Signal,
}

impl EffectTool {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::WriteMemory,
        Self::DeleteMemory,
        Self::Delegate,
        Self::Handoff,
        Self::Signal,
    ];

    /// Returns all of them, as agents take tools.
    pub fn all() -> impl Iterator<Item = Arc<dyn ToolDyn>> {
        Self::ALL
            .into_iter()
            .map(|tool| Arc::new(tool) as Arc<dyn ToolDyn>)
    }

    /// Returns the tool of this name; `None` if no tool has it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.as_str() == name)
    }

    /// Returns its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WriteMemory => "write_memory",
            Self::DeleteMemory => "delete_memory",
            Self::Delegate => "delegate",
            Self::Handoff => "handoff",
            Self::Signal => "signal",
        }
    }

    /// Returns what the model reads as its result.
    #[must_use]
    pub const fn answer(self) -> &'static str {
        match self {
            Self::WriteMemory => "Memory written.",
            Self::DeleteMemory => "Memory deleted.",
            Self::Delegate => "Delegation requested.",
            Self::Handoff => "Handoff initiated.",
            Self::Signal => "Signal sent.",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::WriteMemory => {
                "Remembers a value under a key of a scope, for later conversations."
            }
            Self::DeleteMemory => "Forgets what is remembered under a key of a scope.",
            Self::Delegate => {
                "Has another agent work on something. Its answer does not come in this conversation."
            }
            Self::Handoff => {
                "Has another agent go on with this conversation. Say last what the user should know."
            }
            Self::Signal => "Sends a signal to a run that is under way.",
        }
    }

    /// Returns the arguments, each with what it is for, and whether it is a text.
    const fn arguments(self) -> &'static [(&'static str, &'static str, bool)] {
        match self {
            Self::WriteMemory => &[
                ("scope", "Whose it is, for example \"user\".", true),
                ("key", "The name to find it by.", true),
                ("value", "What to remember: any JSON value.", false),
            ],
            Self::DeleteMemory => &[
                ("scope", "Whose it is.", true),
                ("key", "The name that it has.", true),
            ],
            Self::Delegate => &[
                ("agent", "The agent's name.", true),
                ("input", "What it is to do: a text, or a JSON value.", false),
            ],
            Self::Handoff => &[
                ("agent", "The agent's name.", true),
                ("state", "What it has to know: any JSON value.", false),
            ],
            Self::Signal => &[
                ("target", "The run that takes it.", true),
                ("payload", "What it carries: any JSON value.", false),
            ],
        }
    }

    /// Returns the effect that a call with these arguments asks for.
    ///
    /// # Errors
    ///
    /// [`ToolError::ModelRetry`] if an argument is missing or is no text.
    pub fn effect(self, input: Value) -> Result<Effect, ToolError> {
        let (mut fields, got) = match input {
            Value::Object(fields) => (fields, None),
            other => (serde_json::Map::new(), Some(other)),
        };
        if got.is_some() {
            return Err(ToolError::ModelRetry(
                "the arguments are no object".to_owned(),
            ));
        }
        let mut any = |name: &str| {
            let value = fields.remove(name);
            value.ok_or_else(|| ToolError::ModelRetry(format!("the argument {name} is missing")))
        };
        let mut text = |name: &str| match any(name)? {
            Value::String(text) => Ok(text),
            _ => Err(ToolError::ModelRetry(format!(
                "the argument {name} is no text"
            ))),
        };
        Ok(match self {
            Self::WriteMemory => Effect::WriteMemory {
                scope: text("scope")?,
                key: text("key")?,
                value: any("value")?,
            },
            Self::DeleteMemory => Effect::DeleteMemory {
                scope: text("scope")?,
                key: text("key")?,
            },
            Self::Delegate => Effect::Delegate {
                agent: text("agent")?,
                input: any("input")?,
            },
            Self::Handoff => Effect::Handoff {
                agent: text("agent")?,
                state: any("state")?,
            },
            Self::Signal => Effect::Signal {
                target: text("target")?,
                payload: any("payload")?,
            },
        })
    }

    /// Returns the result of a call with these arguments.
    fn output(self, input: Value) -> Result<ToolOutput, ToolError> {
        let effect = self.effect(input)?;
        let effect = serde_json::to_value(effect)
            .map_err(|error| ToolError::ExecutionFailed(Box::new(error)))?;
        Ok(ToolOutput {
            structured_content: Some(json!({ FIELD: effect })),
            ..ToolOutput::text(self.answer())
        })
    }
}

impl ToolDyn for EffectTool {
    fn name(&self) -> &str {
        self.as_str()
    }

    fn definition(&self) -> ToolDefinition {
        let arguments = self.arguments().iter();
        let properties: serde_json::Map<_, _> = arguments
            .map(|(name, description, is_text)| {
                let schema = match is_text {
                    true => json!({"type": "string", "description": description}),
                    false => json!({ "description": description }),
                };
                ((*name).to_owned(), schema)
            })
            .collect();
        let required: Vec<&str> = self.arguments().iter().map(|(name, ..)| *name).collect();
        ToolDefinition {
            name: self.as_str().to_owned(),
            description: self.description().to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            }),
            annotations: Some(ToolAnnotations {
                read_only_hint: Some(true),
                ..ToolAnnotations::default()
            }),
            ..ToolDefinition::default()
        }
    }

    fn call_dyn<'a>(
        &'a self,
        input: Value,
        _: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(std::future::ready(self.output(input)))
    }
}
