//! The decoders as the fuzz targets reach them.

use neuron_provider_http::{
    SseDecoder,
    fuzzing::{Streamed, assemble},
};
use neuron_types::CompletionResponse;

use crate::{answer::response::Answer, answer::stream::Assembler};

/// Decodes the body of a whole answer.
#[must_use]
pub fn answer(body: &[u8]) -> Option<CompletionResponse> {
    let answer: Answer = serde_json::from_slice(body).ok()?;
    answer.into_response()
}

/// Decodes the body of a streamed answer that comes in chunks of `chunk` bytes.
#[must_use]
pub fn stream(body: &[u8], chunk: usize) -> Streamed {
    assemble(SseDecoder::default(), Assembler::new(None), body, chunk)
}
