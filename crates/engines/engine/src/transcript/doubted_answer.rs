//! Answers that a guard has a person asked about.

use neuron_types::{GuardPoint, RunEvent};

/// Returns why a guard has a person asked about an answer, if this event says it.
pub(super) fn asked_about(event: &RunEvent) -> Option<&str> {
    match event {
        RunEvent::Guarded {
            point: GuardPoint::Output,
            verdict,
            reason,
            ..
        } if verdict == "ask" => Some(reason),
        _ => None,
    }
}
