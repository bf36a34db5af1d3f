use neuron_provider_http::{ApiFailure, Reply, kind_of_status};
use neuron_types::FailureKind;
use serde_json::Value;

/// Reads an error answer, or an error in the body of a success.
///
/// Beside OpenAI's own form, servers send `{"error": "text"}`, `{"message": …}`, `{"detail": …}`, any of
/// these in an array, or no JSON at all.
pub(crate) fn read(reply: &Reply) -> ApiFailure {
    let body: Value = serde_json::from_slice(reply.body()).unwrap_or_default();
    let body = match &body {
        Value::Array(entries) => entries.first().unwrap_or(&Value::Null),
        other => other,
    };
    let error = match body.get("error") {
        Some(error @ Value::Object(_)) => error,
        _ => body,
    };
    let text = |name| error.get(name).and_then(Value::as_str);
    let message = ["message", "detail", "error"]
        .into_iter()
        .find_map(text)
        .filter(|message| !message.is_empty());
    let error_type = text("type").filter(|kind| !kind.is_empty());
    let code = match error.get("code") {
        Some(Value::String(code)) if !code.is_empty() => Some(code.clone()),
        Some(Value::Number(code)) => Some(code.to_string()),
        _ => None,
    };
    ApiFailure {
        kind: kind(
            reply.status(),
            [code.as_deref(), error_type],
            &message.unwrap_or_default().to_ascii_lowercase(),
        ),
        message: message.map(str::to_owned),
        code: code.or_else(|| error_type.map(str::to_owned)),
        request_id: reply.header("x-request-id").map(str::to_owned),
    }
}

/// Code and type say most, then what only the message tells, then the status.
fn kind(status: u16, names: [Option<&str>; 2], message: &str) -> FailureKind {
    if let Some(kind) = names.into_iter().flatten().find_map(kind_of_name) {
        return kind;
    }
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    let too_long = [
        "context length",
        "context window",
        "context size",
        "prompt is too long",
    ];
    let loading = ["loading model", "model is loading", "currently loading"];
    match status {
        400 | 422 if says(&too_long) => FailureKind::ContextLength,
        503 if says(&loading) => FailureKind::ModelLoading,
        // An error in the body of a success. Gateways put the status into the code.
        200..300 => names
            .into_iter()
            .flatten()
            .find_map(|name| name.parse().ok())
            .filter(|status| (400..600).contains(status))
            .map_or(FailureKind::Unavailable, kind_of_status),
        _ => kind_of_status(status),
    }
}

/// The kind of an error code or type that means the same whatever the status.
fn kind_of_name(name: &str) -> Option<FailureKind> {
    let kind = match name {
        "insufficient_quota"
        | "billing_hard_limit_reached"
        | "billing_not_active"
        | "budget_exceeded" => FailureKind::Quota,
        _ if name.contains("spend_limit") => FailureKind::Quota,
        "context_length_exceeded" | "exceed_context_size_error" => FailureKind::ContextLength,
        "invalid_api_key" => FailureKind::Authentication,
        "model_not_found" => FailureKind::ModelNotFound,
        "content_filter" | "content_policy_violation" => FailureKind::ContentFilter,
        "invalid_prompt" => FailureKind::InvalidRequest,
        "rate_limit_exceeded" => FailureKind::RateLimited,
        "server_is_overloaded" | "slow_down" => FailureKind::Overloaded,
        "server_error" => FailureKind::Unavailable,
        _ => return None,
    };
    Some(kind)
}
