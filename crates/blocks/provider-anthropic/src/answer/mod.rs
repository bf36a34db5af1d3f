//! What comes back.

pub(crate) mod failure;
pub(crate) mod response;
pub(crate) mod stream;
