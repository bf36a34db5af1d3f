//! Cutting text where it may be cut.

use std::borrow::Cow;

/// Returns the first characters of a text, with an ellipsis if there are more.
pub(crate) fn first_chars(text: &str, limit: usize) -> Cow<'_, str> {
    match text.char_indices().nth(limit) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_chars_marks_what_it_cut() {
        assert_eq!(first_chars("äöü", 2), "äö…");
        assert_eq!(first_chars("äöü", 3), "äöü");
    }
}
