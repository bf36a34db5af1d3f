//! What the fuzz targets check of decoders, beside that they do not panic.
//!
//! The input of a decoder of streams begins with one byte that says how long the chunks are in which the
//! rest comes.

use std::collections::VecDeque;

pub use neuron_types::fuzzing::replay;
use neuron_types::{CompletionResponse, StreamEvent};

use crate::{Assemble, EventDecoder, EventTooLarge, NoAnswer, Progress};

/// What is seen of a stream, and the answer where there is one.
pub type Streamed = (Vec<StreamEvent>, Result<CompletionResponse, NoAnswer>);

/// How many hexadecimal digits an id has that a provider crate made up.
const MADE_UP: usize = 32;

/// Decodes a body that comes in these parts, as
/// [`HttpClient::stream`](crate::HttpClient::stream) does.
pub fn assemble(
    mut decoder: impl EventDecoder,
    mut assembler: impl Assemble,
    parts: &[&[u8]],
) -> Streamed {
    let mut seen = VecDeque::new();
    'body: {
        for part in parts {
            let mut part = *part;
            loop {
                match decoder.advance(&mut part) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(_) => break 'body,
                }
                match assembler.feed(decoder.event(), &mut seen) {
                    Ok(Progress::Complete) => break 'body,
                    Ok(_) => {}
                    Err(fault) => return (seen.into(), Err(fault)),
                }
            }
        }
        if decoder.finish()
            && let Err(fault) = assembler.feed(decoder.event(), &mut seen)
        {
            return (seen.into(), Err(fault));
        }
    }
    (seen.into(), assembler.finish())
}

/// Checks that a decoder gives the same events however its bytes are split, and holds at most twice of them.
///
/// # Panics
///
/// It does not.
pub fn check_decoder<D: EventDecoder>(
    input: &[u8],
    new: impl Fn() -> D,
    held: impl Fn(&D) -> usize,
) {
    let Some((chunk, bytes)) = chunked(input) else {
        return;
    };
    let split = events(&mut new(), bytes, chunk);
    let mut decoder = new();
    assert_eq!(events(&mut decoder, bytes, bytes.len().max(1)), split);
    let held = held(&decoder);
    assert!(held <= 2 * bytes.len() + 8, "{held} bytes are held");
}

/// Checks that a stream ends in the same answer however its bytes are split, and that the answer survives a
/// journal. Ids that a provider crate makes up may differ.
///
/// # Panics
///
/// It does not.
pub fn check_stream(input: &[u8], stream: impl Fn(&[&[u8]]) -> Streamed) {
    let Some((chunk, bytes)) = chunked(input) else {
        return;
    };
    let parts: Vec<_> = bytes.chunks(chunk).collect();
    let split = stream(&parts);
    let whole = stream(&[bytes]);
    let shown = |streamed: &Streamed| without_made_up_ids(&format!("{streamed:?}"));
    assert_eq!(shown(&split), shown(&whole));
    check_answer(split.1);
}

/// Checks that an answer survives a journal.
///
/// # Panics
///
/// It does not.
pub fn check_answer(answer: Result<CompletionResponse, NoAnswer>) {
    let answer = answer.ok();
    let written = serde_json::to_vec(&answer);
    let read = written.and_then(|written| serde_json::from_slice(&written));
    assert_eq!(read.ok(), Some(answer));
}

fn chunked(input: &[u8]) -> Option<(usize, &[u8])> {
    let (chunk, bytes) = input.split_first()?;
    Some((usize::from(*chunk).max(1), bytes))
}

fn events(
    decoder: &mut impl EventDecoder,
    bytes: &[u8],
    chunk: usize,
) -> Result<Vec<(String, Vec<u8>)>, EventTooLarge> {
    let mut seen = Vec::new();
    let mut see = |decoder: &dyn EventDecoder| {
        let event = decoder.event();
        seen.push((event.name.to_owned(), event.data.to_vec()));
    };
    for mut chunk in bytes.chunks(chunk) {
        while decoder.advance(&mut chunk)? {
            see(decoder);
        }
    }
    if decoder.finish() {
        see(decoder);
    }
    Ok(seen)
}

fn without_made_up_ids(shown: &str) -> String {
    let mut parts = shown.split("call_");
    let mut rest = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        rest.push_str("call_");
        let made_up = part
            .get(..MADE_UP)
            .is_some_and(|id| id.chars().all(|c| c.is_ascii_hexdigit()));
        rest.push_str(if made_up {
            part.get(MADE_UP..).unwrap_or_default()
        } else {
            part
        });
    }
    rest
}
