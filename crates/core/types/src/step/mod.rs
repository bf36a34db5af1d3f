//! One journaled effect, and how it is performed.

pub(crate) mod activity;
pub(crate) mod options;
pub(crate) mod priority;
pub(crate) mod retry;
