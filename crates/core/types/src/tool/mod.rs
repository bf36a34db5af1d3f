//! What a model may call.

pub(crate) mod argument_kind;
pub(crate) mod ask_person;
pub(crate) mod call;
pub(crate) mod context;
pub(crate) mod definition;
mod fit;
pub(crate) mod outcome;
pub(crate) mod output;
pub(crate) mod pending;
pub(crate) mod preview;
pub(crate) mod traits;
