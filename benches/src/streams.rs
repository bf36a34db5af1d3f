//! Decoding a streamed answer, against the least that reading it can take: one search for line ends and
//! one JSON parse for each event.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use neuron_provider_http::{EventDecoder, NdjsonDecoder, SseDecoder};
use serde_json::{Value, json};

use crate::{failure::Failure, report};

const STREAM_BYTES: usize = 1024 * 1024;
const CHUNK: usize = 64;
const ROUNDS: usize = 101;

/// One stream, and where the JSON of each event is.
struct Sample {
    bytes: Vec<u8>,
    events: Vec<(usize, usize)>,
}

impl Sample {
    /// Returns a stream with deltas of a few words, as models send them.
    fn new(head: &str, tail: &str) -> Self {
        let mut bytes = Vec::new();
        let mut events = Vec::new();
        while bytes.len() < STREAM_BYTES {
            let text = format!(" and word {} of \"it\"", events.len());
            let event = json!({
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": text},
            });
            bytes.extend_from_slice(head.as_bytes());
            let start = bytes.len();
            bytes.extend_from_slice(event.to_string().as_bytes());
            events.push((start, bytes.len()));
            bytes.extend_from_slice(tail.as_bytes());
        }
        Self { bytes, events }
    }

    fn largest_event(&self) -> usize {
        let starts = self.events.iter().map(|(start, _)| *start);
        let next = starts.clone().skip(1).chain([self.bytes.len()]);
        starts.zip(next).map(|(a, b)| b - a).max().unwrap_or(0)
    }

    /// Measures the minimum: finding the ends of the lines, and parsing the JSON of each event.
    fn floor(&self) -> Result<Duration, Failure> {
        let start = Instant::now();
        let lines = memchr::memchr_iter(b'\n', black_box(&self.bytes)).count();
        black_box(lines);
        for (from, to) in &self.events {
            let data = self.bytes.get(*from..*to).unwrap_or_default();
            black_box(serde_json::from_slice::<Value>(data)?);
        }
        Ok(start.elapsed())
    }

    /// Measures the decoder, with the same parse of each event.
    fn decode(&self, decoder: &mut impl EventDecoder) -> Result<Duration, Failure> {
        let start = Instant::now();
        let mut events = 0;
        for mut chunk in black_box(&self.bytes).chunks(CHUNK) {
            while decoder.advance(&mut chunk)? {
                black_box(serde_json::from_slice::<Value>(decoder.event().data)?);
                events += 1;
            }
        }
        let took = start.elapsed();
        if events != self.events.len() {
            return Err(format!("{events} of {} events came", self.events.len()).into());
        }
        Ok(took)
    }
}

pub(crate) fn measure() -> Result<(), Failure> {
    let sse = Sample::new("event: content_block_delta\ndata: ", "\n\n");
    compare(
        "decode_sse",
        &sse,
        SseDecoder::default,
        SseDecoder::capacity,
    )?;
    let ndjson = Sample::new("", "\n");
    compare(
        "decode_ndjson",
        &ndjson,
        NdjsonDecoder::default,
        NdjsonDecoder::capacity,
    )
}

fn compare<D: EventDecoder>(
    bench: &str,
    sample: &Sample,
    new: impl Fn() -> D,
    capacity: impl Fn(&D) -> usize,
) -> Result<(), Failure> {
    let mut floor = Vec::with_capacity(ROUNDS);
    let mut decode = Vec::with_capacity(ROUNDS);
    let mut held = 0;
    for _ in 0..ROUNDS {
        floor.push(sample.floor()?);
        let mut decoder = new();
        decode.push(sample.decode(&mut decoder)?);
        held = held.max(capacity(&decoder));
    }
    let (floor, decode) = (report::median(floor), report::median(decode));
    let figures = json!({
        "stream_bytes": sample.bytes.len(),
        "chunk_bytes": CHUNK,
        "events": sample.events.len(),
        "rounds": ROUNDS,
        "scan_and_parse_us": report::micros(floor),
        "decode_and_parse_us": report::micros(decode),
        "ratio": decode.as_secs_f64() / floor.as_secs_f64(),
        "largest_event_bytes": sample.largest_event(),
        "held_bytes": held,
    });
    let target = "ratio at most 2.5, and at most twice the largest event held";
    report::line(bench, figures, target);
    Ok(())
}
