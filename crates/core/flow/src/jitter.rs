//! What spreads the delays between the attempts of many runs.

use std::time::Duration;

use neuron_types::{ActivityOptions, RunId, StepId};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// What the hashes of jitters begin with, so that they are no other hashes of the same.
const DELAYS: &[u8] = b"neuron retry delay 1\0";

/// What the delays of one step are drawn from: the run's nonce, or its name where it has none, and the step.
///
/// The draw for an attempt is the beginning of a SHA-256, so it is the same in every process and on every engine, and
/// runs that fail together do not come back together.
///
/// ```
/// use std::time::Duration;
/// use neuron_flow::Jitter;
/// use neuron_types::{RunId, StepId};
///
/// let jitter = Jitter::new(&RunId::new("nightly")?, None, StepId::new(1, 0));
/// let longest = Duration::from_secs(8);
/// let delay = jitter.within(4, longest);
/// assert!(!delay.is_zero() && delay <= longest);
/// assert_eq!(jitter.within(4, longest), delay);
/// # Ok::<(), neuron_types::InvalidRunId>(())
/// ```
#[derive(Debug, Clone)]
pub struct Jitter {
    of_step: Sha256,
}

impl Jitter {
    /// Returns the jitter of this step of a run.
    #[must_use]
    pub fn new(run_id: &RunId, nonce: Option<Uuid>, step: StepId) -> Self {
        let StepId {
            scope,
            turn,
            position,
        } = step;
        let mut hash = Sha256::new();
        hash.update(DELAYS);
        match nonce {
            Some(nonce) => hash.update(nonce.as_bytes()),
            None => hash.update(Sha256::digest(run_id.as_str())),
        }
        hash.update(scope.to_be_bytes());
        hash.update(turn.to_be_bytes());
        hash.update(position.to_be_bytes());
        Self { of_step: hash }
    }

    /// Returns the jitter of the step that a door makes with these options.
    #[must_use]
    pub fn of(run_id: &RunId, options: &ActivityOptions) -> Self {
        Self::new(run_id, options.nonce, options.step)
    }

    /// Returns the draw after this attempt: whole milliseconds from 1 to `longest`, each as likely as any other. It is
    /// zero where `longest` is less than a millisecond.
    #[must_use]
    pub fn within(&self, attempt: u32, longest: Duration) -> Duration {
        let millis = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
        if millis == 0 {
            return Duration::ZERO;
        }
        let mut hash = self.of_step.clone();
        hash.update(attempt.to_be_bytes());
        let [a, b, c, d, e, f, g, h, ..] = <[u8; 32]>::from(hash.finalize());
        let draw = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
        // The draw is a share of 2^64.
        let share = (u128::from(draw) * u128::from(millis)) >> u64::BITS;
        Duration::from_millis(u64::try_from(share).unwrap_or(u64::MAX).saturating_add(1))
    }
}
