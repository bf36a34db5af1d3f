//! The registration of a worker that lasts as long as the worker.

use std::{convert::Infallible, time::Duration};

use neuron_engine::RunClientError;
use neuron_types::with_causes;

use super::health::WorkerHealth;
use crate::RestateClient;

/// The time between the first two tries; each further time is twice as long.
const FIRST_DELAY: Duration = Duration::from_millis(100);

/// The longest time between two tries.
const LONGEST_DELAY: Duration = Duration::from_secs(5);

/// How often the server is asked whether it still knows the worker.
const BETWEEN_LOOKS: Duration = Duration::from_secs(30);

/// What a registration does to another version of the worker at its URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registration {
    /// The other version stays, and the worker is not registered.
    New,
    /// The other version is replaced, even if runs are in flight there: for development.
    Over,
}

impl RestateClient {
    /// Registers a worker at this URL, unless its health says that it is registered, and again whenever the server has forgotten it, for example because its data were
    /// lost. A server that is away, or rejects the worker, is asked again after up to 5 s, with a line in the log. The worker
    /// is ready, as its health shows, while the server knows it. Never returns; dropping the future ends it.
    pub async fn keep_registered(
        &self,
        url: &str,
        how: Registration,
        health: &WorkerHealth,
    ) -> Infallible {
        loop {
            if !health.is_registered() {
                self.register_at_last(url, how).await;
                health.set_registered(true);
            }
            while is_known(self, url).await {
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
            tracing::warn!(url, "Restate does not know this worker any more");
            health.set_registered(false);
        }
    }

    async fn register_at_last(&self, url: &str, how: Registration) {
        let mut delay = FIRST_DELAY;
        loop {
            let registered = match how {
                Registration::New => self.register(url).await,
                Registration::Over => self.register_over(url).await,
            };
            let Err(error) = registered else {
                tracing::info!(url, "registered");
                return;
            };
            let advice = match (&error, how) {
                (RunClientError::Rejected { .. }, Registration::New) => {
                    "; for development, --register-force overwrites what Restate knows"
                }
                _ => "",
            };
            tracing::warn!(
                url,
                "cannot be registered yet: {}{advice}",
                with_causes(&error)
            );
            tokio::time::sleep(delay).await;
            delay = (delay * 2).min(LONGEST_DELAY);
        }
    }
}

/// Returns whether the server knows the worker. A server that does not answer has not forgotten it either.
async fn is_known(client: &RestateClient, url: &str) -> bool {
    match client.is_registered(url).await {
        Ok(is_registered) => is_registered,
        Err(error) => {
            tracing::debug!(
                url,
                "Restate does not say whom it knows: {}",
                with_causes(&error)
            );
            true
        }
    }
}
