//! What the strategies promise, shown on random conversations and on small ones.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]

mod composite;
mod conversation;
mod injector;
mod promises;
mod scripted;
mod sliding_window;
mod strategy;
mod summarization;
mod token_counter;
mod tool_result_clearing;
