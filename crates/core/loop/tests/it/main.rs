//! The machine and its driver, from outside.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]

mod approval;
mod approved_calls;
mod budgets;
mod context;
mod door;
mod driver;
mod first_tool;
mod halts;
mod handoffs;
mod inquiries;
mod judges;
mod loaded;
mod machine;
mod order;
mod previews;
mod properties;
mod repeats;
mod support;
mod tickets;
mod times;
mod upgrades;
