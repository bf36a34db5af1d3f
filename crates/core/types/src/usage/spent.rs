//! What model calls used and cost.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::{TokenUsage, cost_sum};

/// What model calls used and cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Their tokens.
    pub usage: TokenUsage,
    /// Their cost in US dollars; `None` if that of one is not known.
    pub cost_usd: Option<Decimal>,
    /// How many attempts were lost with their workers: their usage is unknown, and is in neither sum.
    #[serde(default, skip_serializing_if = "is_none")]
    pub lost: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_none(count: &u32) -> bool {
    *count == 0
}

impl Default for Spent {
    /// Nothing, for nothing.
    fn default() -> Self {
        Self::new(TokenUsage::default(), Some(Decimal::ZERO))
    }
}

impl Spent {
    /// Returns what calls used and cost when none of them was lost.
    #[must_use]
    pub const fn new(usage: TokenUsage, cost_usd: Option<Decimal>) -> Self {
        Self {
            usage,
            cost_usd,
            lost: 0,
        }
    }

    /// Returns the usage of this number of lost attempts, and nothing more is known; `None` if no attempt was lost.
    #[must_use]
    pub fn of_lost(lost: u32) -> Option<Box<Self>> {
        (lost > 0).then(|| {
            Box::new(Self {
                lost,
                ..Self::default()
            })
        })
    }

    /// Adds one model call.
    pub fn add(&mut self, usage: &TokenUsage, cost_usd: Option<Decimal>) {
        self.usage.add(usage);
        self.cost_usd = cost_sum(self.cost_usd, cost_usd);
    }

    /// Returns what both are together; `None` where neither is known of.
    #[must_use]
    pub fn sum(one: Option<Box<Self>>, other: Option<Box<Self>>) -> Option<Box<Self>> {
        match (one, other) {
            (Some(mut one), Some(other)) => {
                one.add(&other.usage, other.cost_usd);
                one.lost = one.lost.saturating_add(other.lost);
                Some(one)
            }
            (one, other) => one.or(other),
        }
    }
}
