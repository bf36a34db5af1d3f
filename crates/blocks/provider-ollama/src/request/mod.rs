//! What is sent.

pub(crate) mod body;
pub(crate) mod message;
pub(crate) mod model;
pub(crate) mod schema;
