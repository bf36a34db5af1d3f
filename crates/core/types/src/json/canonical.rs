//! One text for one JSON value.

use std::fmt::Write as _;

use serde_json::Value;

/// The text of a JSON value that everybody writes alike, to be digested, signed or compared.
///
/// There are no spaces. The keys of an object stand in the order of their characters' code points, which is
/// that of their bytes in UTF-8. Strings escape what JSON demands and nothing else: `\"`, `\\`, `\b`, `\f`,
/// `\n`, `\r`, `\t`, and other control characters as `\u00xx` in small letters. Whole numbers have neither
/// fraction nor exponent; others are the shortest that read back as the same double, and keep their fraction:
/// `1.0` is not `1`.
///
/// Whatever order an object's keys were read or kept in, the text is the same, and it reads back as the value.
///
/// ```
/// use neuron_types::canonical_json;
/// use serde_json::json;
///
/// let value = json!({"tool": "bash", "args": {"b": [1, 2.5], "a": "ä\n"}});
/// assert_eq!(canonical_json(&value), r#"{"args":{"a":"ä\n","b":[1,2.5]},"tool":"bash"}"#);
/// ```
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        // Sorted here, because other crates can have serde_json keep the order of insertion.
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            text.push('{');
            for (index, (key, value)) in fields.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_string(key, text);
                text.push(':');
                write(value, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        // Written here, because releases of serde_json differ in how they write an exponent.
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(double) => {
                let _ = write!(text, "{double:?}");
            }
            None => text.push_str(&number.to_string()),
        },
        Value::String(string) => write_string(string, text),
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Null => text.push_str("null"),
    }
}

fn write_string(string: &str, text: &mut String) {
    text.push('"');
    let mut plain = string;
    while let Some(at) = plain.find(|c| c < ' ' || c == '"' || c == '\\') {
        let (before, rest) = plain.split_at(at);
        text.push_str(before);
        let mut rest = rest.chars();
        match rest.next() {
            Some('\u{8}') => text.push_str("\\b"),
            Some('\u{c}') => text.push_str("\\f"),
            Some('\n') => text.push_str("\\n"),
            Some('\r') => text.push_str("\\r"),
            Some('\t') => text.push_str("\\t"),
            Some(control) if control < ' ' => {
                let _ = write!(text, "\\u{:04x}", u32::from(control));
            }
            Some(other) => text.extend(['\\', other]),
            None => {}
        }
        plain = rest.as_str();
    }
    text.push_str(plain);
    text.push('"');
}
