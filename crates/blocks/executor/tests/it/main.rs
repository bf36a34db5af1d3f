//! The executor, what calls cost and when there is another attempt, from outside.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests may"
)]

mod executor;
mod limiter;
mod prices;
mod tokens;
