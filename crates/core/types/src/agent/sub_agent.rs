//! An agent that another one may start.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{LimitOverrides, Message, ToolDefinition};

/// An agent that runs of another one may start: what the model of those runs reads about it.
///
/// The model calls a tool for it, [`agent_NAME`](Self::tool_name). Each call starts a run of the agent, which the loop does:
/// no executor is called.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SubAgent {
    /// Its name on the worker.
    pub name: String,
    /// When to call it, and what comes back.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The JSON Schema of what its runs are given; a text where `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Its call returns at once, and its answer arrives as a message. Default is false: the call returns the answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// Lower limits for the runs that are started so.
    #[serde(skip_serializing_if = "LimitOverrides::is_empty")]
    pub limits: LimitOverrides,
    /// The [pools](crate::AgentSpec::pools) that its runs and those below them use: it starts with a part of each. What it is
    /// not known to use, its runs may ask for.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub pools: BTreeSet<String>,
}

impl SubAgent {
    /// What the names of the tools begin with.
    pub const PREFIX: &str = "agent_";

    /// The argument of the tool where the agent is given a text.
    const PROMPT: &str = "prompt";

    /// The argument of the tool where the agent is given a value that is no object.
    const INPUT: &str = "input";

    /// Returns the agent of this name, which is given a text.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Returns the name of the tool that starts it.
    ///
    /// ```
    /// use neuron_types::SubAgent;
    ///
    /// assert_eq!(SubAgent::new("explorer").tool_name(), "agent_explorer");
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
        let returns = if self.background {
            "It works in the background: this call returns its run's id at once, and its answer arrives as a message."
        } else {
            "It works on its own and sees nothing of this conversation; this call returns its answer."
        };
        let description = match told.is_empty() {
            true => format!("Has the agent {name} do something. {returns}"),
            false => format!("{told}\n\n{returns}"),
        };
        ToolDefinition {
            name: self.tool_name(),
            title: Some(format!("Agent {name}")),
            description,
            input_schema: self.schema(),
            ..ToolDefinition::default()
        }
    }

    fn schema(&self) -> Value {
        match &self.input {
            Some(schema) if self.is_given_object() => schema.clone(),
            Some(schema) => json!({
                "type": "object",
                "properties": {Self::INPUT: schema},
                "required": [Self::INPUT],
            }),
            None => json!({
                "type": "object",
                "properties": {
                    Self::PROMPT: {
                        "type": "string",
                        "description": "What it is to do, with all that it has to know."
                    }
                },
                "required": [Self::PROMPT],
            }),
        }
    }

    fn is_given_object(&self) -> bool {
        let schema = self.input.as_ref();
        schema.is_some_and(|schema| schema.get("type") == Some(&Value::from("object")))
    }

    /// Returns what a run of it is given that is started with these arguments of the tool.
    ///
    /// # Errors
    ///
    /// What the model reads in the place of an answer: the arguments are not those of the tool.
    pub fn prompt(&self, args: &Value) -> Result<Message, String> {
        let argument = match &self.input {
            Some(_) if self.is_given_object() => return Ok(Message::user(args.to_string())),
            Some(_) => Self::INPUT,
            None => Self::PROMPT,
        };
        match (args.get(argument), &self.input) {
            (Some(Value::String(text)), _) => Ok(Message::user(text.as_str())),
            (Some(value), Some(_)) => Ok(Message::user(value.to_string())),
            (Some(_), None) => Err(format!("not started: {argument:?} is no text")),
            (None, _) => Err(format!("not started: the argument {argument:?} is missing")),
        }
    }
}
