//! What errors of both APIs mean.

use std::time::Duration;

use neuron_types::{FailureKind, ProviderError};
use neuron_wires::suite::fail;
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use crate::{chat::Chat, event::event, responses::Responses};

pub(crate) const ERRORS: &str = "
400 invalid_request_error     -                                    InvalidRequest final
400 invalid_request_error     context_length_exceeded              ContextLength  final
400 invalid_request_error     invalid_prompt                       InvalidRequest final
400 exceed_context_size_error -                                    ContextLength  final
400 -                         content_filter                       ContentFilter  final
401 invalid_request_error     invalid_api_key                      Authentication final
402 -                         -                                    Quota          final
403 -                         unsupported_country_region_territory Permission     final
404 invalid_request_error     model_not_found                      ModelNotFound  final
404 -                         -                                    ModelNotFound  final
408 -                         -                                    Timeout        again
409 -                         -                                    Unavailable    again
413 -                         -                                    ContextLength  final
422 -                         -                                    InvalidRequest final
429 requests                  rate_limit_exceeded                  RateLimited    again
429 tokens                    -                                    RateLimited    again
429 insufficient_quota        insufficient_quota                   Quota          final
429 insufficient_quota        -                                    Quota          final
429 -                         billing_hard_limit_reached           Quota          final
429 -                         project_spend_limit_exceeded         Quota          final
500 server_error              -                                    Unavailable    again
502 -                         -                                    Unavailable    again
503 -                         server_is_overloaded                 Overloaded     again
503 -                         -                                    Overloaded     again
504 -                         -                                    Timeout        again
529 -                         -                                    Overloaded     again
400 -                         400                                  ContextLength  final | This model's maximum context length is 8192 tokens.
400 -                         400                                  ContextLength  final | the request exceeds the available context size
503 -                         503                                  ModelLoading   again | Loading model
";

pub(crate) const STREAM_ERRORS: &str = "
server_error          server_error            Unavailable    again
server_error          -                       Unavailable    again
-                     server_is_overloaded    Overloaded     again
tokens                rate_limit_exceeded     RateLimited    again
tokens                -                       RateLimited    again
insufficient_quota    insufficient_quota      Quota          final
invalid_request_error -                       InvalidRequest final
invalid_request_error context_length_exceeded ContextLength  final
-                     429                     RateLimited    again
x                     from_the_future         Unavailable    again
-                     invalid_api_key         Authentication final
";

pub(crate) fn body(kind: &str, code: &str, message: &str) -> Value {
    // Some servers give their status as the code.
    let code = code
        .parse::<u16>()
        .map_or_else(|_| json!(code), |code| json!(code));
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

/// Errors in streams of both APIs in the forms of compatible servers.
pub(crate) fn other_events() -> Vec<(String, FailureKind)> {
    let only_named = "event: error\ndata: {\"code\":400,\"message\":\"why\"}\n\n";
    let text = json!({"error": {"message": "why", "code": "429"}});
    vec![
        (event(&json!({"error": "why"})), FailureKind::Unavailable),
        (event(&text), FailureKind::RateLimited),
        (only_named.to_owned(), FailureKind::InvalidRequest),
    ]
}

/// The error of both clients, which must not differ.
async fn both_fail(status: u16, body: &Value, headers: &[(&str, &str)]) -> ProviderError {
    let mut template = ResponseTemplate::new(status).set_body_json(body);
    for (name, value) in headers {
        template = template.insert_header(*name, *value);
    }
    let chat = fail::<Chat>(template.clone()).await;
    let responses = fail::<Responses>(template).await;
    assert_eq!(format!("{chat:?}"), format!("{responses:?}"));
    chat
}

#[tokio::test]
async fn every_form_of_error_body_is_quoted() {
    for body in [
        json!({"error": {"message": "why"}}),
        json!({"error": "why"}),
        json!({"message": "why", "object": "error", "code": 400}),
        json!({"detail": "why"}),
        json!([{"error": {"message": "why", "code": 400}}]),
    ] {
        let error = both_fail(400, &body, &[]).await;
        assert_eq!(error.kind(), FailureKind::InvalidRequest);
        assert!(error.to_string().contains(": \"why\"; "), "{error}");
    }
    let fastapi = json!({"detail": [{"loc": ["body"], "msg": "field required"}]});
    let error = both_fail(422, &fastapi, &[]).await.to_string();
    assert!(error.contains("field required"), "{error}");
}

#[tokio::test]
async fn the_message_tells_the_wait_where_no_header_does() {
    let body = json!({"error": {"message": "Rate limit reached. Please try again in 1.5s.", "code": "rate_limit_exceeded"}});
    let asked = Duration::from_millis(1500); // Only compared, never waited for.
    for headers in [[].as_slice(), &[("retry-after", "-1")]] {
        let error = both_fail(429, &body, headers).await;
        assert_eq!(error.retry_after(), Some(asked));
    }
    let header = [("retry-after-ms", "3000")];
    let error = both_fail(429, &body, &header).await;
    assert_eq!(error.retry_after(), Some(asked * 2));
}
