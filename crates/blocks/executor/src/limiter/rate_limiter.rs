//! The limiter of one key.

use std::{fmt, future::pending, sync::Arc, time::Duration};

use neuron_types::{CompletionRequest, Priority};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use super::{
    admission::Admission,
    estimate::estimate,
    rates::Rates,
    shared::{Shared, Turn},
    turned_away::TurnedAway,
};

/// Keeps the requests for one key within its rate. Clones count together: each client that asks with the key has one of
/// them.
///
/// # What it guarantees
///
/// - In no minute do more requests start than `requests_per_minute`, wherever that minute begins.
/// - In no minute do they use more than `tokens_per_minute`, as far as it is known beforehand: a request is taken to use
///   what its prompt is estimated at, and counts with what was reported from then on. One that is larger than the whole
///   rate starts when nothing else was used for a minute.
/// - Requests that wait start in the order in which they came, interactive ones before batch, which has every tenth turn.
///   They start one by one, each its share of a minute after the one before.
/// - When the server says that a limit was met, or when to come back, nothing starts until then, and then one by one for a
///   minute.
/// - A request whose future was dropped waits no longer, and leaves the queue.
///
/// The limiter has tokio's clock, counts in this process alone, and does nothing by itself: no task runs.
///
/// ```
/// use std::time::Duration;
/// use neuron_executor::RateLimiter;
/// use neuron_types::{CompletionRequest, Priority};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let limiter = RateLimiter::builder().requests_per_minute(2).build();
/// let start = tokio::time::Instant::now();
/// for _ in 0..3 {
///     let turn = limiter.admit(0, Priority::Interactive, Duration::MAX).await;
///     assert!(turn.is_ok());
/// }
/// assert!(start.elapsed() >= Duration::from_secs(60));
/// # }
/// ```
#[derive(Clone)]
pub struct RateLimiter {
    shared: Arc<Shared>,
    rates: Rates,
}

/// Builds a [`RateLimiter`].
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct RateLimiterBuilder {
    rates: Rates,
}

impl RateLimiterBuilder {
    /// Sets how many requests may start in a minute; 0 counts as 1. Default is any number.
    pub const fn requests_per_minute(mut self, requests: u32) -> Self {
        self.rates.requests = Some(if requests == 0 { 1 } else { requests });
        self
    }

    /// Sets how many tokens requests may use in a minute, prompts and answers together; 0 counts as 1. Default is any
    /// number.
    pub const fn tokens_per_minute(mut self, tokens: u64) -> Self {
        self.rates.tokens = Some(if tokens == 0 { 1 } else { tokens });
        self
    }

    /// Builds the limiter, which has counted nothing yet.
    #[must_use]
    pub fn build(self) -> RateLimiter {
        RateLimiter {
            shared: Arc::new(Shared::new(self.rates)),
            rates: self.rates,
        }
    }
}

impl RateLimiter {
    /// Starts building a limiter.
    pub fn builder() -> RateLimiterBuilder {
        RateLimiterBuilder::default()
    }

    /// As [`admit`](Self::admit), for this request: where tokens are limited, it is taken to use a quarter of the bytes of
    /// its JSON. Of the tools that a provider [searches itself](neuron_types::RequestHead::searched_tools) only names and
    /// descriptions count.
    ///
    /// # Errors
    ///
    /// [`TurnedAway`] if it would wait longer.
    pub async fn admit_request(
        &self,
        request: &CompletionRequest,
        priority: Priority,
        longest: Duration,
    ) -> Result<Admission, TurnedAway> {
        let tokens = match self.rates.tokens {
            Some(_) => estimate(request),
            None => 0,
        };
        self.admit(tokens, priority, longest).await
    }

    /// Waits for the turn of a request that is estimated to use this number of tokens, for `longest` at most.
    ///
    /// Dropping the future gives the place in the line up.
    ///
    /// # Errors
    ///
    /// [`TurnedAway`] if it would wait longer: at once where that can be foreseen. The error says when to come back.
    /// Requests that are turned away come back one by one.
    pub async fn admit(
        &self,
        tokens: u64,
        priority: Priority,
        longest: Duration,
    ) -> Result<Admission, TurnedAway> {
        let charge = match self.shared.start_now(tokens) {
            Some(charge) => charge,
            None => self.wait(tokens, priority, longest).await?,
        };
        Ok(Admission {
            shared: Arc::clone(&self.shared),
            charge,
            estimated: tokens,
        })
    }

    async fn wait(
        &self,
        tokens: u64,
        priority: Priority,
        longest: Duration,
    ) -> Result<u64, TurnedAway> {
        let deadline = Instant::now().checked_add(longest);
        let wake = Arc::new(Notify::new());
        let number = self
            .shared
            .join(tokens, priority, longest, Arc::clone(&wake))?;
        let place = Place {
            shared: &self.shared,
            number,
            priority,
        };
        loop {
            let at = match self.shared.turn(number) {
                Turn::Now(charge) => return Ok(charge),
                Turn::At(at) => Some(at),
                Turn::Behind => None,
            };
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                drop(place);
                return Err(self.shared.turn_away(tokens, priority));
            }
            let until = match (at, deadline) {
                (Some(at), Some(deadline)) => Some(at.min(deadline)),
                (at, deadline) => at.or(deadline),
            };
            tokio::select! {
                () = wake.notified() => {}
                () = until_then(until) => {}
            }
        }
    }
}

impl fmt::Debug for RateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimiter")
            .field("requests_per_minute", &self.rates.requests)
            .field("tokens_per_minute", &self.rates.tokens)
            .finish_non_exhaustive()
    }
}

/// A place in the line. Dropped, it is given up.
struct Place<'a> {
    shared: &'a Shared,
    number: u64,
    priority: Priority,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.shared.leave(self.number, self.priority);
    }
}

async fn until_then(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}
