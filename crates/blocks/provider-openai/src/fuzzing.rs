//! The decoders as the fuzz targets reach them.

use neuron_provider_http::{
    NoAnswer, SseDecoder,
    fuzzing::{Streamed, assemble},
};
use neuron_types::CompletionResponse;

use crate::{chat, responses};

/// Decodes the body of a whole answer of Chat Completions.
///
/// # Errors
///
/// There is no answer.
pub fn chat_answer(body: &[u8]) -> Result<CompletionResponse, NoAnswer> {
    chat::provider::whole(body, false)
}

/// Decodes the body of a streamed answer of Chat Completions that comes in these parts.
pub fn chat_stream(parts: &[&[u8]]) -> Streamed {
    let assembler = chat::stream::Assembler::new(false);
    assemble(SseDecoder::default(), assembler, parts)
}

/// Decodes the body of a whole answer of Responses.
///
/// # Errors
///
/// There is no answer.
pub fn responses_answer(body: &[u8]) -> Result<CompletionResponse, NoAnswer> {
    responses::provider::whole(body)
}

/// Decodes the body of a streamed answer of Responses that comes in these parts.
pub fn responses_stream(parts: &[&[u8]]) -> Streamed {
    let assembler = responses::stream::Assembler::default();
    assemble(SseDecoder::default(), assembler, parts)
}
