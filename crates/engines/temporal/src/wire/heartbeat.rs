//! The content of an activity's heartbeats, which goes from one attempt to the next.

use neuron_executor::ProgressReport;
use neuron_flow::StepLife;
use serde::{Deserialize, Serialize};

/// The content of a heartbeat.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Beat {
    /// Whether the hooks were notified of what led to the step.
    #[serde(rename = "told")]
    pub(crate) notified: bool,
    /// The progress that the tool reports of its call: Temporal's UI shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) progress: Option<ProgressReport>,
    /// The results of the attempts before. The server also counts attempts that were lost with their workers; these are
    /// not included here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) life: Option<StepLife>,
    /// The server's number of the newest attempt that gave an answer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) answered: u32,
}

impl Beat {
    /// Returns how many attempts were lost in a row before the one that the server gives this number.
    pub(crate) const fn lost_before(&self, attempt: u32) -> u32 {
        attempt.saturating_sub(1).saturating_sub(self.answered)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_that_were_lost_are_told_from_those_that_failed() {
        let answered = |answered| Beat {
            answered,
            ..Beat::default()
        };
        assert_eq!(answered(0).lost_before(1), 0);
        assert_eq!(answered(0).lost_before(3), 2);
        assert_eq!(answered(3).lost_before(4), 0);
        assert_eq!(answered(6).lost_before(8), 1);
    }
}
