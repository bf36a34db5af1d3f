//! The ways to make a conversation smaller.

pub(crate) mod composite;
pub(crate) mod fit;
pub(crate) mod no_compaction;
pub(crate) mod older;
pub(crate) mod sliding_window;
pub(crate) mod strategy;
pub(crate) mod summarization;
pub(crate) mod thinking;
pub(crate) mod tool_result_clearing;
pub(crate) mod transcript;
