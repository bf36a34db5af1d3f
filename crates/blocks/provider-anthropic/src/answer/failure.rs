use neuron_provider_http::{ApiFailure, Reply, kind_of_status, lenient, says_too_long};
use neuron_types::{FailureKind, read_json};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
struct ErrorBody {
    #[serde(default, deserialize_with = "lenient")]
    error: ErrorObject,
    #[serde(default, deserialize_with = "lenient")]
    request_id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    message: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    detail: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct ErrorObject {
    #[serde(default, rename = "type", deserialize_with = "lenient")]
    kind: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    message: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    details: ErrorDetails,
}

#[derive(Debug, Default, Deserialize)]
struct ErrorDetails {
    #[serde(default, deserialize_with = "lenient")]
    error_code: Option<String>,
}

/// Reads an error answer. Its body need not be JSON: a proxy may have written it.
pub(crate) fn read(reply: &Reply) -> ApiFailure {
    of_body(reply.status(), reply.body())
}

/// Reads an error event of a stream that began as a success.
pub(crate) fn of_event(data: &[u8]) -> ApiFailure {
    of_body(200, data)
}

fn of_body(status: u16, body: &[u8]) -> ApiFailure {
    let body: ErrorBody = read_json(body).unwrap_or_default();
    let error = body.error;
    let code = error.details.error_code;
    // Servers that speak as Anthropic does write their errors as they like.
    let message = [error.message, body.message, body.detail];
    let mut message = message.into_iter().flatten();
    let message = message.find(|message| !message.is_empty());
    let kind = kind(
        status,
        error.kind.as_deref(),
        code.as_deref(),
        message.as_deref().unwrap_or_default(),
    );
    ApiFailure {
        message,
        request_id: body.request_id,
        ..ApiFailure::new(kind)
    }
    .with_code(code.or(error.kind))
}

/// Returns the kind of a failure: the code says most, then the type, then the status.
fn kind(status: u16, error_type: Option<&str>, code: Option<&str>, message: &str) -> FailureKind {
    match code {
        Some("enforced_spend_limit_reached" | "contract_spend_limit_reached") => {
            return FailureKind::Quota;
        }
        Some("compaction_unavailable") => return FailureKind::Unavailable,
        _ => {}
    }
    match error_type {
        Some("authentication_error") => FailureKind::Authentication,
        Some("billing_error") => FailureKind::Quota,
        Some("permission_error") => FailureKind::Permission,
        Some("not_found_error") => FailureKind::ModelNotFound,
        Some("conflict_error") => FailureKind::Unavailable,
        Some("request_too_large") => FailureKind::ContextLength,
        Some("rate_limit_error") => FailureKind::RateLimited,
        Some("timeout_error") => FailureKind::Timeout,
        Some("overloaded_error") => FailureKind::Overloaded,
        _ if matches!(status, 200 | 400 | 413 | 422 | 500) && says_too_long(message) => {
            FailureKind::ContextLength
        }
        Some("invalid_request_error") if status == 200 => FailureKind::InvalidRequest,
        // It does not even say that it failed.
        None if status < 300 && message.is_empty() => FailureKind::MalformedAnswer,
        // An error in the body of a success.
        _ if status < 300 => FailureKind::Unavailable,
        _ => kind_of_status(status),
    }
}
