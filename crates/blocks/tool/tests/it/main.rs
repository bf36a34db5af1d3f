//! The registry, its middleware and the built-in tools as an agent meets them.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "test code fails by panicking"
)]

mod bash;
mod bash_stop;
mod confinement;
mod definitions;
mod edit_file;
mod hook_runner;
mod limits;
mod macros;
mod middleware;
mod parity;
mod permission_checker;
mod person;
mod protected;
mod read_file;
mod registry;
mod sandbox;
mod schema_validator;
mod search;
mod skills;
mod swapped_links;
mod workspace;
mod write_file;
