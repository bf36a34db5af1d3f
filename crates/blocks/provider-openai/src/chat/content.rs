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
            // Some servers write a list of one as its only part.
            part @ Value::Object(_) => self.take(Value::Array(vec![part]), seen),
            Value::Array(parts) => {
                for part in parts {
                    match text_of(&part, "text") {
                        Some(text) => self.append(text, seen),
                        None => self.take_part(part, seen),
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

    /// Takes a part that is no text. Mistral's thoughts are parts that hold texts, and continue from piece to piece.
    fn take_part(&mut self, part: Value, seen: &mut VecDeque<StreamEvent>) {
        let Some(thought) = thought_of(&part) else {
            self.0.push(Piece::Part(part));
            return;
        };
        match self.0.last_mut().and_then(Piece::open_thought) {
            Some(before) => before.push_str(&thought),
            None => self.0.push(Piece::Part(part)),
        }
        if !thought.is_empty() {
            seen.push_back(StreamEvent::ThinkingDelta(thought));
        }
    }

    /// Returns the content as a whole answer would have had it.
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

impl Piece {
    /// Returns the text of a thought that may continue.
    fn open_thought(&mut self) -> Option<&mut String> {
        let Self::Part(part) = self else { return None };
        thought_of(part)?;
        let last = part.get_mut("thinking")?.as_array_mut()?.last_mut()?;
        match last.get_mut("text")? {
            Value::String(text) => Some(text),
            _ => None,
        }
    }
}

/// Returns what a thought says, if the part is one and holds texts alone.
fn thought_of(part: &Value) -> Option<String> {
    let is_thought = part.get("type")? == "thinking";
    let texts = part.get("thinking")?.as_array()?.iter();
    let texts = texts.map(|text| text_of(text, "text"));
    texts.collect::<Option<String>>().filter(|_| is_thought)
}
