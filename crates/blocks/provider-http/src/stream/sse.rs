use memchr::memchr2;

use crate::stream::event::{EventDecoder, EventTooLarge, MAX_EVENT, WireEvent, keep, split_line};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Decodes server-sent events.
///
/// It reads what the HTML standard says: lines that end in LF, CR or CRLF, a byte order mark, comments,
/// names, and data of several lines, which it joins with LF. `id` and `retry` are read over, since nothing
/// here goes back to a stream that broke off.
///
/// Apart from the standard, which drops both, a field `error` is the data of an event of that name, as older servers of
/// llama.cpp mean it, and a last event that no blank line follows is given out: servers
/// forget that line. Where the connection broke in the middle of it, its JSON does not parse.
#[derive(Debug, Clone)]
pub struct SseDecoder {
    /// The data lines of the event so far, each with its LF, and then the line that is coming in.
    buffer: Vec<u8>,
    /// Where that line starts.
    line: usize,
    name: String,
    /// The event in the buffer has been given out.
    given: bool,
    /// A CR ended a line: an LF right after it belongs to it.
    after_cr: bool,
    at_start: bool,
    limit: usize,
}

impl SseDecoder {
    /// Makes a decoder for events of at most `limit` bytes. Default is [`MAX_EVENT`].
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            line: 0,
            name: String::new(),
            given: false,
            after_cr: false,
            at_start: true,
            limit,
        }
    }

    /// Returns how many bytes are set aside for events: at most twice the largest one so far.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    fn forget_given(&mut self) {
        if self.given {
            self.given = false;
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.buffer.clear();
        self.line = 0;
        self.name.clear();
    }

    /// Takes in the line that just ended. Returns whether it completes an event.
    fn end_line(&mut self) -> bool {
        if std::mem::take(&mut self.at_start)
            && self
                .buffer
                .get(self.line..)
                .is_some_and(|line| line.starts_with(BYTE_ORDER_MARK))
        {
            self.buffer
                .drain(self.line..self.line + BYTE_ORDER_MARK.len());
        }
        let line = self.buffer.get(self.line..).unwrap_or_default();
        if line.is_empty() {
            return self.end_event();
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => {
                let value = line.get(colon + 1..).unwrap_or_default();
                let value = value.strip_prefix(b" ").unwrap_or(value);
                (line.get(..colon).unwrap_or_default(), value)
            }
            None => (line, [].as_slice()),
        };
        match field {
            b"data" | b"error" => {
                if field == b"error" {
                    self.name.clear();
                    self.name.push_str("error");
                }
                let before = line.len() - value.len();
                self.buffer.drain(self.line..self.line + before);
                self.buffer.push(b'\n');
                self.line = self.buffer.len();
            }
            b"event" => {
                self.name.clear();
                self.name.push_str(&String::from_utf8_lossy(value));
                self.buffer.truncate(self.line);
            }
            _ => self.buffer.truncate(self.line),
        }
        false
    }

    fn end_event(&mut self) -> bool {
        // Without data there is no event, whatever its name.
        self.given = !self.buffer.is_empty();
        if !self.given {
            self.clear();
        }
        self.given
    }
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self::with_limit(MAX_EVENT)
    }
}

impl EventDecoder for SseDecoder {
    fn advance(&mut self, input: &mut &[u8]) -> Result<bool, EventTooLarge> {
        self.forget_given();
        while let Some(first) = input.first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                *input = input.get(1..).unwrap_or_default();
                continue;
            }
            let end = memchr2(b'\n', b'\r', input);
            let (part, end) = split_line(input, end);
            keep(&mut self.buffer, part, self.limit)?;
            self.after_cr = end == Some(b'\r');
            if end.is_some() && self.end_line() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn finish(&mut self) -> bool {
        self.forget_given();
        if self.buffer.len() > self.line {
            self.end_line();
        }
        self.end_event()
    }

    fn event(&self) -> WireEvent<'_> {
        let data = if self.given {
            self.buffer.as_slice()
        } else {
            &[]
        };
        WireEvent {
            name: &self.name,
            data: data.strip_suffix(b"\n").unwrap_or(data),
        }
    }
}
