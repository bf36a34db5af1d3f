//! What is exported of what tracing emits, and how it is sent.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may panic as tests may"
)]

mod dashboard;
mod emitted;
mod emitter;
mod metrics;
mod oteltap;
mod prometheus;
mod receiver;
mod sending;
mod spans;
mod variables;

use std::time::Duration;

/// Nothing ends by it.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60); // What should answer has as long as it needs.
