//! OpenAI's own client makes of our fixtures what ours does: they are not a language of our own.

use std::env;

use neuron_types::{CompletionResponse, ContentBlock};
use neuron_wires::{Api, event_stream, whole};
use serde_json::{Value, json};
use tokio::process::Command;
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{body_partial_json, path_regex},
};

use crate::{chat::Chat, fixtures, responses::Responses};

/// Returns what the official client prints of each answer, whole and streamed.
async fn official<A: Api>(api: &str, answers: &[(&str, Value)]) -> Vec<Value> {
    let server = MockServer::start().await;
    for (index, (_, answer)) in answers.iter().enumerate() {
        let path = format!("^/{index}/");
        Mock::given(path_regex(path.as_str()))
            .and(body_partial_json(json!({"stream": true})))
            .respond_with(event_stream::<A>(A::events(answer, 4).concat() + A::MARKER))
            .with_priority(1)
            .mount(&server)
            .await;
        Mock::given(path_regex(path.as_str()))
            .respond_with(ResponseTemplate::new(200).set_body_json(answer))
            .mount(&server)
            .await;
    }
    let python = env::var_os("NEURON_PYTHON").expect(
        "NEURON_PYTHON is not set: run the tests with `cargo xtask test`, or set it to the path that \
         `cargo xtask engines clients` prints",
    );
    let output = Command::new(python)
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/it/official_client.py"
        ))
        .args([&server.uri(), api, &answers.len().to_string()])
        .env("NO_PROXY", "127.0.0.1")
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    let printed = String::from_utf8(output.stdout).unwrap();
    let lines = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

/// The same of what our client made of an answer.
fn ours(response: &CompletionResponse) -> Value {
    let calls = response
        .message
        .content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::ToolUse {
                id,
                name,
                input,
                extra,
                ..
            } => {
                let raw = extra.as_ref().and_then(|extra| extra["arguments"].as_str());
                let arguments = raw
                    .or(input.as_str())
                    .map_or_else(|| input.to_string(), str::to_owned);
                Some(json!({"id": id, "name": name, "arguments": arguments}))
            }
            _ => None,
        });
    json!({
        "text": response.message.text(),
        "calls": calls.collect::<Vec<_>>(),
        "input_tokens": response.usage.input_tokens,
    })
}

async fn reads_the_same<A: Api>(api: &str, answers: &[(&str, Value)]) {
    let official = official::<A>(api, answers).await;
    assert_eq!(official.len(), 2 * answers.len());
    for ((name, answer), pair) in answers.iter().zip(official.chunks(2)) {
        let mut ours = ours(&whole::<A>(answer).await.unwrap());
        for theirs in pair {
            // No arguments and an empty object mean the same.
            if theirs["calls"][0]["arguments"] == "" {
                ours["calls"][0]["arguments"] = json!("");
            }
            assert_eq!(theirs, &ours, "{name}");
        }
    }
}

#[tokio::test]
async fn the_official_client_reads_our_chat_fixtures_alike() {
    reads_the_same::<Chat>("chat", &fixtures::chat_answers()).await;
}

#[tokio::test]
async fn the_official_client_reads_our_responses_fixtures_alike() {
    reads_the_same::<Responses>("responses", &fixtures::responses_answers()).await;
}
