//! One word of a command.

use crate::glob::Piece;

/// A word without its quotes, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Word {
    pieces: Vec<Piece>,
    /// Some of it is in quotes, or after a backslash.
    pub(crate) is_quoted: bool,
    /// The shell may make several words of it, or none.
    pub(crate) is_open: bool,
    /// Nothing is known of the rest of it.
    is_cut: bool,
    /// Its characters as far as they are written, including those whose expansion is unknown.
    written: String,
}

impl Word {
    /// A word that is known.
    pub(crate) fn literal(text: &str) -> Self {
        Self {
            pieces: text.chars().map(Piece::Char).collect(),
            is_quoted: true,
            written: text.to_owned(),
            ..Self::default()
        }
    }

    /// A part of the command line that is unknown.
    pub(crate) fn unknown() -> Self {
        Self {
            pieces: vec![Piece::Unknown],
            is_open: true,
            ..Self::default()
        }
    }

    pub(crate) fn push(&mut self, c: char) {
        self.written.push(c);
        if !self.is_cut {
            self.pieces.push(Piece::Char(c));
        }
    }

    pub(crate) fn push_unknown(&mut self, is_quoted: bool) {
        self.is_open |= !is_quoted;
        if self.pieces.last() != Some(&Piece::Unknown) {
            self.pieces.push(Piece::Unknown);
        }
    }

    /// Has the shell make anything of this character and of the rest of it.
    pub(crate) fn cut(&mut self, c: char) {
        self.written.push(c);
        self.push_unknown(false);
        self.is_cut = true;
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Its characters without quotes, as far as they are written.
    pub(crate) fn written(&self) -> &str {
        &self.written
    }

    /// Returns whether some of it is not known.
    pub(crate) fn is_unknown(&self) -> bool {
        self.pieces.contains(&Piece::Unknown)
    }

    /// Its text; `None` if not all of it is known.
    pub(crate) fn text(&self) -> Option<String> {
        let chars = self.pieces.iter().map(|piece| match piece {
            Piece::Char(c) => Some(*c),
            Piece::Gap | Piece::Unknown => None,
        });
        chars.collect()
    }

    /// Its text, if none of it is quoted: only then it may be a word of the shell's own.
    pub(crate) fn plain(&self) -> Option<String> {
        if self.is_quoted { None } else { self.text() }
    }

    /// Returns what is left after the last `/`: the program that it names.
    pub(crate) fn program(&self) -> &[Piece] {
        let slash = |piece: &Piece| *piece == Piece::Char('/');
        let start = self.pieces.iter().rposition(slash).map_or(0, |at| at + 1);
        self.pieces.get(start..).unwrap_or_default()
    }

    /// Returns whether the word is one part that is unknown.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_open && self.pieces == [Piece::Unknown]
    }

    /// Returns whether it sets a variable for what follows, or may.
    pub(crate) fn is_assignment(&self) -> bool {
        let mut name = String::new();
        let mut sets = false;
        for piece in &self.pieces {
            match piece {
                Piece::Char('=') => {
                    sets = true;
                    break;
                }
                Piece::Char(c) => name.push(*c),
                Piece::Unknown if self.is_cut => {
                    sets = true;
                    break;
                }
                Piece::Gap | Piece::Unknown => return false,
            }
        }
        let name = name.split_once('[').map_or(name.as_str(), |(name, _)| name);
        let name = name.strip_suffix('+').unwrap_or(name);
        let mut chars = name.chars();
        let first = chars.next();
        sets && first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
    }
}
