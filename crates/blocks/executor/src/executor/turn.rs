//! Waiting for the turn of a model call.

use std::time::Duration;

use neuron_types::{CompletionRequest, StepFailure};
use tracing::debug;

use super::attempt::Attempt;
use crate::{Admission, RateLimiter, StepScope, longest_wait};

/// Waits until a request may be sent, beside the attempt's clock and for `longest` at most.
pub(crate) async fn await_turn(
    limiter: &RateLimiter,
    attempt: &mut Attempt<'_>,
    scope: &StepScope,
    request: &CompletionRequest,
    longest: Duration,
) -> Result<Admission, StepFailure> {
    let longest = longest_wait(attempt.timeout()).min(longest);
    let turn = limiter.admit_request(request, scope.priority, longest);
    let turn = attempt.beside(turn).await;
    let turn = turn.map_err(|cut| cut.into_failure("the model call"))?;
    turn.map_err(|away| {
        debug!(wait = ?away.wait, "a model call is put off");
        away.into()
    })
}
