//! How much may be asked for in a minute.

use std::time::Duration;

/// A minute, and a second more: a request may take less time to the server than one before it did.
pub(crate) const WINDOW: Duration = Duration::from_secs(61);

const MINUTE: Duration = Duration::from_secs(60);

/// How much may be asked for in a minute; any number where `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Rates {
    pub(crate) requests: Option<u32>,
    pub(crate) tokens: Option<u64>,
}

impl Rates {
    /// Returns the share of a minute that a request of this number of tokens takes.
    pub(crate) fn share(self, tokens: u64) -> Duration {
        let requests = self.requests.map(|most| MINUTE / most.max(1));
        let tokens = self.tokens.map(|most| tokens_take(tokens, most));
        requests.unwrap_or_default().max(tokens.unwrap_or_default())
    }
}

/// Returns how long this number of tokens takes at this rate.
pub(crate) fn tokens_take(tokens: u64, per_minute: u64) -> Duration {
    let millis = u128::from(tokens) * MINUTE.as_millis() / u128::from(per_minute.max(1));
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}
