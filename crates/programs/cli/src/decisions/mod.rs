//! Decisions as they are made here: whose, when, signed.

pub(crate) mod decider;
