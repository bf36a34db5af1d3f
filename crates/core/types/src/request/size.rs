//! How large a conversation is, as a run knows it.

use serde::{Deserialize, Serialize};

/// The least that must have been estimated before a report says anything about the estimate.
const LEAST_ESTIMATED: u64 = 1_000;
/// A report that is further off than this factor says something else than how the model counts.
const MOST_FACTOR: u64 = 4;

/// How a model counts tokens beside the estimate: what was estimated, and what the provider then reported
/// of the same messages, summed up over a run.
///
/// It is part of a run's state, so a replay and a roll-over count as the run did.
///
/// ```
/// use neuron_types::TokenCalibration;
///
/// let mut calibration = TokenCalibration::default();
/// assert_eq!(calibration.apply(100), 100);
/// calibration.observe(2_000, 2_600);
/// assert_eq!(calibration.apply(100), 130);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenCalibration {
    /// Estimated tokens.
    pub estimated: u64,
    /// What the provider reported in their place.
    pub reported: u64,
}

impl TokenCalibration {
    /// Adds what was estimated of some messages and what the provider reported of them.
    pub fn observe(&mut self, estimated: u64, reported: u64) {
        self.estimated = self.estimated.saturating_add(estimated);
        self.reported = self.reported.saturating_add(reported);
    }

    /// Corrects an estimate, by a factor between a quarter and four. It stays as it is until 1,000 tokens
    /// were estimated and reported.
    #[must_use]
    pub fn apply(&self, estimate: u64) -> u64 {
        if self.estimated < LEAST_ESTIMATED {
            return estimate;
        }
        let corrected =
            u128::from(estimate) * u128::from(self.reported) / u128::from(self.estimated);
        let corrected = u64::try_from(corrected).unwrap_or(u64::MAX);
        corrected.clamp(estimate / MOST_FACTOR, estimate.saturating_mul(MOST_FACTOR))
    }
}

/// The size of the request that is to shrink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestSize {
    /// The whole request in tokens, instructions and tools included as far as a provider reported them.
    pub tokens: u64,
    /// What an estimate of a part of it has to be corrected by.
    pub calibration: TokenCalibration,
}

impl RequestSize {
    /// The size without messages of this estimate.
    #[must_use]
    pub fn without(self, estimate: u64) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(self.calibration.apply(estimate)),
            ..self
        }
    }
}
