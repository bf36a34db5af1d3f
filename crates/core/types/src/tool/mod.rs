//! What a model may call.

pub(crate) mod ask_person;
pub(crate) mod call;
pub(crate) mod context;
pub(crate) mod definition;
pub(crate) mod find_tools;
mod fit;
mod listing;
pub(crate) mod outcome;
pub(crate) mod output;
pub(crate) mod preview;
mod ranking;
pub(crate) mod traits;
