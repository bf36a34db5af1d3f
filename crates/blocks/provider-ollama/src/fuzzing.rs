//! The decoders as the fuzz targets reach them.

use neuron_provider_http::{
    NdjsonDecoder,
    fuzzing::{Streamed, assemble},
};
use neuron_types::CompletionResponse;

use crate::{
    answer::response::{Answer, Piece},
    answer::stream::Lines,
};

/// Decodes the body of a whole answer.
#[must_use]
pub fn answer(body: &[u8]) -> Option<CompletionResponse> {
    let mut piece: Piece = serde_json::from_slice(body).ok()?;
    piece.done = Some(true);
    let mut answer = Answer::to(1);
    answer.take(piece);
    answer.finish()
}

/// Decodes the body of a streamed answer that comes in chunks of `chunk` bytes.
#[must_use]
pub fn stream(body: &[u8], chunk: usize) -> Streamed {
    assemble(NdjsonDecoder::default(), Lines::to(1), body, chunk)
}
