//! Signing and verifying, also with OpenSSH's own programs.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that finds something else should fail"
)]

mod agent;
mod approvers;
mod corpus;
mod hardware;
mod judge;
mod key_file;
mod openssh;
mod statement;
mod support;
mod verify;
