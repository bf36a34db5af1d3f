//! A prompt as words.

/// A word, or a text in quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) quoted: bool,
    /// Whether a comma, a period or the like follows.
    pub(super) ends_clause: bool,
}

impl Word {
    /// Returns the word in lower case; empty for a text in quotes, which is never a word of the prompt itself.
    pub(super) fn plain(&self) -> String {
        if self.quoted {
            String::new()
        } else {
            self.text.to_lowercase()
        }
    }

    pub(super) fn is_pattern(&self) -> bool {
        self.text.contains('*')
    }

    /// Returns whether the word looks like the name of a file or directory.
    pub(super) fn is_path(&self) -> bool {
        let inner = self.text.trim_matches('.');
        !self.is_pattern()
            && !self.text.contains(char::is_whitespace)
            && (inner.contains(['.', '/']) || matches!(self.text.as_str(), "." | ".."))
            && !self.text.contains("://")
    }

    /// Returns whether the word looks like the name of a file: its last part has an extension.
    pub(super) fn is_file(&self) -> bool {
        let name = self.text.rsplit('/').next().unwrap_or_default();
        self.is_path() && name.trim_start_matches('.').contains('.')
    }
}

/// Splits a prompt at white space. Text in quotes or backticks stays together.
pub(super) fn split(prompt: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = prompt.trim_start();
    while let Some(first) = rest.chars().next() {
        let (word, after) = quoted(first, rest).unwrap_or_else(|| plain(rest));
        if !word.text.is_empty() {
            words.push(word);
        } else if let Some(last) = words.last_mut() {
            last.ends_clause |= word.ends_clause;
        }
        rest = after.trim_start();
    }
    words
}

fn quoted(first: char, rest: &str) -> Option<(Word, &str)> {
    let close = match first {
        '`' | '"' | '\'' => first,
        '\u{201c}' => '\u{201d}',
        '\u{2018}' => '\u{2019}',
        _ => return None,
    };
    let (text, after) = rest.strip_prefix(first)?.split_once(close)?;
    let word = Word {
        text: text.to_owned(),
        quoted: true,
        ends_clause: after.starts_with(ends_clause),
    };
    Some((word, after.trim_start_matches(ends_clause)))
}

fn plain(rest: &str) -> (Word, &str) {
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (raw, after) = rest.split_at(end);
    let raw = raw.trim_start_matches('(');
    let only_dots = !raw.is_empty() && raw.chars().all(|c| c == '.') && raw.len() <= 2;
    let text = if only_dots {
        raw
    } else {
        raw.trim_end_matches(ends_clause)
    };
    let word = Word {
        text: text.to_owned(),
        quoted: false,
        ends_clause: text.len() < raw.len(),
    };
    (word, after)
}

fn ends_clause(c: char) -> bool {
    matches!(c, ',' | '.' | ';' | ':' | '?' | '!' | ')')
}
