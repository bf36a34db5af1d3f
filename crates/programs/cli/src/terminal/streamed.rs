//! The answer that is arriving, as far as the terminal has it.

use crate::terminal::output::piece;

/// Writes an answer to standard output while it arrives.
#[derive(Debug, Default)]
pub(crate) struct Streamed {
    /// The newest answer's text as far as it arrived.
    text: String,
    /// The number of bytes that were written.
    written: usize,
    /// Whether the cursor stands after the text.
    is_open: bool,
    /// Whether something other than the answer's text is in progress now.
    is_over: bool,
}

impl Streamed {
    /// Begins a new answer, or the same one again. [`close`](Self::close) the one before first.
    pub(crate) fn begin(&mut self) {
        *self = Self::default();
    }

    /// Appends text, which [`write`](Self::write) writes.
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.is_over = false;
    }

    /// Returns whether any text has arrived.
    pub(crate) fn has_text(&self) -> bool {
        !self.text.is_empty()
    }

    /// Returns whether the cursor stands after a text, so that nothing else may be drawn.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Returns whether there is text that was not written yet.
    pub(crate) fn is_behind(&self) -> bool {
        self.written < self.text.len()
    }

    /// Returns whether the text is over, for now or for good.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Writes the text that has arrived.
    pub(crate) fn write(&mut self) {
        if let Some(rest) = self.text.get(self.written..) {
            piece(rest);
        }
        self.written = self.text.len();
        self.is_open = true;
    }

    /// Ends the text, for now or for good: the next output begins on a line of its own.
    pub(crate) fn close(&mut self) {
        if self.is_open && !self.text.ends_with('\n') {
            piece("\n");
        }
        self.is_open = false;
        self.is_over = true;
    }

    /// Returns whether this is the answer and all of it was written.
    pub(crate) fn is(&self, answer: &str) -> bool {
        self.has_text() && !self.is_behind() && self.text == answer
    }
}
