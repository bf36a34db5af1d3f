//! Anthropic's own client reads what our fake server sends, so that tests against it prove something.

use std::{env, process::Stdio};

use serde_json::{Value, json};
use tokio::process::Command;
use wiremock::{
    Mock, ResponseTemplate,
    matchers::{body_partial_json, method, path},
};

use crate::{
    fake_api::FakeApi,
    wire::{answers, message, model},
    wire_stream::streamed,
};

const SCRIPT: &str = include_str!("../official_client.py");

/// Runs the script against the server, and returns what it prints.
async fn ask(api: &FakeApi, names: &[&str]) -> Vec<Value> {
    let python = env::var_os("NEURON_PYTHON").expect(
        "NEURON_PYTHON is not set: run the tests with `cargo xtask test`, or set it to the path that \
         `cargo xtask engines clients` prints",
    );
    let output = Command::new(python)
        .args(["-c", SCRIPT, &api.server().uri()])
        .args(names)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let parsed = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    parsed.collect()
}

#[tokio::test]
async fn the_official_client_reads_every_answer_and_its_stream_as_they_were_meant() {
    let answers = answers();
    let names: Vec<_> = answers.iter().map(|(name, _)| *name).collect();
    let api = FakeApi::saying(answers.clone(), 5).await;

    let read = ask(&api, &names).await;

    assert_eq!(read.len(), answers.len());
    for ((name, sent), read) in answers.iter().zip(read) {
        assert_eq!(read["name"], *name);
        assert_eq!(&read["whole"], sent, "{name}");
        for field in [
            "content",
            "stop_reason",
            "stop_sequence",
            "stop_details",
            "context_management",
        ] {
            // Without a stream a null is there, and with one it is not always.
            let without_nulls = |value: &Value| {
                value
                    .to_string()
                    .replace(",\"citations\":null", "")
                    .replace("\"citations\":null,", "")
            };
            assert_eq!(
                without_nulls(&read["streamed"][field]),
                without_nulls(&sent[field]),
                "{name}: {field}"
            );
        }
        assert_eq!(
            read["streamed"]["usage"]["output_tokens"], sent["usage"]["output_tokens"],
            "{name}"
        );
    }
}

#[tokio::test]
async fn the_official_client_reads_our_errors_as_the_same_errors() {
    let api = FakeApi::saying(vec![], 5).await;
    let errors = [
        (400, "invalid_request_error", "BadRequestError"),
        (401, "authentication_error", "AuthenticationError"),
        (403, "permission_error", "PermissionDeniedError"),
        (404, "not_found_error", "NotFoundError"),
        (413, "request_too_large", "ContentTooLargeError"),
        (429, "rate_limit_error", "RateLimitError"),
        (500, "api_error", "InternalServerError"),
        (529, "overloaded_error", "OverloadedError"),
    ];
    for (status, kind, _) in errors {
        let body = json!({"type": "error", "request_id": "req_1", "error": {"type": kind, "message": "why"}});
        Mock::given(method("POST"))
            .and(path("/v1/messages"))
            .and(body_partial_json(json!({"model": kind})))
            .respond_with(ResponseTemplate::new(status).set_body_json(body))
            .with_priority(1)
            .mount(api.server())
            .await;
    }
    let whole = streamed(
        &message(json!([{"type": "text", "text": "Hi."}]), "end_turn"),
        1,
    );
    let cut = whole.find("event: content_block_stop").unwrap();
    let error = json!({"type": "error", "request_id": "req_1",
        "error": {"type": "overloaded_error", "message": "Overloaded"}});
    Mock::given(method("POST"))
        .and(path("/v1/messages"))
        .and(body_partial_json(
            json!({"model": "in_the_stream", "stream": true}),
        ))
        .respond_with(ResponseTemplate::new(200).set_body_raw(
            format!("{}event: error\ndata: {error}\n\n", &whole[..cut]),
            "text/event-stream",
        ))
        .with_priority(1)
        .mount(api.server())
        .await;

    let mut names: Vec<_> = errors
        .iter()
        .map(|(_, kind, _)| format!("!{kind}"))
        .collect();
    names.push("~in_the_stream".into());
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let read = ask(&api, &names).await;

    for ((status, kind, class), read) in errors.iter().zip(&read) {
        assert_eq!(read["status"], *status, "{kind}");
        assert_eq!(read["type"], *kind);
        assert_eq!(read["error"], *class, "{kind}");
    }
    assert_eq!(read.last().unwrap()["type"], "overloaded_error");
}

#[tokio::test]
async fn the_official_client_reads_counts_and_models() {
    let api = FakeApi::saying(vec![], 5).await;
    Mock::given(method("POST"))
        .and(path("/v1/messages/count_tokens"))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({"input_tokens": 2095})))
        .mount(api.server())
        .await;
    let model = model("claude-opus-5-5");
    Mock::given(method("GET"))
        .and(path("/v1/models/claude-opus-5-5"))
        .respond_with(ResponseTemplate::new(200).set_body_json(model))
        .mount(api.server())
        .await;
    let read = ask(&api, &["#claude-opus-5-5"]).await;
    assert_eq!(read[0]["input_tokens"], 2095);
    assert_eq!(read[0]["model"]["id"], "claude-opus-5-5");
    assert_eq!(read[0]["model"]["max_tokens"], 128_000);
}
