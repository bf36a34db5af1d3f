//! The limiters that keep the requests for each key of the file's providers within its rate.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use neuron_executor::RateLimiter;
use neuron_types::{
    CompletionRequest, CompletionResponse, DynProvider, FailureKind, Priority, Provider,
    ProviderError,
};

use crate::agent_file::providers::{ProviderSettings, Rates};

/// The limiters of all agents that are opened together. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Limiters {
    /// The limiters by the provider's name and the key.
    limiters: Arc<Mutex<BTreeMap<Limited, RateLimiter>>>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Limited {
    provider: String,
    key: Option<String>,
    rates: Rates,
}

impl Limiters {
    /// Returns the limiter of a key, if the provider has a rate.
    pub(crate) fn of(
        &self,
        provider: &str,
        settings: &ProviderSettings,
        key: Option<&str>,
    ) -> Option<RateLimiter> {
        let rates = settings.rates;
        let mut limiter = RateLimiter::builder();
        if rates == Rates::default() {
            return None;
        }
        if let Some(requests) = rates.requests_per_minute {
            limiter = limiter.requests_per_minute(requests);
        }
        if let Some(tokens) = rates.tokens_per_minute {
            limiter = limiter.tokens_per_minute(tokens);
        }
        let limited = Limited {
            provider: provider.to_owned(),
            key: key.map(ToOwned::to_owned),
            rates,
        };
        let mut limiters = self.limiters.lock().unwrap_or_else(PoisonError::into_inner);
        let known = limiters.entry(limited).or_insert_with(|| limiter.build());
        Some(known.clone())
    }
}

/// A provider whose requests wait for their turn, however long that takes.
pub(crate) struct InTurn {
    pub(crate) provider: Arc<dyn DynProvider>,
    pub(crate) limiter: RateLimiter,
}

impl Provider for InTurn {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let turn = self
            .limiter
            .admit_request(request, Priority::Interactive, Duration::MAX);
        let turn = turn.await;
        let turn =
            turn.map_err(|away| ProviderError::new(FailureKind::RateLimited, away.to_string()))?;
        let answer = self.provider.complete_dyn(request).await;
        match &answer {
            Ok(response) => turn.answered(&response.usage),
            Err(error) => turn.failed(error.kind(), error.retry_after()),
        }
        answer
    }
}
