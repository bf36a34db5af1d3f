//! Tokens and money together.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// A number of tokens and an amount of money: a part of a budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Amount {
    /// Tokens, those of requests and those of answers.
    pub tokens: u64,
    /// US dollars.
    pub cost_usd: Decimal,
}

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self {
        tokens: 0,
        cost_usd: Decimal::ZERO,
    };

    /// Returns both together; the most that there is where they are more.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost_usd: self.cost_usd.saturating_add(other.cost_usd),
        }
    }

    /// Returns this amount a number of times; the largest amount where the product is more.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self {
            tokens: self.tokens.saturating_mul(times.into()),
            cost_usd: self.cost_usd.saturating_mul(times.into()),
        }
    }

    /// Returns the larger of the two, of tokens and of money.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.max(other.tokens),
            cost_usd: self.cost_usd.max(other.cost_usd),
        }
    }

    /// Returns whether it is nothing.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }
}

/// What may be used: as an [`Amount`], where `None` means as much as one likes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Allowance {
    /// Tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<Decimal>,
}

impl Allowance {
    /// Returns what is left of it when this amount is used: never less than nothing.
    #[must_use]
    pub fn without(self, used: Amount) -> Self {
        Self {
            tokens: self.tokens.map(|most| most.saturating_sub(used.tokens)),
            cost_usd: self.cost_usd.map(|most| rest(most, used.cost_usd)),
        }
    }

    /// Returns the smaller of the two, of tokens and of money.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            tokens: least(self.tokens, other.tokens),
            cost_usd: least(self.cost_usd, other.cost_usd),
        }
    }

    /// Returns one of this number of equal parts of it.
    #[must_use]
    pub fn part(self, of: u32) -> Self {
        let of = of.max(1);
        Self {
            tokens: self.tokens.map(|tokens| tokens / u64::from(of)),
            cost_usd: self
                .cost_usd
                .map(|cost| cost.checked_div(Decimal::from(of)).unwrap_or_default()),
        }
    }

    /// Returns whether this amount may be used.
    #[must_use]
    pub fn covers(&self, amount: Amount) -> bool {
        self.tokens.is_none_or(|most| amount.tokens <= most)
            && self.cost_usd.is_none_or(|most| amount.cost_usd <= most)
    }

    /// Returns how much more of it there would have to be for the wanted amount.
    #[must_use]
    pub fn lacking(&self, wanted: Amount) -> Amount {
        let tokens = self.tokens.map(|most| wanted.tokens.saturating_sub(most));
        let cost_usd = self.cost_usd.map(|most| rest(wanted.cost_usd, most));
        Amount {
            tokens: tokens.unwrap_or_default(),
            cost_usd: cost_usd.unwrap_or_default(),
        }
    }

    /// Returns all of it as an amount; nothing of what is not bounded.
    #[must_use]
    pub fn all(&self) -> Amount {
        Amount {
            tokens: self.tokens.unwrap_or_default(),
            cost_usd: self.cost_usd.unwrap_or_default(),
        }
    }

    /// Returns the amount as an allowance, for what this allowance bounds.
    #[must_use]
    pub fn bounding(&self, amount: Amount) -> Self {
        Self {
            tokens: self.tokens.map(|_| amount.tokens),
            cost_usd: self.cost_usd.map(|_| amount.cost_usd),
        }
    }

    /// Returns what is granted when this is granted after that: nothing is taken back. What is bounded since then is from then
    /// on, and what is not any more is not.
    #[must_use]
    pub fn then(self, granted: Self) -> Self {
        Self {
            tokens: larger_of(self.tokens, granted.tokens),
            cost_usd: larger_of(self.cost_usd, granted.cost_usd),
        }
    }

    /// Returns whether neither is bounded.
    #[must_use]
    pub const fn is_unbounded(&self) -> bool {
        self.tokens.is_none() && self.cost_usd.is_none()
    }
}

fn rest(most: Decimal, used: Decimal) -> Decimal {
    most.saturating_sub(used).max(Decimal::ZERO)
}

/// Returns the smaller of two bounds; `None` is no bound.
fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

fn larger_of<T: Ord>(known: Option<T>, granted: Option<T>) -> Option<T> {
    let granted = granted?;
    Some(match known {
        Some(known) => known.max(granted),
        None => granted,
    })
}
