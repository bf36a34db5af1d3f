use neuron_provider_http::{
    ApiFailure, Reply, is_too_long, kind_of_status, lenient, says_too_long,
};
use neuron_types::FailureKind;
use serde::Deserialize;
use serde_json::Value;

/// Reads an error answer, or an error in the body of a success.
///
/// Beside OpenAI's own form, servers send `{"error": "text"}`, `{"message": …}`, `{"detail": …}`, any of
/// these in an array, or no JSON at all.
pub(crate) fn read(reply: &Reply) -> ApiFailure {
    let body: Value = serde_json::from_slice(reply.body()).unwrap_or_default();
    read_value(&body, reply.status())
}

/// As [`read`], of a request of Chat Completions, whose servers want the reasoning back in different fields.
pub(crate) fn of_chat(reply: &Reply) -> ApiFailure {
    let mut failure = read(reply);
    let message = failure.message.as_deref().unwrap_or_default();
    if failure.kind == FailureKind::InvalidRequest && message.contains("reasoning_content") {
        failure.hint = Some(
            "set `reasoning_field` to \"reasoning_content\", or to \"\" if the server takes none"
                .to_owned(),
        );
    }
    failure
}

/// Reads an error in a stream, whose status was a success.
pub(crate) fn read_event(body: &Value) -> ApiFailure {
    read_value(body, 200)
}

fn read_value(body: &Value, status: u16) -> ApiFailure {
    let body = match body {
        Value::Array(entries) => entries.first().unwrap_or(&Value::Null),
        other => other,
    };
    if let Some(failure) = base_response(body) {
        return failure;
    }
    let error = match body.get("error") {
        Some(error @ Value::Object(_)) => error,
        _ => body,
    };
    let text = |name| error.get(name).and_then(Value::as_str);
    let message = ["message", "detail", "error", "error_message"]
        .into_iter()
        .find_map(text)
        .filter(|message| !message.is_empty());
    // An event of a stream that is an error says only that in its type.
    let error_type = text("type").or_else(|| text("error_type"));
    let error_type = error_type.filter(|kind| !matches!(*kind, "" | "error"));
    let code = match error.get("code") {
        Some(Value::String(code)) if !code.is_empty() => Some(code.clone()),
        Some(Value::Number(code)) => Some(code.to_string()),
        _ => None,
    };
    ApiFailure {
        message: message.map(str::to_owned),
        ..ApiFailure::new(kind(
            status,
            [code.as_deref(), error_type],
            &message.unwrap_or_default().to_ascii_lowercase(),
        ))
    }
    .with_code(code.or_else(|| error_type.map(str::to_owned)))
}

/// MiniMax's form of an error, which comes with a status of success.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct BaseResponse {
    #[serde(default, deserialize_with = "lenient")]
    status_code: u64,
}

impl BaseResponse {
    /// Returns whether it is one: a success has the form too.
    pub(crate) const fn failed(&self) -> bool {
        self.status_code != 0
    }
}

/// Reads such an error.
fn base_response(body: &Value) -> Option<ApiFailure> {
    let base = body.get("base_resp")?;
    let code = base.get("status_code").and_then(Value::as_u64)?;
    let message = base.get("status_msg").and_then(Value::as_str);
    let message = message.filter(|message| !message.is_empty());
    let kind = match code {
        0 => return None,
        _ if message.is_some_and(says_too_long) => FailureKind::ContextLength,
        1001 => FailureKind::Timeout,
        1002 | 1041 => FailureKind::RateLimited,
        1004 | 2049 => FailureKind::Authentication,
        1008 | 2056 => FailureKind::Quota,
        1026 | 1027 => FailureKind::ContentFilter,
        1039 => FailureKind::ContextLength,
        2013 => FailureKind::InvalidRequest,
        _ => FailureKind::Unavailable,
    };
    let failure = ApiFailure {
        message: message.map(str::to_owned),
        ..ApiFailure::new(kind)
    };
    Some(failure.with_code(Some(code.to_string())))
}

/// Returns the kind of a failure: code and type say most, then the message, then the status.
fn kind(status: u16, names: [Option<&str>; 2], message: &str) -> FailureKind {
    if let Some(kind) = names.into_iter().flatten().find_map(kind_of_name) {
        return kind;
    }
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    let loading = ["loading model", "model is loading", "currently loading"];
    // An error in the body of a success. Gateways put the status into the code.
    let status = match status {
        200..300 => names
            .into_iter()
            .flatten()
            .find_map(|name| name.parse().ok())
            .filter(|status| (400..600).contains(status)),
        other => Some(other),
    };
    match status {
        Some(400 | 413 | 422 | 500) if says_too_long(message) => FailureKind::ContextLength,
        Some(503) if says(&loading) => FailureKind::ModelLoading,
        Some(status) => kind_of_status(status),
        None if says_too_long(message) => FailureKind::ContextLength,
        None => match names.into_iter().flatten().find_map(kind_of_type) {
            Some(kind) => kind,
            // It does not even say that it failed.
            None if message.is_empty() && names == [None, None] => FailureKind::MalformedAnswer,
            None if names == [None, None] => {
                kind_of_words(message).unwrap_or(FailureKind::Unavailable)
            }
            None => FailureKind::Unavailable,
        },
    }
}

/// Returns the kind of an error that is nothing but words, with a status of success. LM Studio reports a path that does
/// not exist like this.
fn kind_of_words(message: &str) -> Option<FailureKind> {
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    let is_about_model = message.contains("model");
    if says(&["unexpected endpoint", "unknown endpoint", "no such route"])
        || is_about_model && says(&["not found", "does not exist", "no such", "unknown model"])
    {
        Some(FailureKind::ModelNotFound)
    } else if says(&["api key", "api_key", "unauthorized", "authentication"]) {
        Some(FailureKind::Authentication)
    } else if says(&["rate limit", "too many requests"]) {
        Some(FailureKind::RateLimited)
    } else {
        None
    }
}

/// Returns the kind of an error type where there is no status.
fn kind_of_type(name: &str) -> Option<FailureKind> {
    let kind = match name {
        "invalid_request_error" => FailureKind::InvalidRequest,
        "authentication_error" => FailureKind::Authentication,
        "permission_error" => FailureKind::Permission,
        "not_found_error" => FailureKind::ModelNotFound,
        "rate_limit_error" | "requests" | "tokens" => FailureKind::RateLimited,
        "overloaded_error" => FailureKind::Overloaded,
        _ => return None,
    };
    Some(kind)
}

/// Returns the kind of an error code or type that means the same whatever the status.
fn kind_of_name(name: &str) -> Option<FailureKind> {
    let kind = match name {
        "insufficient_quota"
        | "billing_hard_limit_reached"
        | "billing_not_active"
        | "budget_exceeded" => FailureKind::Quota,
        _ if name.contains("spend_limit") => FailureKind::Quota,
        _ if is_too_long(name) => FailureKind::ContextLength,
        // GLM's.
        "1113" => FailureKind::Quota,
        "1301" => FailureKind::ContentFilter,
        "invalid_api_key" => FailureKind::Authentication,
        "model_not_found" => FailureKind::ModelNotFound,
        "content_filter" | "content_policy_violation" => FailureKind::ContentFilter,
        "invalid_prompt" => FailureKind::InvalidRequest,
        "rate_limit_exceeded" => FailureKind::RateLimited,
        // DashScope's, also of what it calls a quota: that of a minute.
        _ if name.starts_with("Throttling") => FailureKind::RateLimited,
        "server_is_overloaded" | "slow_down" => FailureKind::Overloaded,
        "server_error" => FailureKind::Unavailable,
        _ => return None,
    };
    Some(kind)
}
