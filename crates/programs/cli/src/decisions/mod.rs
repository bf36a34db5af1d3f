//! Decisions as they are made here: by whom, when, signed.

pub(crate) mod decider;
