//! Bounded memory for unbounded output.

use std::collections::VecDeque;

use crate::builtin::text::{whole_end, whole_start};

/// The first and the last bytes of a stream. Never holds more than its limit.
#[derive(Debug)]
pub(crate) struct HeadTail {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_limit: usize,
    tail_limit: usize,
    total: u64,
}

impl HeadTail {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            head_limit: limit / 2,
            tail_limit: limit - limit / 2,
            total: 0,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.head_limit - self.head.len();
        let (head, tail) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        let (_, tail) = tail.split_at(tail.len().saturating_sub(self.tail_limit));
        let excess = (self.tail.len() + tail.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..excess);
        self.tail.extend(tail);
    }

    /// Returns the text, with a note where something is missing. Bytes that are not UTF-8 show as U+FFFD.
    pub(crate) fn into_text(mut self) -> String {
        let kept = (self.head.len() + self.tail.len()) as u64;
        let tail = self.tail.make_contiguous();
        if kept == self.total {
            self.head.extend_from_slice(tail);
            return String::from_utf8_lossy(&self.head).into_owned();
        }
        let (head, tail) = (whole_end(&self.head), whole_start(tail));
        let cut = self.total - (head.len() + tail.len()) as u64;
        format!(
            "{}\n[… {cut} bytes cut …]\n{}",
            String::from_utf8_lossy(head),
            String::from_utf8_lossy(tail)
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(limit: usize, chunks: &[&[u8]]) -> String {
        let mut captured = HeadTail::new(limit);
        for chunk in chunks {
            captured.push(chunk);
            assert!(captured.head.len() + captured.tail.len() <= limit);
        }
        captured.into_text()
    }

    #[test]
    fn keeps_everything_up_to_the_limit() {
        assert_eq!(read(6, &[b"abc", b"def"]), "abcdef");
    }

    #[test]
    fn keeps_the_first_and_the_last_bytes_beyond_the_limit() {
        assert_eq!(
            read(6, &[b"abcdefg", b"hij"]),
            "abc\n[… 4 bytes cut …]\nhij"
        );
    }

    #[test]
    fn never_shows_half_a_character() {
        assert_eq!(read(6, &["äääää".as_bytes()]), "ä\n[… 6 bytes cut …]\nä");
    }

    proptest! {
        #[test]
        fn the_pieces_that_it_came_in_make_no_difference(
            chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..9), 0..9),
            limit in 0_usize..30,
        ) {
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(read(limit, &chunks), read(limit, &[&chunks.concat()]));
        }
    }
}
