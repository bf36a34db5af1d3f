use std::process::Command;

use neuron_harness::{Aimock, Engine, EngineServer};
use serde_json::json;

/// Returns a model. As the lead it has a topic explored, reads what was found, and hands its run over; as the editor it
/// ends the run.
fn model() -> Aimock {
    let calls = |id: &str, name: &str, arguments: serde_json::Value| json!({"toolCalls": [{"id": id, "name": name, "arguments": arguments}]});
    Aimock::start(&json!({"fixtures": [
        {"match": {"userMessage": "List what tea is."}, "response": {"content": "Leaves, water."}},
        {"match": {"userMessage": "Write about tea.", "hasToolResult": false},
         "response": calls("call_1", "agent_explorer", json!({"prompt": "List what tea is."}))},
        {"match": {"userMessage": "Write about tea.", "toolCallId": "call_1"},
         "response": calls("call_2", "transfer_to_editor", json!({"reason": "All is found."}))},
        {"match": {"userMessage": "Write about tea.", "toolCallId": "call_2"},
         "response": {"content": "Tea is leaves in water."}},
    ]}))
}

fn check(engine: &str, variables: &[(&str, &str)]) {
    let (model, home) = (model(), tempfile::tempdir().unwrap());
    let output = Command::new(env!("CARGO_BIN_EXE_lead"))
        .args([engine, "tea"])
        .current_dir(home.path())
        .env("ANTHROPIC_API_KEY", "test-key-of-this-run")
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("NO_PROXY", "127.0.0.1")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    assert!(output.status.success(), "{engine}: {output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said, "Tea is leaves in water.\n", "{engine}");
    // The lead is asked twice, the explorer and the editor once each.
    assert_eq!(model.journal().len(), 4, "{engine}");
}

#[test]
fn the_others_of_a_lead_work_in_memory_and_in_a_journal() {
    check("memory", &[]);
    check("local", &[]);
}

#[tokio::test]
async fn the_others_of_a_lead_work_on_temporal() {
    let server = EngineServer::shared(Engine::Temporal).await.unwrap();
    check(
        "temporal",
        &[("TEMPORAL_ADDRESS", &server.addresses().main)],
    );
}

#[tokio::test]
async fn the_others_of_a_lead_work_on_restate() {
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
