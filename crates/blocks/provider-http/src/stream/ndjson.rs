use memchr::memchr;

use crate::stream::event::{EventDecoder, EventTooLarge, MAX_EVENT, WireEvent, keep, split_line};

/// Decodes JSON values, one a line.
///
/// Lines end in LF; a CR before it and blank lines do no harm. A last line that no LF follows is an event
/// too. Where the connection broke in the middle of it, its JSON does not parse.
#[derive(Debug, Clone)]
pub struct NdjsonDecoder {
    line: Vec<u8>,
    /// The line has been given out.
    given: bool,
    limit: usize,
}

impl NdjsonDecoder {
    /// Makes a decoder for lines of at most `limit` bytes. Default is [`MAX_EVENT`].
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            given: false,
            limit,
        }
    }

    /// Returns how many bytes are set aside for a line: at most twice the longest one so far.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.line.capacity()
    }

    fn forget_given(&mut self) {
        if self.given {
            self.given = false;
            self.line.clear();
        }
    }

    fn end_line(&mut self) -> bool {
        self.given = !self.line.trim_ascii().is_empty();
        if !self.given {
            self.line.clear();
        }
        self.given
    }
}

impl Default for NdjsonDecoder {
    fn default() -> Self {
        Self::with_limit(MAX_EVENT)
    }
}

impl EventDecoder for NdjsonDecoder {
    fn advance(&mut self, input: &mut &[u8]) -> Result<bool, EventTooLarge> {
        self.forget_given();
        while !input.is_empty() {
            let (part, end) = split_line(input, memchr(b'\n', input));
            keep(&mut self.line, part, self.limit)?;
            if end.is_some() && self.end_line() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn finish(&mut self) -> bool {
        self.forget_given();
        self.end_line()
    }

    fn event(&self) -> WireEvent<'_> {
        let data = if self.given {
            self.line.as_slice()
        } else {
            &[]
        };
        WireEvent {
            name: "",
            data: data.trim_ascii(),
        }
    }
}
