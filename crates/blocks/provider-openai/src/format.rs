use neuron_types::{CompletionRequest, ResponseFormat};
use serde::Serialize;
use serde_json::Value;

use crate::form::{Form, Placed};

/// What the answer's text has to be.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Format<'a> {
    JsonObject,
    JsonSchema(Placed<Schema<'a>>),
}

#[derive(Debug, Serialize)]
pub(crate) struct Schema<'a> {
    name: &'a str,
    schema: &'a Value,
    strict: bool,
}

impl<'a> Format<'a> {
    /// Returns the format that the request asks for; `None` where it is text as ever.
    pub(crate) fn of(request: &'a CompletionRequest, form: Form) -> Option<Self> {
        match request.response_format.as_ref()? {
            ResponseFormat::Text => None,
            ResponseFormat::JsonObject => Some(Self::JsonObject),
            ResponseFormat::JsonSchema {
                name,
                schema,
                strict,
            } => {
                let schema = Schema {
                    name,
                    schema,
                    strict: *strict,
                };
                Some(Self::JsonSchema(form.place("json_schema", schema)))
            }
        }
    }
}
