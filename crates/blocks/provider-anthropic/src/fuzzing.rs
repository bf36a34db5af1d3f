//! The decoders as the fuzz targets reach them.

use neuron_provider_http::{
    SseDecoder,
    fuzzing::{Streamed, assemble},
};
use neuron_types::CompletionResponse;

use crate::{answer::stream::Assembler, client::anthropic::whole};

/// Decodes the body of a whole answer.
#[must_use]
pub fn answer(body: &[u8]) -> Option<CompletionResponse> {
    whole(body).ok()
}

/// Decodes the body of a streamed answer that comes in chunks of `chunk` bytes.
pub fn stream(body: &[u8], chunk: usize) -> Streamed {
    assemble(SseDecoder::default(), Assembler::new(None), body, chunk)
}
