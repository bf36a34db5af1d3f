//! The answer that comes, as far as a terminal has it.

use crate::terminal::output::piece;

/// Writes an answer to standard output while it comes.
#[derive(Debug, Default)]
pub(crate) struct Streamed {
    /// The newest answer's text as far as it came.
    text: String,
    /// How much of it was written.
    written: usize,
    /// Whether the cursor stands behind it.
    is_open: bool,
    /// Whether what goes on now is something else than its text.
    is_over: bool,
}

impl Streamed {
    /// A new answer begins, or the same anew. [`close`](Self::close) the one before first.
    pub(crate) fn begin(&mut self) {
        *self = Self::default();
    }

    /// Takes more text, which [`write`](Self::write) writes.
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.is_over = false;
    }

    /// Whether any text came.
    pub(crate) fn has_text(&self) -> bool {
        !self.text.is_empty()
    }

    /// Whether the cursor stands behind a text, so that nothing else may be drawn.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether there is text that was not written yet.
    pub(crate) fn is_behind(&self) -> bool {
        self.written < self.text.len()
    }

    /// Whether the text is over, for now or for good.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Writes what came.
    pub(crate) fn write(&mut self) {
        if let Some(rest) = self.text.get(self.written..) {
            piece(rest);
        }
        self.written = self.text.len();
        self.is_open = true;
    }

    /// The text is over, for now or for good: what comes next begins on a line of its own.
    pub(crate) fn close(&mut self) {
        if self.is_open && !self.text.ends_with('\n') {
            piece("\n");
        }
        self.is_open = false;
        self.is_over = true;
    }

    /// Whether this is the answer and all of it was written.
    pub(crate) fn is(&self, answer: &str) -> bool {
        self.has_text() && !self.is_behind() && self.text == answer
    }
}
