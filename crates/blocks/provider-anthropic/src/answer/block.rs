use std::mem;

use neuron_provider_http::{Arguments, read_input};
use serde_json::{Map, Value};

/// A block that is still growing.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) fields: Map<String, Value>,
    pub(crate) text: String,
    pub(crate) thinking: String,
    /// Which of the calls of our tools it is.
    pub(crate) call: Option<usize>,
    /// The input of a call of a tool that is not ours.
    pub(crate) input: Arguments,
    pub(crate) ended: bool,
}

/// What a delta goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Text,
    Thinking,
    Call,
    Other,
}

impl Kind {
    pub(crate) fn of_delta(kind: Option<&str>) -> Self {
        match kind {
            Some("text_delta" | "citations_delta") => Self::Text,
            Some("thinking_delta" | "signature_delta") => Self::Thinking,
            Some("input_json_delta") => Self::Call,
            _ => Self::Other,
        }
    }
}

impl Block {
    pub(crate) fn kind(&self) -> Kind {
        match self.said("type") {
            Some("text") => Kind::Text,
            Some("thinking") => Kind::Thinking,
            Some(kind) if kind.ends_with("tool_use") => Kind::Call,
            _ => Kind::Other,
        }
    }

    pub(crate) fn said(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_str()
    }

    /// Returns whether its start comes once more. Two blocks of text that lie on one another are one.
    pub(crate) fn is_repeated_by(&self, fields: &Map<String, Value>) -> bool {
        let same = |name| self.fields.get(name) == fields.get(name);
        let is_call = fields.contains_key("name");
        same("type") && same("name") && same("id") && (!is_call || fields.contains_key("id"))
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.fields.insert(name.to_owned(), value);
    }

    pub(crate) fn cite(&mut self, mut delta: Map<String, Value>) {
        let Some(citation) = delta.remove("citation") else {
            return;
        };
        let citations = self.fields.entry("citations").or_insert(Value::Null);
        match citations {
            Value::Array(citations) => citations.push(citation),
            other => *other = Value::Array(vec![citation]),
        }
    }

    /// Puts what came in pieces into its field.
    pub(crate) fn end(&mut self) {
        self.ended = true;
        for (name, more) in [
            ("text", mem::take(&mut self.text)),
            ("thinking", mem::take(&mut self.thinking)),
        ] {
            if !more.is_empty() {
                let text = self.said(name).unwrap_or_default().to_owned() + &more;
                self.set(name, Value::String(text));
            }
        }
        let input = mem::take(&mut self.input).finish();
        self.set_input(&input);
    }

    /// Sets the input. What is no JSON is kept as the model wrote it, so that the loop can show the model what is
    /// wrong.
    pub(crate) fn set_input(&mut self, input: &str) {
        if !input.is_empty() {
            self.set("input", read_input(input));
        }
    }
}
