//! What holds a run up that is no ticket, in words.

use neuron_types::{Blocked, BlockedKind};

use super::{describe::time, shown};

/// What holds the run up, in one line.
pub(crate) fn line(blocked: &Blocked) -> String {
    let detail = shown::line(&blocked.detail);
    match blocked.kind {
        BlockedKind::StepFailing => format!("{}: {detail}", failing(blocked)),
        _ => detail.into_owned(),
    }
}

/// The same as a note to whoever waits for the run.
pub(crate) fn note(blocked: &Blocked) -> String {
    match blocked.kind {
        BlockedKind::StepFailing => line(blocked),
        _ => format!(
            "the run waits for a worker that has its agent: {}",
            line(blocked)
        ),
    }
}

fn failing(blocked: &Blocked) -> String {
    let mut text = format!("a step fails since {}", time(blocked.since));
    if let Some(attempt) = blocked.attempt {
        text.push_str(&format!(", attempt {attempt}"));
    }
    if let Some(next) = blocked.next_at {
        text.push_str(&format!(", the next at {}", time(next)));
    }
    text
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    #[test]
    fn a_step_that_fails_says_since_when_and_when_it_is_tried_again() {
        let since = DateTime::from_timestamp(60, 0).unwrap();
        let mut blocked = Blocked::new(BlockedKind::StepFailing, since, "network: away".into());
        let text = "a step fails since 1970-01-01T00:01:00Z";
        assert_eq!(line(&blocked), format!("{text}: network: away"));
        blocked.attempt = Some(7);
        blocked.next_at = DateTime::from_timestamp(90, 0);
        let more = ", attempt 7, the next at 1970-01-01T00:01:30Z: network: away";
        assert_eq!(note(&blocked), format!("{text}{more}"));
    }
}
