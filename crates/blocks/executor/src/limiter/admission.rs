//! A request that had its turn.

use std::{sync::Arc, time::Duration};

use neuron_types::{FailureKind, TokenUsage};

use super::shared::Shared;

/// A request that may start. Its outcome is reported to the limiter with [`answered`](Self::answered) or
/// [`failed`](Self::failed); an admission that is dropped counts with the tokens that it was estimated to use.
#[derive(Debug)]
#[must_use]
pub struct Admission {
    pub(crate) shared: Arc<Shared>,
    pub(crate) charge: u64,
    pub(crate) estimated: u64,
}

impl Admission {
    /// Reports that the model answered and used these tokens: the whole prompt, also what came from a cache, and the
    /// answer.
    pub fn answered(self, usage: &TokenUsage) {
        if usage.total() > 0 {
            let Self {
                shared,
                charge,
                estimated,
            } = self;
            shared.settle(charge, estimated, usage.total());
        }
    }

    /// Reports that the request failed with this kind, and for how long the server asked to be left alone. If the limit
    /// of the key was met, or the server named a time, nothing is sent for this key until then, for 15 minutes at most;
    /// for 5 s where the server names no time.
    pub fn failed(self, kind: FailureKind, retry_after: Option<Duration>) {
        let is_limit = kind == FailureKind::RateLimited;
        if is_limit {
            self.shared.settle(self.charge, self.estimated, 0);
        }
        if is_limit || retry_after.is_some() {
            self.shared.pause(retry_after);
        }
    }
}
