//! Runs that a worker cannot continue, and leaves to a worker that can.

use std::error::Error;

use neuron_types::{BlockedKind, DurableError, RunRequest, with_causes};
use serde_json::Value;

/// The words with which a worker's failure about such a run begins. Clients of every build recognise them.
const CANNOT: &str = "this worker cannot go on with the run";

/// Returns whether this error, returned by a workflow in the place of an output, ends the run.
///
/// Any other error concerns the worker and not the run: the worker has another version of the state, its loop met
/// something unexpected, or its engine failed. Another build, or the same one later, continues the run.
#[must_use]
pub const fn ends_run(error: &DurableError) -> bool {
    matches!(
        error,
        DurableError::Step(_) | DurableError::Cancelled { .. } | DurableError::BadSignal { .. }
    )
}

/// Returns the failure with which a worker leaves a run to another worker, or to itself later.
#[must_use]
pub fn cannot_go_on(error: &DurableError) -> String {
    // "The engine failed" alone is no information: the error in it names the part that failed.
    let cause: &(dyn Error + 'static) = match error {
        DurableError::Engine { source } => &**source,
        other => other,
    };
    format!("{CANNOT}: {}", with_causes(cause))
}

/// Classifies a worker's failure: returns why the run is blocked, and a sentence for people.
#[must_use]
pub fn hold_up(failure: &str) -> (BlockedKind, String) {
    match failure.find(CANNOT).and_then(|at| failure.get(at..)) {
        Some(said) => (BlockedKind::NoWorker, said.to_owned()),
        None => (
            BlockedKind::StepFailing,
            format!("the run's worker fails: {failure}"),
        ),
    }
}

/// A run's request that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadRequest {
    /// The reason.
    pub reason: String,
    /// Whether the request was written by hand: it has no version, which neuron's clients always set, and no whole
    /// definition, which requests of the first version always had. No other build can read it.
    pub is_by_hand: bool,
}

/// Reads the request that a run is started with.
///
/// # Errors
///
/// [`UnreadRequest`].
pub fn read_request(json: Value) -> Result<RunRequest, UnreadRequest> {
    let is_versioned = json.get("version").is_some_and(Value::is_u64);
    let is_whole = json.get("agent").is_some_and(Value::is_object);
    let unread = |reason| UnreadRequest {
        reason,
        is_by_hand: !is_versioned && !is_whole,
    };
    if let Some(reason) = unknown_field(&json) {
        return Err(unread(reason));
    }
    serde_json::from_value(json).map_err(|error| unread(error.to_string()))
}

/// Returns a sentence about the first unknown field of a request, with the field that was probably meant.
fn unknown_field(json: &Value) -> Option<String> {
    let fields = &RunRequest::FIELDS;
    let mut names = json.as_object()?.keys();
    let name = names.find(|name| !fields.contains(&name.as_str()))?;
    let slips = (name.chars().count() / 3).clamp(1, 3);
    let near = fields
        .iter()
        .map(|field| (strsim::osa_distance(name, field), field));
    let near = near.filter(|(distance, _)| *distance <= slips).min();
    Some(match near {
        Some((_, field)) => format!("unknown field {name:?}: did you mean {field:?}?"),
        None => format!("unknown field {name:?}: there are {}", fields.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use neuron_types::{FailureKind, StepFailure};
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_about_the_run_ends_it() {
        let failed = StepFailure::new(FailureKind::InvalidRequest, "no");
        assert!(ends_run(&failed.into()));
        assert!(ends_run(&DurableError::Cancelled { reason: None }));
        assert!(!ends_run(&DurableError::engine("a disk")));
        assert!(!ends_run(&DurableError::Suspended));
        assert!(!ends_run(&DurableError::NonDeterminism {
            step: "1:0".into(),
            recorded: "a".into(),
            requested: "b".into(),
        }));
    }

    #[test]
    fn a_client_finds_the_sentence_of_a_worker_in_what_its_server_makes_of_it() {
        let said = cannot_go_on(&DurableError::engine("it is of another version"));
        let shown = format!("[500] Retryable error: {said}");
        let sentence = "this worker cannot go on with the run: it is of another version";
        assert_eq!(
            hold_up(&shown),
            (BlockedKind::NoWorker, sentence.to_owned())
        );
        let (kind, detail) = hold_up("journal mismatch");
        assert_eq!(kind, BlockedKind::StepFailing);
        assert_eq!(detail, "the run's worker fails: journal mismatch");
    }

    #[test]
    fn a_request_that_says_its_version_may_be_one_of_another_build() {
        let later = json!({"version": 5, "agent": "default", "prompt": "Go."});
        let unread = read_request(later).unwrap_err();
        assert!(!unread.is_by_hand);
        assert!(unread.reason.contains("state version 5"), "{unread:?}");
        let whole = json!({"agent": {"name": "default"}, "prompt": "Go."});
        assert!(!read_request(whole).unwrap_err().is_by_hand);
    }

    #[test]
    fn a_slip_of_whoever_wrote_a_request_by_hand_is_named() {
        for (by_hand, said) in [
            (
                json!({"agent": "default", "promt": "Go."}),
                "unknown field \"promt\": did you mean \"prompt\"?",
            ),
            (
                json!({"agnet": "default", "prompt": "Go."}),
                "unknown field \"agnet\": did you mean \"agent\"?",
            ),
            (
                json!({"agent": "default", "prompt": "Go.", "colour": 1}),
                "unknown field \"colour\": there are version, agent, ",
            ),
            (json!({"prompt": "Go."}), "missing field `agent`"),
            (
                json!("Go."),
                "expected an object with the fields `agent` and `prompt`",
            ),
            (
                json!(null),
                "expected an object with the fields `agent` and `prompt`",
            ),
        ] {
            let unread = read_request(by_hand).unwrap_err();
            assert!(unread.is_by_hand);
            assert!(unread.reason.contains(said), "{unread:?}");
        }
    }

    #[test]
    fn the_fields_of_a_request_are_those_that_it_is_read_with() {
        let other = json!({"agent": "default", "prompt": "Go.", "other": 1});
        let error = serde_json::from_value::<RunRequest>(other).unwrap_err();
        let (_, expected) = error
            .to_string()
            .split_once("expected one of ")
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .unwrap();
        let fields = RunRequest::FIELDS.map(|field| format!("`{field}`"));
        assert_eq!(expected, fields.join(", "));
    }
}
