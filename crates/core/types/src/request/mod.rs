//! Requests to a model, its answers, and the providers that answer them.

pub(crate) mod completion;
pub(crate) mod context_edit;
pub(crate) mod provider;
pub(crate) mod response;
pub(crate) mod size;
pub(crate) mod stream;
