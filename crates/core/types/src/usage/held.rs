//! What is put aside for a model call.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::{Amount, Spent};

/// What a model call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// How many tokens its answer may have.
    pub output: u64,
    /// What an attempt at it takes at most, with its request.
    pub amount: Amount,
    /// How many attempts may take that: no other attempt follows once this number was made.
    pub attempts: u32,
}

impl Held {
    /// Returns what is put aside.
    #[must_use]
    pub fn all(&self) -> Amount {
        self.amount.times(self.attempts)
    }

    /// Returns whether another attempt is provided for after those before used this much, each lost attempt as much as
    /// it might.
    #[must_use]
    pub fn covers_another(&self, before: Option<&Spent>) -> bool {
        let Some(Spent {
            usage,
            cost_usd,
            lost,
        }) = before
        else {
            return true;
        };
        let used = Amount {
            tokens: usage.total(),
            cost_usd: match self.amount.cost_usd.is_zero() {
                // Its cost is unknown.
                true => Decimal::ZERO,
                false => cost_usd.unwrap_or(self.amount.cost_usd),
            },
        };
        let with_another = used.plus(self.amount.times(lost.saturating_add(1)));
        let all = self.all();
        with_another.tokens <= all.tokens && with_another.cost_usd <= all.cost_usd
    }
}
