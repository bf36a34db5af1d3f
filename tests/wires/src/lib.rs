#![doc = include_str!("../README.md")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]
#![allow(clippy::must_use_candidate, reason = "tests check what they get")]

pub mod any;
mod api;
mod corpus;
mod fake_api;
pub mod raw;
mod streamed;
#[doc(hidden)]
pub mod suite;
mod table;

pub use self::{
    api::{Api, KEY, LONG},
    corpus::corpus,
    fake_api::{FakeApi, event_stream},
    streamed::{Streamed, hello, pieces, read, streamed, streamed_as_whole, whole},
};
