//! Cutting bytes and lines where they may be cut.

/// Returns the bytes without a character at their end that was cut in two.
pub(crate) fn whole_end(bytes: &[u8]) -> &[u8] {
    let Some(lead) = bytes.iter().rposition(|byte| !is_continuation(*byte)) else {
        return bytes;
    };
    let (before, last) = bytes.split_at(lead);
    let expected = match last.first() {
        Some(0xC2..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF4) => 4,
        _ => 1,
    };
    if last.len() < expected { before } else { bytes }
}

/// Returns the bytes without the rest of a character at their start that was cut in two.
pub(crate) fn whole_start(bytes: &[u8]) -> &[u8] {
    let rest = bytes
        .iter()
        .take(3)
        .take_while(|byte| is_continuation(**byte));
    bytes.get(rest.count()..).unwrap_or_default()
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// Lines up to a number of lines and of bytes.
#[derive(Debug)]
pub(crate) struct LimitedLines {
    text: String,
    lines_left: usize,
    max_bytes: usize,
}

impl LimitedLines {
    pub(crate) fn new(max_lines: usize, max_bytes: usize) -> Self {
        Self {
            text: String::new(),
            lines_left: max_lines,
            max_bytes,
        }
    }

    /// Adds a line. Returns false, and adds nothing, if there is no room for it.
    #[must_use]
    pub(crate) fn push(&mut self, line: &str) -> bool {
        if self.lines_left == 0 || self.text.len() + line.len() + 1 > self.max_bytes {
            return false;
        }
        self.lines_left -= 1;
        self.text.push_str(line);
        self.text.push('\n');
        true
    }

    /// Returns the lines and, in brackets, the notes.
    pub(crate) fn finish(mut self, notes: &[String]) -> String {
        for note in notes {
            self.text.push('[');
            self.text.push_str(note);
            self.text.push_str("]\n");
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_text_cut_anywhere_is_text_without_the_cut_character(text in "\\PC{0,12}", at in 0_usize..40) {
            let at = at.min(text.len());
            let (head, tail) = text.as_bytes().split_at(at);
            let head = std::str::from_utf8(whole_end(head)).unwrap();
            let tail = std::str::from_utf8(whole_start(tail)).unwrap();
            let lost = usize::from(!text.is_char_boundary(at));
            prop_assert_eq!(head.chars().count() + tail.chars().count() + lost, text.chars().count());
        }
    }
}
