//! The first message of an invocation attempt, in which the server reports what no handler gets.

use std::{
    collections::BTreeSet,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
};

use hyper::body::{Body, Bytes, Frame};

/// The type of the first message of a stream in both directions, by Restate's service protocol: a header of a type,
/// flags and a length, then a protobuf message with these fields.
const START: u16 = 0;
const HEADER: usize = 8;
const ID: u64 = 2;
const RETRIES: u64 = 7;

/// The longest id that is kept: the ids of invocations have some 40 bytes.
const LONGEST_ID: u64 = 256;

/// The invocations whose newest attempt is not the first since their last entry: the worker of the attempt before is
/// gone, or was not reached.
#[derive(Debug, Default)]
pub(crate) struct Retried {
    invocations: Mutex<BTreeSet<String>>,
}

impl Retried {
    /// Returns whether this attempt at the invocation is a retry.
    pub(crate) fn has(&self, invocation: &str) -> bool {
        self.invocations().contains(invocation)
    }

    fn invocations(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.invocations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request's body whose first message is read while it passes. Its content is known until the body is dropped.
pub(crate) struct Watched<B> {
    body: B,
    retried: Arc<Retried>,
    /// `None` once the message is read, or if it is no start.
    reader: Option<Reader>,
    /// The retried invocation of this body.
    invocation: Option<String>,
}

impl<B> Watched<B> {
    /// Watches a request of this path.
    pub(crate) fn new(body: B, path: &str, retried: &Arc<Retried>) -> Self {
        Self {
            body,
            retried: Arc::clone(retried),
            reader: path.contains("/invoke/").then(Reader::default),
            invocation: None,
        }
    }

    fn look(&mut self, data: &[u8]) {
        let Some(mut reader) = self.reader.take() else {
            return;
        };
        match reader.read(data) {
            Progress::More => self.reader = Some(reader),
            Progress::Retried if !reader.id.is_empty() => {
                let id = String::from_utf8_lossy(&reader.id).into_owned();
                self.retried.invocations().insert(id.clone());
                self.invocation = Some(id);
            }
            Progress::Retried | Progress::Over => {}
        }
    }
}

impl<B> Drop for Watched<B> {
    fn drop(&mut self) {
        if let Some(invocation) = &self.invocation {
            self.retried.invocations().remove(invocation);
        }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Watched<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            self.look(data);
        }
        Poll::Ready(frame)
    }
}

/// Reads a start as it arrives, and keeps nothing of it except the id: the state beside it may be large.
#[derive(Debug, Default)]
struct Reader {
    header: Vec<u8>,
    /// How many bytes of the message are still to come.
    left: u64,
    part: Part,
    id: Vec<u8>,
}

/// The part of a message that comes next.
#[derive(Debug, Clone, Copy)]
enum Part {
    Tag(Varint),
    Number(u64, Varint),
    Length(u64, Varint),
    /// So many bytes of a field.
    Bytes(u64, u64),
}

impl Default for Part {
    fn default() -> Self {
        Self::Tag(Varint::default())
    }
}

/// A number with some of its bytes read.
#[derive(Debug, Clone, Copy, Default)]
struct Varint {
    value: u64,
    shift: u32,
}

impl Varint {
    /// Takes its next byte. Returns `Some` if that was the last.
    fn take(&mut self, byte: u8) -> Option<u64> {
        let digits = u64::from(byte & 0x7f);
        self.value |= digits.checked_shl(self.shift).unwrap_or_default();
        self.shift = self.shift.saturating_add(7);
        (byte & 0x80 == 0).then_some(self.value)
    }
}

/// What is known of a start by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    More,
    /// The attempt is a retry.
    Retried,
    /// It is the first attempt, or no attempt.
    Over,
}

impl Reader {
    fn read(&mut self, mut data: &[u8]) -> Progress {
        while self.header.len() < HEADER {
            let Some((byte, rest)) = data.split_first() else {
                return Progress::More;
            };
            self.header.push(*byte);
            data = rest;
            if let Ok(header) = <[u8; HEADER]>::try_from(self.header.as_slice()) {
                let header = u64::from_be_bytes(header);
                if header >> 48 != u64::from(START) {
                    return Progress::Over;
                }
                self.left = header & u64::from(u32::MAX);
            }
        }
        while self.left > 0 {
            let Some((byte, rest)) = data.split_first() else {
                return Progress::More;
            };
            if let Part::Bytes(field, count) = self.part {
                let here = count.min(self.left).min(data.len() as u64);
                let (bytes, rest) = data.split_at(usize::try_from(here).unwrap_or(data.len()));
                if field == ID && count <= LONGEST_ID {
                    self.id.extend_from_slice(bytes);
                }
                data = rest;
                self.left -= here;
                self.part = match count - here {
                    0 => Part::default(),
                    more => Part::Bytes(field, more),
                };
                continue;
            }
            data = rest;
            self.left -= 1;
            if let Some(said) = self.step(*byte) {
                return said;
            }
        }
        Progress::Over
    }

    /// Takes a byte of a tag, a number or a length. Returns the result of the start as soon as it is known.
    fn step(&mut self, byte: u8) -> Option<Progress> {
        let next = match &mut self.part {
            Part::Tag(varint) => {
                let tag = varint.take(byte)?;
                let field = tag >> 3;
                match tag & 7 {
                    0 => Part::Number(field, Varint::default()),
                    1 => Part::Bytes(field, 8),
                    2 => Part::Length(field, Varint::default()),
                    5 => Part::Bytes(field, 4),
                    _ => return Some(Progress::Over),
                }
            }
            Part::Number(field, varint) => {
                let field = *field;
                let number = varint.take(byte)?;
                if field == RETRIES {
                    return Some(match number {
                        0 => Progress::Over,
                        _ => Progress::Retried,
                    });
                }
                Part::default()
            }
            Part::Length(field, varint) => {
                let field = *field;
                match varint.take(byte)? {
                    0 => Part::default(),
                    length => Part::Bytes(field, length),
                }
            }
            Part::Bytes(..) => return None,
        };
        self.part = next;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn varint(mut value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        loop {
            let digits = u8::try_from(value & 0x7f).unwrap();
            value >>= 7;
            bytes.push(if value == 0 { digits } else { digits | 0x80 });
            if value == 0 {
                return bytes;
            }
        }
    }

    fn text(field: u64, text: &[u8]) -> Vec<u8> {
        let mut bytes = varint(field << 3 | 2);
        bytes.extend(varint(text.len() as u64));
        bytes.extend(text);
        bytes
    }

    fn number(field: u64, value: u64) -> Vec<u8> {
        [varint(field << 3), varint(value)].concat()
    }

    fn message(kind: u64, fields: &[Vec<u8>]) -> Vec<u8> {
        let body = fields.concat();
        let header = kind << 48 | body.len() as u64;
        [header.to_be_bytes().to_vec(), body].concat()
    }

    /// Returns a start with so many retries and a large state.
    fn start(retries: u64) -> Vec<u8> {
        let state = text(4, &vec![0xff; 100_000]);
        let fields = [
            text(1, b"\x01\x02"),
            text(ID, b"inv_1abc"),
            number(3, 16),
            state,
            number(5, 1),
            text(6, b"key"),
            number(RETRIES, retries),
            number(8, 62_874),
        ];
        message(0, &fields)
    }

    #[test]
    fn a_start_says_whether_it_is_made_again_in_whatever_pieces_it_comes() {
        for (retries, said) in [
            (0, Progress::Over),
            (1, Progress::Retried),
            (300, Progress::Retried),
        ] {
            for size in [1, 7, 4_096, usize::MAX] {
                let (mut reader, start) = (Reader::default(), start(retries));
                let mut pieces = start.chunks(size.min(start.len()));
                let progress = pieces.find_map(|piece| match reader.read(piece) {
                    Progress::More => None,
                    other => Some(other),
                });
                assert_eq!(progress, Some(said), "{retries} in pieces of {size}");
                assert_eq!(reader.id, b"inv_1abc");
            }
        }
    }

    #[test]
    fn what_is_no_start_or_says_nothing_is_passed_over() {
        let other = message(1, &[number(RETRIES, 1)]);
        let odd = message(0, &[vec![0x07]]);
        let silent = message(0, &[text(ID, b"inv_1abc")]);
        for bytes in [other, odd, silent, message(0, &[])] {
            assert_eq!(Reader::default().read(&bytes), Progress::Over);
        }
        assert_eq!(Reader::default().read(&[0; 3]), Progress::More);
        // A length that is wrong.
        let mut lie = message(0, &[varint(ID << 3 | 2), varint(u64::MAX)]);
        lie.extend([0; 64]);
        assert_eq!(Reader::default().read(&lie), Progress::Over);
    }
}
