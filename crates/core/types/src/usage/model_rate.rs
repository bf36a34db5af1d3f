//! What tokens of a model cost at most.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::Amount;

/// What tokens of a model cost at most, in US dollars for a million: what a run reserves before it calls the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRate {
    /// The model, as [`RequestHead::models`](crate::RequestHead::models) names it.
    pub model: String,
    /// A million tokens of a request, whatever a cache has to do with it.
    pub input: Decimal,
    /// A million tokens of an answer.
    pub output: Decimal,
}

/// How many tokens a rate is for.
const MILLION: Decimal = Decimal::from_parts(1_000_000, 0, 0, false, 0);

impl ModelRate {
    /// Returns what a call with these numbers of tokens costs at most.
    #[must_use]
    pub fn cost(&self, input: u64, output: u64) -> Decimal {
        let input = self.input.saturating_mul(Decimal::from(input));
        let output = self.output.saturating_mul(Decimal::from(output));
        // A cost that cannot be counted fits no budget.
        let sum = input.saturating_add(output);
        sum.checked_div(MILLION).unwrap_or(Decimal::MAX)
    }

    /// Returns how many tokens an answer may have for this amount of money.
    #[must_use]
    pub fn output_for(&self, cost_usd: Decimal) -> u64 {
        let million = cost_usd.saturating_mul(MILLION);
        match million.checked_div(self.output) {
            Some(tokens) => u64::try_from(tokens.floor()).unwrap_or(u64::MAX),
            // It costs nothing.
            None => u64::MAX,
        }
    }

    /// Returns the amount of a call with these numbers of tokens.
    #[must_use]
    pub fn amount(&self, input: u64, output: u64) -> Amount {
        Amount {
            tokens: input.saturating_add(output),
            cost_usd: self.cost(input, output),
        }
    }
}
