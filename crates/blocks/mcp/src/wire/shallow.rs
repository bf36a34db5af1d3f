//! JSON no deeper than it can be read, sent on and kept.

use std::borrow::Cow;

/// How deep a message may be nested. A reader elsewhere stands deeper, and reads 128 levels in all.
const DEEPEST: usize = 64;

/// Returns JSON in which what stands deeper is a text that holds the JSON of it: nothing of it is lost, and whatever
/// stands beside it can be read.
pub(crate) fn shallow(json: &str) -> Cow<'_, str> {
    let mut out = String::new();
    // Up to where it is copied, and where what is too deep began.
    let (mut copied, mut began) = (0, 0);
    let mut depth = 0_usize;
    let (mut in_string, mut is_escaped) = (false, false);
    for (at, byte) in json.bytes().enumerate() {
        if in_string {
            in_string = byte != b'"' || is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                depth = depth.saturating_add(1);
                if depth == DEEPEST + 1 {
                    began = at;
                }
            }
            b'}' | b']' => {
                if depth == DEEPEST + 1 {
                    let end = at + 1;
                    let deep = json.get(began..end).unwrap_or_default();
                    out.push_str(json.get(copied..began).unwrap_or_default());
                    out.push_str(&serde_json::Value::from(deep).to_string());
                    copied = end;
                }
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    if copied == 0 {
        return json.into();
    }
    out.push_str(json.get(copied..).unwrap_or_default());
    out.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn nested(depth: usize, inner: &str) -> String {
        format!("{}{inner}{}", r#"{"a":"#.repeat(depth), "}".repeat(depth))
    }

    fn depth(value: &Value) -> usize {
        match value {
            Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
            Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    #[test]
    fn what_is_not_deep_is_not_copied() {
        let text = nested(DEEPEST, r#""}]{[\\\"{""#);
        assert!(matches!(shallow(&text), Cow::Borrowed(_)));
    }

    #[test]
    fn what_is_too_deep_is_a_text_and_the_rest_is_as_it_was() {
        let deep = nested(100_000, r#""}\"é""#);
        let text = format!(r#"{{"deep":{deep},"list":[{deep},1],"last":"}}"}}"#);
        let read: Value = serde_json::from_str(&shallow(&text)).unwrap();
        assert_eq!(depth(&read), DEEPEST);
        assert_eq!(read["list"][1], 1);
        assert_eq!(read["last"], "}");
        let mut inner = &read["deep"];
        let mut above = 1;
        while let Some(next) = inner.get("a") {
            (inner, above) = (next, above + 1);
        }
        let rest = nested(100_000 + 1 - above, r#""}\"é""#);
        assert_eq!(inner, &json!(rest));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[\\[\\]{}\"a\\\\é]{0,300}") {
            drop(shallow(&text));
        }
    }
}
