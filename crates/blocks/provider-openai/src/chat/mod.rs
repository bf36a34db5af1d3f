//! The Chat Completions API.

pub(crate) mod answer;
pub(crate) mod call;
pub(crate) mod content;
pub(crate) mod dialect;
pub(crate) mod fragments;
pub(crate) mod message;
pub(crate) mod provider;
pub(crate) mod request;
pub(crate) mod stream;
