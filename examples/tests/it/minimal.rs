use std::process::Command;

use neuron_harness::Aimock;
use serde_json::json;

#[test]
fn a_question_goes_in_and_its_answer_comes_out() {
    let model = Aimock::start(&json!({"fixtures": [
        {"match": {"userMessage": "What is the capital of Italy?"}, "response": {"content": "Rome."}},
    ]}));
    let output = Command::new(env!("CARGO_BIN_EXE_minimal"))
        .arg("What is the capital of Italy?")
        .env("ANTHROPIC_API_KEY", "test-key-of-this-run")
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("NO_PROXY", "127.0.0.1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Rome.\n");
    let asked = &model.journal()[0]["body"]["messages"];
    assert_eq!(asked[0]["content"], "You are a helpful assistant.");
}
