use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use neuron_harness::{Aimock, Engine, EngineServer};
use serde_json::json;

const TASK: &str = "Deploy the new feature to staging";

/// Returns a model that has the code explored, deploys, and says more than it should.
fn model() -> Aimock {
    let call = |id: &str, name: &str, arguments: serde_json::Value| json!({"toolCalls": [{"id": id, "name": name, "arguments": arguments}]});
    let token = format!("ghp_{}", "x".repeat(36));
    Aimock::start(&json!({"fixtures": [
        {"match": {"userMessage": "What is new?"}, "response": {"content": "A flag."}},
        {"match": {"userMessage": TASK, "hasToolResult": false},
         "response": call("call_1", "agent_explorer", json!({"prompt": "What is new?"}))},
        {"match": {"userMessage": TASK, "toolCallId": "call_1"},
         "response": call("call_2", "deploy", json!({"stage": "staging"}))},
        {"match": {"userMessage": TASK, "toolCallId": "call_2"},
         "response": {"content": format!("The flag is deployed, with {token}.")}},
    ]}))
}

fn production(engine: &str, model: &Aimock, folder: &Path, variables: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_production"))
        .args([engine, "staging"])
        .current_dir(folder)
        .env("ANTHROPIC_API_KEY", "test-key-of-this-run")
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("NO_PROXY", "127.0.0.1")
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn check(engine: &str, folder: &Path, variables: &[(&str, &str)]) -> Aimock {
    let model = model();
    let output = production(engine, &model, folder, variables);
    assert!(output.status.success(), "{engine}: {output:?}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "[tool: agent_explorer]\n[tool: deploy]\nThe flag is deployed, with [secret].\n",
        "{engine}"
    );
    // The deployer is asked three times, the explorer once.
    assert_eq!(model.journal().len(), 4, "{engine}");
    model
}

#[test]
fn a_run_in_the_journal_is_followed_and_keeps_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    drop(check("local", folder.path(), &[]));
    // The journal contains what replaced the secret, and not the secret.
    let files = fs::read_dir(folder.path().join(".neuron")).unwrap();
    let files = files.filter_map(|file| fs::read(file.unwrap().path()).ok());
    let kept: Vec<String> = files
        .map(|file| String::from_utf8_lossy(&file).into_owned())
        .collect();
    assert!(kept.iter().any(|file| file.contains("with [secret].")));
    assert!(!kept.iter().any(|file| file.contains("ghp_")));
}

#[test]
fn a_run_in_the_journal_is_taken_step_by_step() {
    let folder = tempfile::tempdir().unwrap();
    drop(check("steps", folder.path(), &[]));
}

#[tokio::test]
async fn a_run_on_temporal_is_followed_and_keeps_what_was_said() {
    let server = EngineServer::shared(Engine::Temporal).await.unwrap();
    let address = &server.addresses().main;
    let folder = tempfile::tempdir().unwrap();
    let variables = [("TEMPORAL_ADDRESS", address.as_str())];
    let model = check("temporal", folder.path(), &variables);
    assert!(folder.path().join("sessions").is_dir());
    // A second start continues the same run, and nothing is done again.
    let again = production("temporal", &model, folder.path(), &variables);
    assert!(again.status.success(), "{again:?}");
    let said = String::from_utf8_lossy(&again.stdout);
    assert!(
        said.ends_with("The flag is deployed, with [secret].\n"),
        "{said}"
    );
    assert_eq!(model.journal().len(), 4);
}
