//! What is wrong with an agent file, and where.

use std::{cell::RefCell, fmt};

/// One thing that is wrong in an agent file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Problem {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong and what to do.
    pub message: String,
}

/// Collects what is found wrong in one text.
pub(super) struct Problems<'a> {
    text: &'a str,
    found: RefCell<Vec<Problem>>,
}

impl<'a> Problems<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self {
            text,
            found: RefCell::new(Vec::new()),
        }
    }

    /// Notes a problem at a byte offset of the text.
    pub(super) fn add(&self, offset: usize, message: impl Into<String>) {
        let before = self.text.get(..offset).unwrap_or(self.text);
        self.found.borrow_mut().push(Problem {
            line: before.matches('\n').count() + 1,
            message: message.into(),
        });
    }

    /// Everything that was noted, in the order of the lines.
    pub(super) fn into_vec(self) -> Vec<Problem> {
        let mut found = self.found.into_inner();
        found.sort_by_key(|problem| problem.line);
        found
    }
}

/// The known name that was meant, or all there are.
pub(super) struct Meant<'a> {
    pub(super) name: &'a str,
    pub(super) known: &'a [&'a str],
}

impl fmt::Display for Meant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (nearest(self.name, self.known), self.known) {
            (Some(name), _) => write!(f, "did you mean {name:?}?"),
            (None, []) => f.write_str("there is none"),
            (None, [only]) => write!(f, "there is only {only}"),
            (None, [names @ .., last]) => write!(f, "use {} or {last}", names.join(", ")),
        }
    }
}

/// The known name that the given one is a slip of.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let slips = (name.chars().count() / 3).clamp(1, 3);
    known
        .iter()
        .map(|known| (strsim::osa_distance(name, known), *known))
        .filter(|(distance, _)| *distance <= slips)
        .min()
        .map(|(_, known)| known)
}

/// A value of the file as a message may show it: not if it could be a key that is in the wrong place.
pub(super) fn shown(value: &str) -> String {
    let secret = looks_like_a_key(value);
    if secret {
        "(hidden, it looks like a key)".to_owned()
    } else {
        format!("{value:?}")
    }
}

/// Whether this could be an API key: by its prefix, or long with digits among its letters and no words.
pub(super) fn looks_like_a_key(value: &str) -> bool {
    let prefixed = ["sk-", "sk_", "key-", "Bearer ", "AIza", "gsk_", "xai-"]
        .iter()
        .any(|prefix| value.starts_with(prefix));
    let random = value.split(['-', '_', '.', '/', ':', ' ']).any(|part| {
        part.len() >= 20
            && part.contains(|c: char| c.is_ascii_digit())
            && part.contains(|c: char| c.is_ascii_alphabetic())
    });
    prefixed || random
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_only_names_that_are_a_slip_away() {
        let known = ["read_file", "write_file", "grep"];
        assert_eq!(nearest("raed_file", &known), Some("read_file"));
        assert_eq!(nearest("gerp", &known), Some("grep"));
        assert_eq!(nearest("browse", &known), None);
    }

    #[test]
    fn hides_what_could_be_a_key() {
        for key in [
            "sk-abc",
            "sk-proj-Zm9vYmFyYmF6cXV4",
            "AIzaSyD4",
            "0123456789abcdef0123456789abcdef",
        ] {
            assert!(!shown(key).contains(key), "{key}");
        }
        for name in [
            "openai/gpt-6.1-terra",
            "OPENAI_API_KEY",
            "claude-sonnet-5-5-20261021",
        ] {
            assert!(shown(name).contains(name), "{name}");
        }
    }
}
