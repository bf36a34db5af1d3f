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
}

impl Default for Spent {
    /// Nothing, for nothing.
    fn default() -> Self {
        Self {
            usage: TokenUsage::default(),
            cost_usd: Some(Decimal::ZERO),
        }
    }
}

impl Spent {
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
                Some(one)
            }
            (one, other) => one.or(other),
        }
    }
}
