//! Rules as other crates use them, beside what Bash does, and what fuzzing found.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "test code fails by panicking"
)]

mod corpus;
mod evaluated_arguments;
