//! What a run has put aside of its budget.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{
    Allowance, Amount, Held, Lease, LeaseRequest, Pooled, RunId, RunSignal, usage::pooled::add_to,
};

/// What a run has put aside of its budget, beside what it has used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// What the model call of this turn may take, from before it is made until it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<Held>,
    /// How many model calls in a row came to nothing for want of something put aside for another attempt.
    #[serde(skip_serializing_if = "is_none")]
    pub again: u32,
    /// The charge for model calls that were left or lost: their usage is unknown.
    #[serde(skip_serializing_if = "Amount::is_zero")]
    pub reserved: Amount,
    /// What the run and those below it that have ended used of pools, and are charged.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pools: BTreeMap<String, Amount>,
    /// What the run above has granted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<Box<Leased>>,
    /// What runs below have asked for, and are not answered yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<LeaseRequest>,
    /// A person is asked for what runs below need.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asks_person: bool,
    /// The messages to other runs, in this order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub to_tell: Vec<RunSignal>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_none(count: &u32) -> bool {
    *count == 0
}

impl Budget {
    /// So much of pools was used, or is charged.
    pub fn take_of_pools(&mut self, used: &BTreeMap<String, Amount>) {
        add_to(&mut self.pools, used);
    }

    /// Returns whether nothing was put aside yet.
    pub(crate) fn is_new(&self) -> bool {
        *self == Self::default()
    }
}

/// What the run above has granted, and what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leased {
    /// How much, and for how long without word.
    pub lease: Lease,
    /// When the run above was last heard of.
    pub heard_at: DateTime<Utc>,
    /// How many requests were sent.
    #[serde(default)]
    pub requests: u32,
    /// When the last of them was sent, if it has no answer yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<DateTime<Utc>>,
    /// The run below for which more was asked for last; `None` if it was for a call of the run's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_for: Option<RunId>,
    /// More was asked for, and neither granted nor rejected yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_pending: bool,
    /// The run makes no model call before more is granted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_waiting: bool,
    /// The run above is gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_over: bool,
}

impl Leased {
    /// Returns a lease that begins at this time.
    #[must_use]
    pub const fn new(lease: Lease, now: DateTime<Utc>) -> Self {
        Self {
            lease,
            heard_at: now,
            requests: 0,
            asked_at: None,
            asked_for: None,
            is_pending: false,
            is_waiting: false,
            is_over: false,
        }
    }

    /// Returns what it grants.
    #[must_use]
    pub const fn granted(&self) -> &Pooled<Allowance> {
        &self.lease.granted
    }
}
