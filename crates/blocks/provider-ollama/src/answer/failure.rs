use neuron_provider_http::{ApiFailure, Reply, kind_of_status, says_too_long};
use neuron_types::{FailureKind, read_json};
use serde_json::Value;

/// Reads an error answer, or an error in the body of a success. The body need not be JSON: a proxy may have
/// written it.
pub(crate) fn read(reply: &Reply) -> ApiFailure {
    let body: Value = read_json(reply.body()).unwrap_or_default();
    let mut failure = failure(Some(reply.status()), body.get("error").and_then(message));
    // The cloud says where its keys come from.
    if let Some(address) = body.get("signin_url").and_then(Value::as_str) {
        let message = failure
            .message
            .unwrap_or_else(|| "not signed in".to_owned());
        failure.message = Some(format!("{message}: sign in at {address}"));
    }
    failure
}

/// Reads the `error` of a line among those of an answer.
pub(crate) fn of_line(error: &Value) -> ApiFailure {
    failure(None, message(error))
}

fn failure(status: Option<u16>, message: Option<String>) -> ApiFailure {
    let mut failure = ApiFailure::new(kind(status, message.as_deref().unwrap_or_default()));
    failure.message = message;
    failure
}

/// Returns the message of an error: Ollama writes a text, and the servers that imitate it an object.
fn message(error: &Value) -> Option<String> {
    let text = match error {
        Value::String(text) => Some(text.as_str()),
        other => other.get("message").and_then(Value::as_str),
    };
    text.filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns the kind of a failure. Ollama has no codes, so the message says what the status does not.
fn kind(status: Option<u16>, message: &str) -> FailureKind {
    let message = message.to_ascii_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    if matches!(status, None | Some(200 | 400 | 413 | 422 | 500)) && says_too_long(&message) {
        return FailureKind::ContextLength;
    }
    if matches!(status, None | Some(200 | 500..=599))
        && says(&["loading model", "model is loading", "currently loading"])
    {
        return FailureKind::ModelLoading;
    }
    if matches!(status, None | Some(200)) {
        return if says(&["server busy", "maximum pending requests"]) {
            FailureKind::Overloaded
        } else if says(&["rate limit", "too many requests"]) {
            FailureKind::RateLimited
        } else if message.is_empty() {
            // It does not even say that it failed.
            FailureKind::MalformedAnswer
        } else {
            FailureKind::Unavailable
        };
    }
    match status {
        // The server saw its client go away, and it was not this one.
        Some(499) | None => FailureKind::Unavailable,
        Some(status) => kind_of_status(status),
    }
}
