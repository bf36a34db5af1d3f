//! JSON as servers in the wild write it.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// What stands for what cannot be read.
const REPLACEMENT: char = '\u{fffd}';

/// Reads a server's JSON into `T`, and what is no JSON but for a few letters too.
///
/// What ends a stream of events may stand behind it. Bytes that are no UTF-8 and halves of surrogate pairs become U+FFFD,
/// control characters in texts are read as they stand, `NaN` and `Infinity` are null, and of a name that stands twice in one
/// object the last counts. What is JSON is read in one pass.
///
/// # Errors
///
/// It is no JSON, or not that of a `T`.
pub fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(bytes).or_else(|first| {
        let value: Value = serde_json::from_str(&mended(bytes)).map_err(|_| first)?;
        T::deserialize(value)
    })
}

/// The text with what no JSON holds replaced by what it stands for.
fn mended(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let text = without_end(text).unwrap_or(text);
    let mut mended = String::with_capacity(text.len() + 16);
    let mut rest = text;
    let mut in_string = false;
    while let Some(c) = rest.chars().next() {
        if in_string && let Some((escape, after)) = escape(rest) {
            mended.push_str(&escape);
            rest = after;
            continue;
        }
        if !in_string && let Some(after) = no_number(rest) {
            mended.push_str("null");
            rest = after;
            continue;
        }
        in_string ^= c == '"';
        match c {
            c if in_string && c < ' ' => mended.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => mended.push(c),
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    mended
}

/// The text before the end of a stream: servers append it to answers that are whole.
fn without_end(text: &str) -> Option<&str> {
    let before = text.trim_end().strip_suffix("[DONE]")?;
    before.trim_end().strip_suffix("data:")
}

/// An escape at the start, as it can be read, and what follows it.
fn escape(text: &str) -> Option<(String, &str)> {
    let after = text.strip_prefix('\\')?;
    let Some(unit) = unit(text) else {
        let escaped = after.chars().next()?;
        return Some((format!("\\{escaped}"), after.get(escaped.len_utf8()..)?));
    };
    let rest = text.get(6..)?;
    let low = self::unit(rest).filter(|low| (0xdc00..0xe000).contains(low));
    Some(match (unit, low) {
        (0xd800..0xdc00, Some(_)) => (text.get(..12)?.to_owned(), rest.get(6..)?),
        (0xd800..0xe000, _) => (REPLACEMENT.to_string(), rest),
        _ => (text.get(..6)?.to_owned(), rest),
    })
}

/// The UTF-16 unit of an escape at the start.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u16::from_str_radix(digits, 16).ok())?
}

/// Returns what follows one of Python's values that are not numbers.
fn no_number(text: &str) -> Option<&str> {
    ["NaN", "Infinity", "-Infinity"]
        .into_iter()
        .find_map(|name| text.strip_prefix(name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(text: &[u8]) -> Value {
        read_json(text).unwrap()
    }

    #[test]
    fn half_a_surrogate_pair_is_a_replacement_character() {
        assert_eq!(read(br#"{"a": "\ud83d"}"#), json!({"a": "\u{fffd}"}));
        assert_eq!(read(br#"["\ude00x"]"#), json!(["\u{fffd}x"]));
        assert_eq!(read(br#"["\ud83dA"]"#), json!(["\u{fffd}A"]));
        assert_eq!(read(br#"["\ud83d\ude00\ud83d"]"#), json!(["😀\u{fffd}"]));
        assert_eq!(
            read(br#"["\\ud83d", "\ud83d"]"#),
            json!(["\\ud83d", "\u{fffd}"])
        );
    }

    #[test]
    fn bytes_that_are_no_utf8_are_replacement_characters() {
        assert_eq!(read(b"[\"a\xff\xf0\x9fb\"]"), json!(["a\u{fffd}\u{fffd}b"]));
    }

    #[test]
    fn letters_that_json_has_no_room_for_are_read() {
        assert_eq!(read(b"[\"a\nb\tc\"]"), json!(["a\nb\tc"]));
        assert_eq!(
            read(br#"{"a": NaN, "b": -Infinity, "c": "NaN"}"#),
            json!({"a": null, "b": null, "c": "NaN"})
        );
        assert_eq!(read(b"\xef\xbb\xbf[1]"), json!([1]));
    }

    #[test]
    fn the_end_of_a_stream_is_no_part_of_an_answer() {
        assert_eq!(read(b"[1]data: [DONE]\n\n"), json!([1]));
        assert_eq!(read(b"[1]\n\ndata:[DONE]"), json!([1]));
        assert_eq!(read(b"[\"data: [DONE]\"]"), json!(["data: [DONE]"]));
    }

    #[test]
    fn of_a_name_that_stands_twice_the_last_counts() {
        #[derive(serde::Deserialize)]
        struct Named {
            a: u64,
        }
        let named: Named = read_json(br#"{"a": 1, "a": 2}"#).unwrap();
        assert_eq!(named.a, 2);
    }

    #[test]
    fn what_is_no_json_is_none() {
        for text in ["", "{", "{'a': 1}", "<html>", "{\"a\": }", "[\"\\"] {
            assert!(read_json::<Value>(text.as_bytes()).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn json_is_read_as_it_is(text in "\\PC*", number in any::<i64>()) {
            let value = json!({"text": text, "list": [number, null, {"x": true}]});
            let written = value.to_string();
            prop_assert_eq!(&serde_json::from_str::<Value>(&mended(written.as_bytes())).unwrap(), &value);
            prop_assert_eq!(read(written.as_bytes()), value);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _read = read_json::<Value>(&bytes);
        }
    }
}
