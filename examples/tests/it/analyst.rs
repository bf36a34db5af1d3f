use std::{
    io::Write as _,
    process::{Command, Output, Stdio},
};

use neuron_harness::Aimock;
use serde_json::json;

/// Returns a model with a script.
fn model() -> Aimock {
    let question = "How many rows has the table runs?";
    Aimock::start(&json!({"fixtures": [
        {"match": {"userMessage": question, "hasToolResult": false}, "response": {
            "content": "I count them.",
            "toolCalls": [{"id": "call_1", "name": "count_rows", "arguments": {"table": "runs"}}],
        }},
        {"match": {"userMessage": question, "toolCallId": "call_1"}, "response": {"content": "It has three rows."}},
    ]}))
}

fn analyst(model: &Aimock, home: &std::path::Path, answer: &str) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_analyst"))
        .current_dir(home)
        .env("ANTHROPIC_API_KEY", "test-key-of-this-run")
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("NO_PROXY", "127.0.0.1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    program
        .stdin
        .take()
        .unwrap()
        .write_all(answer.as_bytes())
        .unwrap();
    program.wait_with_output().unwrap()
}

#[test]
fn streams_asks_and_answers() {
    let (model, home) = (model(), tempfile::tempdir().unwrap());
    let output = analyst(&model, home.path(), "y\n");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(said.contains("I count them."), "{said}");
    assert!(
        said.contains(r#"may it call count_rows with {"table":"runs"}?"#),
        "{said}"
    );
    assert!(said.ends_with("It has three rows.\n"), "{said}");
    assert_eq!(model.journal().len(), 2);
}

#[test]
fn a_run_that_is_over_is_shown_again_and_not_made_again() {
    let (model, home) = (model(), tempfile::tempdir().unwrap());
    assert!(analyst(&model, home.path(), "y\n").status.success());
    let again = analyst(&model, home.path(), "");
    assert!(String::from_utf8_lossy(&again.stdout).ends_with("It has three rows.\n"));
    assert_eq!(model.journal().len(), 2);
}
