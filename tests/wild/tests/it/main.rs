//! What servers in the wild send has the right outcome, however it comes.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "test code fails by panicking"
)]

mod asked;
mod case;
mod checked;
mod decoded;
mod many;
mod outcome;
mod pairs;
mod said;
mod sent;
mod server;
mod vendors;
mod wire;
mod written;
