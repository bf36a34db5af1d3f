//! The tool with which a model asks a person.

use serde::Deserialize;
use serde_json::json;

use crate::{ToolAnnotations, ToolDefinition};

/// The name of the tool with which a model asks a person. The loop answers it, by a ticket; no executor is called.
pub const ASK_PERSON: &str = "ask_person";

/// The arguments of [`ASK_PERSON`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct AskPerson {
    /// What is asked.
    pub question: String,
    /// Answers to choose from; any text is an answer where the list is empty.
    #[serde(default)]
    pub choices: Vec<String>,
}

impl AskPerson {
    /// Returns what the model reads about the tool.
    #[must_use]
    pub fn definition() -> ToolDefinition {
        ToolDefinition {
            name: ASK_PERSON.to_owned(),
            title: Some("Ask a person".to_owned()),
            description: "Asks a person a question and returns the answer, which may take long. Use it where the task \
                          cannot go on without a decision or a fact that only a person has."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "question": {
                        "type": "string",
                        "description": "The question, with all that is needed to answer it."
                    },
                    "choices": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "Answers to choose from. Leave them out for an answer in the person's own words."
                    }
                },
                "required": ["question"]
            }),
            annotations: Some(ToolAnnotations {
                read_only_hint: Some(true),
                ..ToolAnnotations::default()
            }),
            ..ToolDefinition::default()
        }
    }
}
