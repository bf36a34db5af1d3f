//! What is sent.

pub(crate) mod beta;
pub(crate) mod block;
pub(crate) mod body;
pub(crate) mod cache;
pub(crate) mod check;
pub(crate) mod context;
pub(crate) mod marker;
pub(crate) mod message;
pub(crate) mod purpose;
pub(crate) mod search;
pub(crate) mod system;
pub(crate) mod thinking;
pub(crate) mod tool;
