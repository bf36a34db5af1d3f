//! The Responses API.

pub(crate) mod answer;
pub(crate) mod calls;
pub(crate) mod compact;
pub(crate) mod count;
pub(crate) mod drafts;
pub(crate) mod item;
pub(crate) mod merge;
pub(crate) mod message;
pub(crate) mod provider;
pub(crate) mod request;
pub(crate) mod settings;
pub(crate) mod stream;
