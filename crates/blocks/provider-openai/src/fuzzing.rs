//! The decoders as the fuzz targets reach them.

use neuron_provider_http::{
    SseDecoder,
    fuzzing::{Streamed, assemble},
};
use neuron_types::CompletionResponse;

use crate::{chat, responses};

/// Decodes the body of a whole answer of Chat Completions.
#[must_use]
pub fn chat_answer(body: &[u8]) -> Option<CompletionResponse> {
    chat::provider::whole(body, false).ok()
}

/// Decodes the body of a streamed answer of Chat Completions that comes in chunks of `chunk` bytes.
pub fn chat_stream(body: &[u8], chunk: usize) -> Streamed {
    let assembler = chat::stream::Assembler::new(None, false);
    assemble(SseDecoder::default(), assembler, body, chunk)
}

/// Decodes the body of a whole answer of Responses.
#[must_use]
pub fn responses_answer(body: &[u8]) -> Option<CompletionResponse> {
    responses::provider::whole(body).ok()
}

/// Decodes the body of a streamed answer of Responses that comes in chunks of `chunk` bytes.
pub fn responses_stream(body: &[u8], chunk: usize) -> Streamed {
    let assembler = responses::stream::Assembler::new(None);
    assemble(SseDecoder::default(), assembler, body, chunk)
}
