//! Characters that show something else than what a text says.

use std::fmt::Write as _;

/// Returns whether a terminal obeys a character, or the character turns the text around it: C0 and C1 controls,
/// separators of lines and paragraphs, embeddings, overrides and isolates. Marks of a direction do not count: they turn
/// nothing but themselves, and ordinary texts in some languages are full of them.
///
/// # Examples
///
/// ```
/// use neuron_types::is_control;
///
/// assert!(is_control('\u{9b}') && is_control('\u{202e}') && is_control('\n'));
/// assert!(!is_control('ä') && !is_control('\u{200d}'));
/// ```
#[must_use]
pub fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns whether a character cannot be seen where it stands, though it is no blank: two texts that differ in it look
/// alike. Those of [`is_control`] are among them.
///
/// Some languages and emoji need some of them. A name, and what a person decides about, does not.
///
/// # Examples
///
/// ```
/// use neuron_types::is_invisible;
///
/// assert!(is_invisible('\u{200b}') && is_invisible('\u{2800}') && is_invisible('\u{3164}'));
/// assert!(!is_invisible(' ') && !is_invisible('é'));
/// ```
#[must_use]
pub fn is_invisible(c: char) -> bool {
    is_control(c)
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}' | '\u{1160}'
                | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Returns a JSON text that says the same and has none of the characters of [`is_control`] in it, nor marks of a direction:
/// those that a JSON text may have as they are, in its strings, are written as `\uXXXX`. Blanks between its values stay.
///
/// # Examples
///
/// ```
/// use neuron_types::shown_json;
///
/// assert_eq!(shown_json("\"a\u{9b}b\"".to_owned()), r#""a\u009bb""#);
/// ```
#[must_use]
pub fn shown_json(json: String) -> String {
    // Blanks between values are the only controls below these that JSON has as they are.
    let is_mark = |c: char| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}');
    let is_written = |c: char| c >= '\u{7f}' && (is_control(c) || is_mark(c));
    if !json.contains(is_written) {
        return json;
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_written(c) {
            // Writing to a String cannot fail.
            write!(shown, "\\u{:04x}", u32::from(c)).ok();
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_known() {
        let named = [
            0x61c, 0x2800, 0x115f, 0x1160, 0x3164, 0xffa0, 0xad, 0x34f, 0x180e, 0x200b, 0x200f,
            0x202a, 0x202e, 0x2060, 0x2064, 0x2066, 0x2069, 0x206a, 0x206f, 0xfeff, 0xfff9, 0xfffb,
            0xfe0f, 0xe0000, 0xe007f, 0xe0100, 0xe01ef, 0x0, 0x1f, 0x7f, 0x80, 0x9f, 0x2028,
        ];
        for c in named.into_iter().filter_map(char::from_u32) {
            assert!(is_invisible(c), "{c:?}");
        }
        for c in "aZ0 _-äß漢字👩\u{a0}\u{3000}".chars() {
            assert!(!is_invisible(c), "{c:?}");
        }
    }

    #[test]
    fn json_says_the_same_without_what_a_terminal_obeys() {
        let every: String = (0..=0x2fff).filter_map(char::from_u32).collect();
        let value = serde_json::json!({ every.as_str(): [every.as_str(), 1, "\u{e0041}"] });
        for json in [
            value.to_string(),
            serde_json::to_string_pretty(&value).unwrap(),
        ] {
            let shown = shown_json(json);
            assert!(!shown.contains(|c| c != '\n' && is_control(c)));
            let read: serde_json::Value = serde_json::from_str(&shown).unwrap();
            assert_eq!(read, value);
        }
    }
}
