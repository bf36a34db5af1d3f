use std::process::{Command, Output};

use neuron_harness::{Aimock, Engine, EngineServer};
use serde_json::{Value, json};

/// Returns a model. The writer writes, the critic is not content at first, the writer improves the text, the critic is
/// content.
fn model() -> Aimock {
    let answer = |to: &str, answer: Value| {
        let content = match answer {
            Value::String(text) => text,
            other => other.to_string(),
        };
        json!({"match": {"userMessage": to}, "response": {"content": content}})
    };
    Aimock::start(&json!({"fixtures": [
        answer("Write about tea.", json!("Tea is green.")),
        answer("Tea is green.", json!({"fine": false, "remark": "Not all of it."})),
        answer("Not all of it.", json!("Some tea is green.")),
        answer("Some tea is green.", json!({"fine": true, "remark": ""})),
    ]}))
}

fn run(engine: &str, model: &Aimock, variables: &[(&str, &str)]) -> Output {
    let home = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_review"))
        .args([engine, "tea"])
        .current_dir(home.path())
        .env("ANTHROPIC_API_KEY", "test-key-of-this-run")
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("NO_PROXY", "127.0.0.1")
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn check(engine: &str, variables: &[(&str, &str)]) {
    let model = model();
    let output = run(engine, &model, variables);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "Some tea is green. (mended 1 times)\n"
    );
    // Each of them was asked twice, and no more.
    assert_eq!(model.journal().len(), 4);
}

#[test]
fn two_agents_take_turns_in_memory_and_in_a_journal() {
    check("memory", &[]);
    check("local", &[]);
}

#[tokio::test]
async fn two_agents_take_turns_on_temporal() {
    let server = EngineServer::shared(Engine::Temporal).await.unwrap();
    check(
        "temporal",
        &[("TEMPORAL_ADDRESS", &server.addresses().main)],
    );
}

#[tokio::test]
async fn two_agents_take_turns_on_restate() {
    let server = EngineServer::shared(Engine::Restate).await.unwrap();
    let addresses = server.addresses();
    check(
        "restate",
        &[
            ("RESTATE_INGRESS_URL", &addresses.main),
            ("RESTATE_ADMIN_URL", &addresses.http),
        ],
    );
}
