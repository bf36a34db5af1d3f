//! What a model may call.

pub(crate) mod call;
pub(crate) mod context;
pub(crate) mod definition;
pub(crate) mod output;
pub(crate) mod preview;
pub(crate) mod traits;
