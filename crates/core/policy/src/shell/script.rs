//! The commands of a text that a shell executes.

use crate::{
    Certainty,
    glob::{Piece, Reach, fits, fits_line},
    shell::{
        command::{line_of, views},
        reader::{self, Found},
        word::Word,
    },
};

/// What a shell would execute, as rules compare it.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    text: String,
    /// The only command, where it is a simple one.
    simple: Option<Vec<Word>>,
    /// Each command inside, in all the ways in which it may be named.
    lines: Vec<Vec<Piece>>,
    /// Whether these are all commands.
    is_complete: bool,
}

impl Script {
    /// Reads what a shell is given.
    pub(crate) fn read(text: &str) -> Self {
        Self::of(text, &reader::read(text))
    }

    /// The command of these words, which no shell reads.
    pub(crate) fn of_words(words: &[&str]) -> Self {
        let found = Found {
            is_simple: !words.is_empty(),
            is_complete: true,
            commands: vec![words.iter().map(|word| Word::literal(word)).collect()],
            ..Found::default()
        };
        let text = words.join(" ");
        Self::of(text, &found)
    }

    fn of(text: impl Into<String>, found: &Found) -> Self {
        let views = views(&found.commands);
        let simple = match found.commands.as_slice() {
            [words] if found.is_simple && found.is_complete => Some(words.clone()),
            _ => None,
        };
        Self {
            text: text.into(),
            simple,
            lines: views.lines,
            is_complete: found.is_complete && views.is_complete,
        }
    }

    /// Returns whether a pattern that allows is for it: only if it is one simple command.
    pub(crate) fn is_covered(&self, pattern: &str) -> bool {
        let Some(words) = &self.simple else {
            return false;
        };
        let is_known = words
            .first()
            .is_some_and(|program| program.text().is_some());
        is_known && fits_command(pattern.trim(), &line_of(words), Reach::Narrow)
    }

    /// Returns whether a pattern that restricts is for it, or for a command inside.
    pub(crate) fn hit(&self, pattern: &str) -> Certainty {
        let pattern = pattern.trim();
        let plain: String = pattern
            .chars()
            .filter(|c| !matches!(c, '"' | '\'' | '\\'))
            .collect();
        let fits_some = |reach| {
            let mut lines = self.lines.iter();
            lines.any(|line| {
                fits_command(pattern, line, reach)
                    || plain != pattern && fits_command(&plain, line, reach)
            })
        };
        let fits_text = fits(pattern, &self.text)
            || pattern.contains(is_operator) && fits(&squeezed(pattern), &squeezed(&self.text));
        if fits_text || fits_some(Reach::Wide) {
            Certainty::Yes
        } else if !self.is_complete || fits_some(Reach::Possible) {
            Certainty::Maybe
        } else {
            Certainty::No
        }
    }

    /// A pattern for its program, and for its first argument where that is no option and names no file; `None` if it is no
    /// simple command or a pattern cannot say it.
    pub(crate) fn prefix(&self) -> Option<String> {
        let words = self.simple.as_ref()?;
        let mut plain = words
            .iter()
            .map(|word| word.text().filter(|text| is_plain(text)));
        let program = plain.next()??;
        let rest = plain.next().flatten();
        let rest = rest.filter(|word| word.chars().next().is_some_and(|c| c.is_ascii_alphabetic()));
        let rest = rest.filter(|word| !word.contains(['/', '.']));
        let prefix = match rest {
            Some(argument) => format!("{program} {argument} *"),
            None => format!("{program} *"),
        };
        // `*` in the place of the second argument may stand for no argument, which the pattern does not show.
        self.is_covered(&prefix).then_some(prefix)
    }
}

/// Returns whether a command fits a pattern. A last word `*` stands for further words, or none.
fn fits_command(pattern: &str, line: &[Piece], reach: Reach) -> bool {
    let without = pattern.strip_suffix(" *");
    fits_line(pattern, line, reach)
        || without.is_some_and(|pattern| fits_line(pattern, line, reach))
}

/// Returns whether a pattern can say a word as it is.
fn is_plain(word: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:+@%,".contains(c);
    !word.is_empty() && word.chars().all(is_plain)
}

const fn is_operator(c: char) -> bool {
    matches!(c, ';' | '&' | '|' | '<' | '>' | '(' | ')' | '\n')
}

/// The text without quotes, and without blanks that say nothing.
fn squeezed(text: &str) -> String {
    let mut squeezed = String::new();
    let mut has_blank = false;
    for c in text.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')) {
        if c == ' ' || c == '\t' {
            has_blank = true;
            continue;
        }
        let follows_operator = squeezed.chars().next_back().is_none_or(is_operator);
        if has_blank && !follows_operator && !is_operator(c) {
            squeezed.push(' ');
        }
        has_blank = false;
        squeezed.push(c);
    }
    squeezed
}
