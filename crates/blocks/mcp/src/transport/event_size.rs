//! How large an event of a stream may be.

use std::io;

/// Counts the bytes of each event of a stream, as they come.
#[derive(Debug)]
pub(super) struct EventSize {
    most: usize,
    /// The bytes of the lines that are over and are kept until the event is.
    kept: usize,
    line: usize,
    is_comment: bool,
    after_cr: bool,
}

impl EventSize {
    pub(super) const fn new(most: usize) -> Self {
        Self {
            most,
            kept: 0,
            line: 0,
            is_comment: false,
            after_cr: false,
        }
    }

    /// Takes what comes next. Returns whether the event is still not too large.
    pub(super) fn takes(&mut self, chunk: &[u8]) -> bool {
        chunk.iter().all(|byte| self.takes_byte(*byte))
    }

    /// Returns what is said of an event that is too large.
    pub(super) fn error(&self) -> io::Error {
        io::Error::other(format!("an event has more than {} bytes", self.most))
    }

    fn takes_byte(&mut self, byte: u8) -> bool {
        let ends_pair = std::mem::replace(&mut self.after_cr, byte == b'\r') && byte == b'\n';
        match byte {
            _ if ends_pair => {}
            b'\r' | b'\n' => {
                match self.line {
                    0 => self.kept = 0,
                    _ if self.is_comment => {}
                    line => self.kept = self.kept.saturating_add(line).saturating_add(1),
                }
                self.line = 0;
            }
            _ => {
                if self.line == 0 {
                    self.is_comment = byte == b':';
                }
                self.line = self.line.saturating_add(1);
            }
        }
        self.kept.saturating_add(self.line) <= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(text: &str) -> bool {
        let mut size = EventSize::new(10);
        text.as_bytes().chunks(3).all(|chunk| size.takes(chunk))
    }

    #[test]
    fn each_event_is_counted_by_itself_and_comments_are_not() {
        for end in ["\n", "\r\n", "\r"] {
            let events = format!("data: 1{end}{end}").repeat(9);
            assert!(takes(&events), "{events:?}");
            assert!(takes(&format!(": 12345{end}").repeat(9)));
            let event = format!("data: 1{end}").repeat(2);
            assert!(!takes(&event), "{event:?}");
        }
        assert!(!takes("data: 12345678"));
        assert!(!takes(": 1234567890"));
    }
}
