//! What comes back.

pub(crate) mod block;
pub(crate) mod event;
pub(crate) mod failure;
pub(crate) mod response;
pub(crate) mod stream;
