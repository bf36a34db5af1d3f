//! The decoders as the fuzz targets reach them.

use neuron_provider_http::{
    NoAnswer, SseDecoder,
    fuzzing::{Streamed, assemble},
};
use neuron_types::CompletionResponse;

use crate::{answer::stream::Assembler, client::anthropic::whole};

/// Decodes the body of a whole answer.
///
/// # Errors
///
/// There is no answer.
pub fn answer(body: &[u8]) -> Result<CompletionResponse, NoAnswer> {
    whole(body)
}

/// Decodes the body of a streamed answer that comes in these parts.
pub fn stream(parts: &[&[u8]]) -> Streamed {
    assemble(SseDecoder::default(), Assembler::default(), parts)
}
