//! What is answered to a request that would wait too long.

use std::time::Duration;

use neuron_types::{FailureKind, StepFailure};

/// A request would wait for its turn longer than it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not sent: the requests for this key wait for their turn, and this one would for {wait:?}")]
pub struct TurnedAway {
    /// After how long it may come back.
    pub wait: Duration,
}

/// Nothing was sent, and a further attempt can help after the wait.
impl From<TurnedAway> for StepFailure {
    fn from(away: TurnedAway) -> Self {
        Self {
            retry_after: Some(away.wait),
            ..Self::new(FailureKind::RateLimited, away.to_string())
        }
    }
}
