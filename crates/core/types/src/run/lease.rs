//! What runs of a tree say to each other about their budgets.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Allowance, Amount, Pooled, RunId, json::millis};

/// What a run may use of the budget of the run that started it, and how long it continues without word of that run.
///
/// It is granted, and what is not used of it goes back when the run ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    /// How much in all, from the start of the run on.
    #[serde(default)]
    pub granted: Pooled<Allowance>,
    /// How long the run continues without word of the one that started it.
    #[serde(rename = "within_ms", with = "millis")]
    pub within: Duration,
}

/// A run asks the one that started it for more, or whether that is still there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseRequest {
    /// The run that asks.
    pub run: RunId,
    /// What its parent had it [bring along](crate::Parent::key).
    pub key: Uuid,
    /// Which of its requests it is, counted from 1.
    pub number: u32,
    /// How much more it needs at least to continue. Nothing, if it asks whether its parent is there.
    #[serde(default)]
    pub need: Pooled<Amount>,
    /// How much more it would like to have.
    #[serde(default)]
    pub want: Pooled<Amount>,
}

/// What the run that started another one answers to its [`LeaseRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseGrant {
    /// The run that is answered.
    pub run: RunId,
    /// The [key](crate::Parent::key) of that run: no other run can answer it.
    pub key: Uuid,
    /// The [request](LeaseRequest::number) that is answered; 0 asks the run to send one.
    pub number: u32,
    /// How much the run may use in all from now on.
    #[serde(default)]
    pub granted: Pooled<Allowance>,
    /// Why it may not use as much as it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}
