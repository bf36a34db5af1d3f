//! The conversation in a history: deltas on one side, transcripts on the other.

pub(crate) mod byte_cache;
pub(crate) mod chunks;
pub(crate) mod delta_encoder;
pub(crate) mod digest;
pub(crate) mod fold;
pub(crate) mod history;
pub(crate) mod judged;
pub(crate) mod known_results;
pub(crate) mod memory;
pub(crate) mod recording;
pub(crate) mod transcript;
