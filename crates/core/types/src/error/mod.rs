//! What can go wrong, and how it is journaled.

pub(crate) mod context;
pub(crate) mod durable;
pub(crate) mod failure;
pub(crate) mod hook;
pub(crate) mod kind;
pub(crate) mod provider;
pub(crate) mod tool;
