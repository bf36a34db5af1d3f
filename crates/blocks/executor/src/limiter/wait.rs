//! How long a model call waits for its turn.

use std::time::Duration;

/// Returns the longest time an attempt with this timeout waits in the rate limiter's queue: half its timeout. An
/// attempt that would wait longer fails as `rate_limited`, and the door waits instead.
///
/// The clock of an attempt is paused while it waits. An engine that has a clock of its own adds this to it.
#[must_use]
pub fn longest_wait(timeout: Duration) -> Duration {
    timeout / 2
}

/// How many times as long an answer that keeps coming may take as the silence of a model.
const ANSWERING: u32 = 6;

/// Returns how long an answer may take in all if it is never silent for as long as this timeout: six times as long.
pub(crate) fn longest_answer(timeout: Duration) -> Duration {
    timeout.saturating_mul(ANSWERING)
}

/// Returns how long one attempt of a model call takes at most where this number of models is asked in turn: each has
/// the [wait](longest_wait) for its turn, and six times the timeout, which bounds the silence of a model and not its
/// answer. An engine that has a clock of its own allows this much.
#[must_use]
pub fn longest_attempt(timeout: Duration, models: usize) -> Duration {
    let models = u32::try_from(models.max(1)).unwrap_or(u32::MAX);
    let one = longest_wait(timeout).saturating_add(longest_answer(timeout));
    one.saturating_mul(models)
}
