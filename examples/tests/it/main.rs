//! The programs run as their documentation describes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]

mod analyst;
#[cfg(feature = "mcp")]
mod coder;
#[cfg(feature = "engines")]
mod invoices;
#[cfg(feature = "engines")]
mod lead;
mod minimal;
#[cfg(feature = "engines")]
mod production;
#[cfg(feature = "engines")]
mod review;
mod survive;
mod teams;
mod turn;
#[cfg(feature = "engines")]
mod worker;
