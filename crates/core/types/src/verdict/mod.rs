//! What guards have said of something, and what is left of it.

pub(crate) mod guard_verdict;
pub(crate) mod guarded;
