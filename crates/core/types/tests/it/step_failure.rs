use std::io;

use neuron_types::{DurableError, FailureKind, ProviderError, StepFailure, ToolError};

use crate::samples::step::FAILURE_KINDS;
use crate::times::{MILLISECOND, SECOND};

#[derive(Debug, thiserror::Error)]
#[error("request to api.example.com failed")]
struct Transport(#[source] io::Error);

fn cut() -> Transport {
    Transport(io::Error::other("connection reset"))
}

#[test]
fn only_what_passes_by_itself_is_retryable() {
    let retryable: Vec<&str> = FAILURE_KINDS
        .into_iter()
        .filter(|kind| kind.is_retryable())
        .map(FailureKind::as_str)
        .collect();
    assert_eq!(
        retryable,
        [
            "rate_limited",
            "overloaded",
            "timeout",
            "network",
            "unavailable",
            "model_loading",
            "malformed_answer",
            "no_worker"
        ]
    );
    for kind in FAILURE_KINDS {
        assert_eq!(StepFailure::new(kind, "").retryable, kind.is_retryable());
    }
}

#[test]
fn another_model_is_asked_where_one_is_not_to_be_had_or_not_to_be_understood() {
    let mended: Vec<&str> = FAILURE_KINDS
        .into_iter()
        .filter(|kind| kind.another_model_may_help())
        .map(FailureKind::as_str)
        .collect();
    assert_eq!(
        mended,
        [
            "rate_limited",
            "overloaded",
            "timeout",
            "network",
            "unavailable",
            "model_loading",
            "authentication",
            "permission",
            "model_not_found",
            "quota",
            "malformed_answer"
        ]
    );
}

#[test]
fn a_kind_reads_the_same_in_journals_and_messages() {
    for kind in FAILURE_KINDS {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        assert_eq!(kind.to_string(), kind.as_str());
    }
}

#[test]
fn a_provider_error_keeps_its_status_its_delay_and_its_causes() {
    let error = ProviderError::new(FailureKind::Overloaded, "the provider is overloaded")
        .with_status(529)
        .with_code("overloaded_error")
        .with_request_id("req_1")
        .with_retry_after(3 * SECOND)
        .with_source(cut());
    assert_eq!(error.code(), Some("overloaded_error"));
    assert_eq!(error.request_id(), Some("req_1"));
    assert_eq!(
        StepFailure::from(error),
        StepFailure {
            kind: FailureKind::Overloaded,
            message: "the provider is overloaded (HTTP 529) (request req_1): \
                      request to api.example.com failed: connection reset"
                .into(),
            status: Some(529),
            retry_after: Some(3 * SECOND),
            retryable: true,
            spent: None,
            asking: None,
        }
    );
}

#[test]
fn a_cause_that_the_message_already_tells_is_not_told_again() {
    let error = ToolError::ExecutionFailed(Box::new(cut()));
    assert_eq!(
        StepFailure::from(error).message,
        "execution failed: request to api.example.com failed: connection reset"
    );
}

#[test]
fn what_the_provider_says_about_retrying_outranks_the_kind() {
    for kind in FAILURE_KINDS {
        for should_retry in [true, false] {
            let error = ProviderError::new(kind, "no").with_should_retry(should_retry);
            assert_eq!(error.is_retryable(), should_retry);
            let failure = StepFailure::from(error);
            assert_eq!((failure.kind, failure.retryable), (kind, should_retry));
        }
        assert_eq!(
            StepFailure::from(ProviderError::new(kind, "no")),
            StepFailure::new(kind, "no")
        );
    }
}

#[test]
fn every_tool_error_has_its_kind() {
    let source = || Some(cut().into());
    let unavailable = ToolError::Unavailable {
        message: "the index is being built".into(),
        retry_after: Some(1500 * MILLISECOND),
        source: source(),
    };
    for (error, kind, message) in [
        (
            ToolError::NotFound("grep".into()),
            FailureKind::ToolFailed,
            "tool not found: grep",
        ),
        (
            ToolError::InvalidInput("no such account".into()),
            FailureKind::ToolInput,
            "invalid input: no such account",
        ),
        (
            ToolError::ExecutionFailed("exit 1".into()),
            FailureKind::ToolFailed,
            "execution failed: exit 1",
        ),
        (
            ToolError::PermissionDenied("not you".into()),
            FailureKind::ToolFailed,
            "permission denied: not you",
        ),
        (ToolError::Cancelled, FailureKind::Cancelled, "cancelled"),
        (
            ToolError::Terminated("enough".into()),
            FailureKind::Terminated,
            "a hook ended the run: enough",
        ),
        (
            ToolError::ModelRetry("use a relative path".into()),
            FailureKind::ToolFailed,
            "use a relative path",
        ),
        (
            ToolError::Timeout(5 * SECOND),
            FailureKind::Timeout,
            "no result within 5s",
        ),
    ] {
        assert_eq!(StepFailure::from(error), StepFailure::new(kind, message));
    }
    assert_eq!(
        StepFailure::from(unavailable),
        StepFailure {
            retry_after: Some(1500 * MILLISECOND),
            ..StepFailure::new(
                FailureKind::Unavailable,
                "unavailable: the index is being built: \
                 request to api.example.com failed: connection reset",
            )
        }
    );
}

#[test]
fn a_step_failure_stays_readable_as_the_cause_of_a_durable_error() {
    let failure = StepFailure::new(FailureKind::Quota, "the account has no money left");
    assert_eq!(failure.to_string(), "quota: the account has no money left");
    let error = DurableError::from(failure.clone());
    let cause = std::error::Error::source(&error).unwrap();
    assert_eq!(cause.downcast_ref::<StepFailure>(), Some(&failure));
}

#[test]
fn a_cancelled_run_says_why_if_somebody_said_so() {
    let cancelled = |reason: Option<&str>| {
        DurableError::Cancelled {
            reason: reason.map(str::to_owned),
        }
        .to_string()
    };
    assert_eq!(cancelled(None), "the run was cancelled");
    assert_eq!(
        cancelled(Some("too slow")),
        "the run was cancelled: too slow"
    );
}
