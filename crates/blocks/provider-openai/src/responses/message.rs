use neuron_types::ContentBlock;
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json};

/// Takes a received message item apart: the item without its texts, then each text. Returns whether it is a `refusal`.
///
/// A reader finds the text where it looks for it, and [`MessageItem`] puts the item together again.
pub(crate) fn take_apart(mut item: Map<String, Value>, content: &mut Vec<ContentBlock>) -> bool {
    let mut texts = Vec::new();
    let mut refused = false;
    if let Some(content @ Value::String(_)) = item.get_mut("content") {
        let text = content.take();
        *content = json!([{"type": "output_text", "text": text}]);
    }
    if let Some(Value::Array(parts)) = item.get_mut("content") {
        for part in parts {
            let Some(field) = text_field(part) else {
                continue;
            };
            let fields = part.as_object_mut();
            let Some(text) = fields.and_then(|fields| take_text(fields, field)) else {
                continue;
            };
            refused |= field == "refusal";
            texts.push(ContentBlock::Text(text));
        }
    }
    content.push(ContentBlock::Other(Value::Object(item)));
    content.append(&mut texts);
    refused
}

/// Returns where a part of this type has its text.
fn text_field(part: &Value) -> Option<&'static str> {
    match part.get("type").and_then(Value::as_str) {
        // Some servers leave the direction out.
        Some("output_text" | "text") => Some("text"),
        Some("refusal") => Some("refusal"),
        _ => None,
    }
}

/// Takes only what is text: anything else stays where it is.
fn take_text(fields: &mut Map<String, Value>, name: &str) -> Option<String> {
    match fields.remove(name)? {
        Value::String(text) => Some(text),
        other => {
            fields.insert(name.to_owned(), other);
            None
        }
    }
}

/// A message item whose texts are in the blocks after it.
#[derive(Debug)]
pub(crate) struct MessageItem<'a> {
    item: &'a Map<String, Value>,
    texts: Vec<&'a str>,
}

impl<'a> MessageItem<'a> {
    /// Puts an item together with as many of the texts that follow as it has room for, and takes them off
    /// `following`. `None` if this is no message item.
    pub(crate) fn new(block: &'a Value, following: &mut &'a [ContentBlock]) -> Option<Self> {
        let item = block.as_object()?;
        if item.get("type").and_then(Value::as_str) != Some("message") {
            return None;
        }
        let mut texts = Vec::new();
        for _ in parts(item).iter().filter_map(gap) {
            let Some((ContentBlock::Text(text), rest)) = following.split_first() else {
                break;
            };
            texts.push(text.as_str());
            *following = rest;
        }
        Some(Self { item, texts })
    }

    /// Returns whether nothing is left of the item, because its texts were removed from the conversation.
    pub(crate) fn is_bare(&self) -> bool {
        let parts = parts(self.item);
        self.texts.is_empty() && !parts.is_empty() && parts.iter().all(|part| gap(part).is_some())
    }
}

fn parts(item: &Map<String, Value>) -> &[Value] {
    let content = item.get("content").and_then(Value::as_array);
    content.map(Vec::as_slice).unwrap_or_default()
}

/// Returns the field that a part lacks because its text was taken.
fn gap(part: &Value) -> Option<&'static str> {
    text_field(part).filter(|field| part.get(*field).is_none())
}

impl Serialize for MessageItem<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.item {
            if name == "content" && value.is_array() {
                map.serialize_entry(name, &self.filled_parts())?;
            } else {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}

impl MessageItem<'_> {
    /// Fills the parts with their texts. A part whose text is gone is left out.
    fn filled_parts(&self) -> Vec<FilledPart<'_>> {
        let mut texts = self.texts.iter();
        parts(self.item)
            .iter()
            .filter_map(|part| {
                let text = match gap(part) {
                    Some(field) => Some((field, *texts.next()?)),
                    None => None,
                };
                Some(FilledPart { part, text })
            })
            .collect()
    }
}

struct FilledPart<'a> {
    part: &'a Value,
    text: Option<(&'static str, &'a str)>,
}

impl Serialize for FilledPart<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (Some((field, text)), Some(part)) = (self.text, self.part.as_object()) else {
            return self.part.serialize(serializer);
        };
        let mut map = serializer.serialize_map(Some(part.len() + 1))?;
        for (name, value) in part {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry(field, text)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_the_place_of_parts_is_read() {
        let item = json!({"type": "message", "role": "assistant", "content": "Hello"});
        let Value::Object(item) = item else {
            panic!("no item");
        };
        let mut content = Vec::new();
        assert!(!take_apart(item, &mut content));
        assert_eq!(content.pop(), Some(ContentBlock::Text("Hello".to_owned())));
    }
}
