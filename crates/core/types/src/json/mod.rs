//! How values stand in JSON.

pub(crate) mod bytes;
pub(crate) mod canonical;
pub mod millis;
pub(crate) mod object_schema;
pub(crate) mod read;
pub(crate) mod shared;
pub(crate) mod version;
