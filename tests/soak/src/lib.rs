#![doc = include_str!("../README.md")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code fails by panicking"
)]

mod chaos;
mod clock;
mod engine_name;
mod history;
mod model;
mod outage;
mod parked;
mod raised;
mod report;
mod side_by_side;
mod site;
mod trees;

pub use crate::{
    chaos::Chaos, engine_name::EngineName, outage::Outage, parked::Parked, report::Report,
    trees::Trees,
};
