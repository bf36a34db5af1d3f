//! The client, and what can be asked of it.

pub(crate) mod anthropic;
pub(crate) mod builder;
pub(crate) mod compact;
pub(crate) mod count;
pub(crate) mod models;
