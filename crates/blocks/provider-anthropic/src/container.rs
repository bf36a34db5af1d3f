use std::borrow::Cow;

use chrono::{DateTime, Utc};
use neuron_types::{ContentBlock, Message};
use serde_json::{Map, Value};

/// The type of the block that names the container in which the API ran an answer's code. It is this crate's own: the
/// API names the container beside the message, and the run's conversation is all that the next request knows.
const KIND: &str = "neuron_container";

/// Returns the block for the container of an answer.
pub(crate) fn block(mut container: Map<String, Value>) -> Option<ContentBlock> {
    container.get("id").filter(|id| id.is_string())?;
    container.insert("type".to_owned(), Value::String(KIND.to_owned()));
    Some(ContentBlock::Other(Value::Object(container)))
}

/// Returns whether this is such a block, which is no part of a message.
pub(crate) fn is_block(block: &Value) -> bool {
    block.get("type").and_then(Value::as_str) == Some(KIND)
}

/// Returns the container of the next request: the one that is asked for, else that of the newest answer that had one,
/// if it still is there.
pub(crate) fn next<'a>(
    conversation: &'a [Message],
    extra: Option<&'a Map<String, Value>>,
    now: DateTime<Utc>,
) -> Option<Cow<'a, Value>> {
    let asked = extra.and_then(|extra| extra.get("container"));
    let known = known(conversation, now);
    match (asked, known) {
        (Some(Value::Object(asked)), Some(id)) if !asked.contains_key("id") => {
            let mut container = asked.clone();
            container.insert("id".to_owned(), id.clone());
            Some(Cow::Owned(Value::Object(container)))
        }
        (asked, known) => asked.or(known).map(Cow::Borrowed),
    }
}

fn known(conversation: &[Message], now: DateTime<Utc>) -> Option<&Value> {
    let blocks = conversation
        .iter()
        .rev()
        .flat_map(|message| &message.content);
    let container = blocks.into_iter().find_map(|block| match block {
        ContentBlock::Other(block) if is_block(block) => Some(block),
        _ => None,
    })?;
    let ends = container.get("expires_at").and_then(Value::as_str);
    let ends = ends.and_then(|ends| DateTime::parse_from_rfc3339(ends).ok());
    if ends.is_some_and(|ends| ends <= now) {
        return None;
    }
    container.get("id")
}
