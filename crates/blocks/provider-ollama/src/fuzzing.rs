//! The decoders as the fuzz targets reach them.

use neuron_provider_http::{
    NdjsonDecoder, NoAnswer,
    fuzzing::{Streamed, assemble},
};
use neuron_types::CompletionResponse;

use crate::{answer::stream::Lines, client::whole};

/// Decodes the body of a whole answer.
///
/// # Errors
///
/// There is no answer.
pub fn answer(body: &[u8]) -> Result<CompletionResponse, NoAnswer> {
    whole(body, 1)
}

/// Decodes the body of a streamed answer that comes in these parts.
pub fn stream(parts: &[&[u8]]) -> Streamed {
    assemble(NdjsonDecoder::default(), Lines::to(1), parts)
}
