//! The models that the server has: what there is, and getting and removing them.

pub(crate) mod details;
mod failure;
pub(crate) mod installed;
pub(crate) mod pull;
pub(crate) mod running;
pub(crate) mod shown;
