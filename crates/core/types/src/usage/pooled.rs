//! Of a budget and of pools.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::{Allowance, Amount};

/// Something of a run's own budget, and of the [pools](crate::AgentSpec::pools) of its tree, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pooled<T> {
    /// Of the budget.
    #[serde(flatten)]
    pub own: T,
    /// Of pools.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pools: BTreeMap<String, T>,
}

impl<T> From<T> for Pooled<T> {
    fn from(own: T) -> Self {
        Self {
            own,
            pools: BTreeMap::new(),
        }
    }
}

impl Pooled<Amount> {
    /// Returns both together.
    #[must_use]
    pub fn plus(mut self, other: &Self) -> Self {
        self.own = self.own.plus(other.own);
        add_to(&mut self.pools, &other.pools);
        self
    }

    /// Returns as much of each that there is any of as there is in the other, if that is more.
    #[must_use]
    pub fn raised_to(mut self, other: &Self) -> Self {
        if !self.own.is_zero() {
            self.own = self.own.max(other.own);
        }
        for (pool, amount) in &mut self.pools {
            let more = other.pools.get(pool).filter(|_| !amount.is_zero());
            *amount = amount.max(more.copied().unwrap_or_default());
        }
        self
    }

    /// Returns whether it is nothing.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.own.is_zero() && self.pools.values().all(Amount::is_zero)
    }
}

/// Adds amounts to those of the same pools.
pub(crate) fn add_to(pools: &mut BTreeMap<String, Amount>, more: &BTreeMap<String, Amount>) {
    for (pool, amount) in more {
        let known = pools.entry(pool.clone()).or_default();
        *known = known.plus(*amount);
    }
}

impl Pooled<Allowance> {
    /// Returns what there is of a pool: nothing, if this is not one of these pools.
    #[must_use]
    pub fn of_pool(&self, pool: &str) -> Allowance {
        self.pools.get(pool).copied().unwrap_or(NOTHING)
    }

    /// Returns whether this amount may be used.
    #[must_use]
    pub fn covers(&self, amount: &Pooled<Amount>) -> bool {
        let mut pools = amount.pools.iter();
        self.own.covers(amount.own)
            && pools.all(|(pool, amount)| self.of_pool(pool).covers(*amount))
    }

    /// Returns how much more of it there would have to be for the wanted amount.
    #[must_use]
    pub fn lacking(&self, wanted: &Pooled<Amount>) -> Pooled<Amount> {
        let pools = wanted.pools.iter();
        Pooled {
            own: self.own.lacking(wanted.own),
            pools: pools
                .map(|(pool, wanted)| (pool.clone(), self.of_pool(pool).lacking(*wanted)))
                .collect(),
        }
    }

    /// Returns one of this number of equal parts of it, as an amount; nothing of what is not bounded.
    #[must_use]
    pub fn part(&self, of: u32) -> Pooled<Amount> {
        let pools = self.pools.iter();
        Pooled {
            own: self.own.part(of).all(),
            pools: pools
                .map(|(pool, allowance)| (pool.clone(), allowance.part(of).all()))
                .collect(),
        }
    }

    /// Returns the amount as an allowance, for what this allowance bounds.
    #[must_use]
    pub fn bounding(&self, amount: &Pooled<Amount>) -> Self {
        let pools = self.pools.iter();
        Self {
            own: self.own.bounding(amount.own),
            pools: pools
                .map(|(pool, allowance)| {
                    let amount = amount.pools.get(pool).copied().unwrap_or_default();
                    (pool.clone(), allowance.bounding(amount))
                })
                .collect(),
        }
    }

    /// Returns what is granted when these are granted after those: nothing is taken back. What is bounded since then is from
    /// then on, and what is not any more is not.
    #[must_use]
    pub fn then(&self, granted: &Self) -> Self {
        let pools = granted.pools.iter();
        Self {
            own: self.own.then(granted.own),
            pools: pools
                .map(|(pool, granted)| {
                    let known = self.pools.get(pool).copied().unwrap_or_default();
                    (pool.clone(), known.then(*granted))
                })
                .collect(),
        }
    }
}

/// Nothing may be used.
const NOTHING: Allowance = Allowance {
    tokens: Some(0),
    cost_usd: Some(Decimal::ZERO),
};
