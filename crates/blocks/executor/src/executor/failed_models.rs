//! The models of a list that did not answer.

use std::time::Duration;

use neuron_types::StepFailure;

use super::fitted::Listed;

/// How long a request waits for its turn at most while another model could be asked instead.
const HANDOVER: Duration = Duration::from_secs(10);

/// The models of a list that failed in this attempt, in order.
#[derive(Debug, Default)]
pub(crate) struct FailedModels(Vec<(String, StepFailure)>);

impl FailedModels {
    pub(crate) fn add(&mut self, model: Listed<'_>, failure: StepFailure) {
        self.0.push((model.name(), failure));
    }

    /// Returns how long a paced model of the list may be waited for: not long if there is another behind it, and never
    /// longer than one before it asked to be left alone, as the door comes back then.
    pub(crate) fn longest_turn(&self, is_last: bool) -> Duration {
        let longest = if is_last { Duration::MAX } else { HANDOVER };
        let failures = self.0.iter().map(|(_, failure)| failure);
        let retryable = failures.filter(|failure| failure.retryable);
        let asked = retryable.filter_map(|failure| failure.retry_after).min();
        asked.map_or(longest, |asked| asked.min(longest))
    }

    /// Returns the failure of the attempt: of those that another attempt can fix, the one that can be tried soonest,
    /// else that of the first model. It names the others too. `None` if no model failed.
    pub(crate) fn into_failure(self) -> Option<StepFailure> {
        let Self(mut failed) = self;
        let failures = failed.iter().enumerate();
        let soonest = failures
            .filter(|(_, (_, failure))| failure.retryable)
            .min_by_key(|(_, (_, failure))| failure.retry_after.unwrap_or_default());
        let index = soonest.map_or(0, |(index, _)| index);
        if index >= failed.len() {
            return None;
        }
        let (model, failure) = failed.remove(index);
        if failed.is_empty() {
            return Some(failure);
        }
        let others = failed
            .iter()
            .map(|(model, failure)| format!("; {model}: {failure}"));
        Some(StepFailure {
            message: format!("{model}: {}{}", failure.message, others.collect::<String>()),
            ..failure
        })
    }
}

#[cfg(test)]
mod tests {
    use neuron_types::FailureKind;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1); // Only compared, never waited for.

    const A: Listed<'_> = Listed {
        provider: "a",
        model: "m",
    };
    const B: Listed<'_> = Listed {
        provider: "b",
        model: "n",
    };

    fn failed(failures: [(FailureKind, Option<u32>); 2]) -> FailedModels {
        let mut failed = FailedModels::default();
        for (model, (kind, seconds)) in [A, B].into_iter().zip(failures) {
            let failure = StepFailure {
                retry_after: seconds.map(|seconds| seconds * SECOND),
                ..StepFailure::new(kind, "no")
            };
            failed.add(model, failure);
        }
        failed
    }

    #[test]
    fn the_first_failure_counts_unless_a_later_one_passes_sooner() {
        use FailureKind::{Authentication, Overloaded, Quota, RateLimited};
        for (failures, kind) in [
            ([(Quota, None), (Authentication, None)], Quota),
            ([(Overloaded, None), (RateLimited, None)], Overloaded),
            ([(Authentication, None), (Overloaded, None)], Overloaded),
            ([(RateLimited, Some(60)), (Overloaded, Some(5))], Overloaded),
            ([(RateLimited, Some(5)), (Quota, None)], RateLimited),
        ] {
            let failure = failed(failures).into_failure().unwrap();
            assert_eq!(failure.kind, kind, "{failures:?}");
        }
        let failure = failed([(Quota, None), (Authentication, None)]).into_failure();
        assert_eq!(failure.unwrap().message, "a/m: no; b/n: authentication: no");
        assert_eq!(FailedModels::default().into_failure(), None);
    }

    #[test]
    fn nobody_waits_longer_for_a_turn_than_the_door_would() {
        use FailureKind::{Authentication, RateLimited};
        let none = FailedModels::default();
        assert_eq!(none.longest_turn(false), HANDOVER);
        assert_eq!(none.longest_turn(true), Duration::MAX);
        let paced = failed([(Authentication, None), (RateLimited, Some(3))]);
        assert_eq!(paced.longest_turn(true), 3 * SECOND);
    }
}
