use std::collections::VecDeque;

use neuron_types::StreamEvent;
use serde_json::{Value, json};

use crate::chat::answer::text_of;

/// The content of a message that comes in pieces: texts, or parts.
#[derive(Debug, Default)]
pub(crate) struct Content(Vec<Piece>);

#[derive(Debug)]
enum Piece {
    Text(String),
    Part(Value),
}

impl Content {
    pub(crate) fn take(&mut self, delta: Value, seen: &mut VecDeque<StreamEvent>) {
        match delta {
            Value::String(text) => self.append(text, seen),
            Value::Array(parts) => {
                for part in parts {
                    match text_of(&part, "text") {
                        Some(text) => self.append(text, seen),
                        None => self.0.push(Piece::Part(part)),
                    }
                }
            }
            _ => {}
        }
    }

    fn append(&mut self, text: String, seen: &mut VecDeque<StreamEvent>) {
        if text.is_empty() {
            return;
        }
        if let Some(Piece::Text(before)) = self.0.last_mut() {
            before.push_str(&text);
        } else {
            self.0.push(Piece::Text(text.clone()));
        }
        seen.push_back(StreamEvent::TextDelta(text));
    }

    /// The content as a whole answer would have had it.
    pub(crate) fn into_value(self) -> Value {
        let mut pieces = self.0;
        if let [Piece::Text(text)] = pieces.as_mut_slice() {
            return Value::String(std::mem::take(text));
        }
        let parts = pieces.into_iter().map(|piece| match piece {
            Piece::Text(text) => json!({"type": "text", "text": text}),
            Piece::Part(part) => part,
        });
        parts.collect()
    }
}
