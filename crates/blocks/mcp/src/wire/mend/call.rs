//! Results of calls.

use serde_json::{Value, json};

use super::fields::{Fields, block, flag, text_block};

/// Returns the pieces of content that fit, and what does not fit as text. `None` for no result at all.
pub(super) fn mend(result: Value) -> Option<Value> {
    let mut fields = match result {
        Value::Object(fields) => fields,
        Value::Null => return None,
        other => return Some(json!({"content": [block(other)]})),
    };
    let mut content = match fields.remove("content") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(pieces)) => pieces.into_iter().map(block).collect(),
        Some(piece) => vec![block(piece)],
    };
    let structured = fields.remove("structuredContent");
    let structured = structured.filter(|value| !value.is_null());
    let is_error = fields.remove("isError").filter(|value| !value.is_null());
    let flagged = is_error.as_ref().and_then(flag);
    if let (Some(odd), None) = (is_error, flagged) {
        content.push(text_block(&json!({"isError": odd}).to_string()));
    }
    fields.remove("_meta");
    if content.is_empty() && structured.is_none() && !fields.is_empty() {
        content.push(text_block(&Value::Object(fields).to_string()));
    }
    let mut mended = Fields::new();
    mended.insert("content".to_owned(), Value::Array(content));
    if let Some(structured) = structured {
        mended.insert("structuredContent".to_owned(), structured);
    }
    if let Some(is_error) = flagged {
        mended.insert("isError".to_owned(), Value::Bool(is_error));
    }
    Some(Value::Object(mended))
}
