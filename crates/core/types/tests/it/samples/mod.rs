//! One value of every serialised type and every variant, for the snapshots.
//!
//! Keys inside `json!` are in alphabetical order, so that the snapshots are the same whether or not
//! another crate of the build has serde_json keep insertion order.

pub(crate) mod agent;
pub(crate) mod approval;
pub(crate) mod event;
pub(crate) mod message;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod run;
pub(crate) mod step;
pub(crate) mod tool;
pub(crate) mod transcript;

use chrono::{DateTime, Utc};
use rust_decimal::Decimal;

/// A moment with milliseconds, `seconds` after a fixed start.
pub(crate) fn moment(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_767_225_600 + seconds, 250_000_000).unwrap()
}

/// 1.25 US cents.
pub(crate) fn price() -> Decimal {
    Decimal::new(125, 4)
}
