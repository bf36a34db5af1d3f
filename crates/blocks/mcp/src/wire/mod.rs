//! What stands in the messages, as this project has it.

pub(crate) mod answer;
pub(crate) mod carried;
pub(crate) mod content;
pub(crate) mod definition;
pub(crate) mod fault;
pub(crate) mod harmless;
pub(crate) mod input;
pub(crate) mod mend;
pub(crate) mod origin;
pub(crate) mod picture;
mod picture_type;
mod schema;
pub(crate) mod secrets;
pub(crate) mod shallow;
