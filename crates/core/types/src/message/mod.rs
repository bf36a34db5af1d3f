//! What is said between people, models and tools.

pub(crate) mod cache;
pub(crate) mod call_id;
pub(crate) mod content;
pub(crate) mod conversation;
