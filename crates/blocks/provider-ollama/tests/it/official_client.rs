//! Ollama's own client reads what our fake server sends, so that tests against it prove something.

use std::{env, process::Stdio};

use serde_json::{Value, json};
use tokio::process::Command;
use wiremock::{ResponseTemplate, matchers::body_partial_json};

use crate::fake_api::{FakeApi, answer, delta, done, lines, model};

const SCRIPT: &str = include_str!("../official_client.py");

async fn ask(api: &FakeApi) -> Value {
    let python = env::var_os("NEURON_PYTHON").expect(
        "NEURON_PYTHON is not set: run the tests with `cargo xtask test`, or set it to the path that \
         `cargo xtask engines clients` prints",
    );
    let output = Command::new(python)
        .args(["-c", SCRIPT, &api.uri()])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test]
async fn the_official_client_reads_our_answers_streams_models_and_errors() {
    let call = |id: &str, city: &str| json!({"id": id, "function": {"index": 0, "name": "get_weather", "arguments": {"city": city}}});
    let calls = [call("call_1", "Paris"), call("call_2", "Oslo")];
    let whole = json!({
        "role": "assistant", "content": "Let me look.", "thinking": "two cities", "tool_calls": calls,
    });
    let stream = lines(&[
        delta(json!({"content": "", "thinking": "two "})),
        delta(json!({"content": "", "thinking": "cities"})),
        delta(json!({"content": "Let me look."})),
        delta(json!({"content": "", "tool_calls": [calls[0]]})),
        delta(json!({"content": "", "tool_calls": [calls[1]]})),
        done(),
    ]);
    let api = FakeApi::silent().await;
    let ok = ResponseTemplate::new(200);
    let not_found = json!({"error": "model 'missing' not found"});
    for (body, template) in [
        (
            json!({"model": "missing"}),
            ResponseTemplate::new(404).set_body_json(not_found),
        ),
        (
            json!({"stream": true}),
            ok.clone().set_body_raw(stream, "application/x-ndjson"),
        ),
        (json!({"stream": false}), ok.set_body_json(answer(&whole))),
    ] {
        api.answers("/api/chat", body_partial_json(body), template)
            .await;
    }
    api.shows(&model(&["completion", "tools"])).await;

    let read = ask(&api).await;

    let expected = json!({
        "text": "Let me look.", "thinking": "two cities", "model": "qwen3", "done_reason": "stop",
        "input_tokens": 11, "output_tokens": 18,
        "calls": [
            {"name": "get_weather", "arguments": {"city": "Paris"}},
            {"name": "get_weather", "arguments": {"city": "Oslo"}},
        ],
    });
    assert_eq!(read[0], expected);
    assert_eq!(read[1], expected);
    assert_eq!(read[2], json!(["completion", "tools"]));
    assert_eq!(
        read[3],
        json!({"status": 404, "message": "model 'missing' not found"})
    );
}
