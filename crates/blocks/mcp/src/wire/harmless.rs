//! Texts of strangers, harmless to look at.

/// Returns a stranger's text in one line: no control characters, and not too long.
pub(crate) fn shown(text: &str, most: usize) -> String {
    let mut out: String = text
        .chars()
        .take(most)
        .map(|c| if is_control(c) { '\u{fffd}' } else { c })
        .collect();
    if text.chars().nth(most).is_some() {
        out.push('…');
    }
    out
}

/// Returns a stranger's text of several lines: without what no person sees, and not too long.
pub(crate) fn cleaned(text: &str, most_bytes: usize) -> String {
    let clean: String = text
        .chars()
        .filter(|c| matches!(c, '\n' | '\t') || !is_control(*c))
        .collect();
    if clean.len() <= most_bytes {
        return clean;
    }
    let end = clean.floor_char_boundary(most_bytes);
    format!("{}…", clean.get(..end).unwrap_or_default())
}

/// Characters that change how the text around them is shown.
pub(crate) fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_text_is_one_harmless_line() {
        assert_eq!(
            shown("a\u{1b}[31mb\nc\u{202e}", 99),
            "a\u{fffd}[31mb\u{fffd}c\u{fffd}"
        );
        assert_eq!(shown("abcdef", 3), "abc…");
        assert_eq!(shown("abc", 3), "abc");
    }
}
