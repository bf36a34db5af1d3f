use std::process::Command;

use neuron_harness::{Aimock, Engine, EngineServer};
use serde_json::json;

#[tokio::test]
async fn an_invoice_goes_in_and_a_verdict_comes_out() {
    let server = EngineServer::shared(Engine::Temporal).await.unwrap();
    let invoice = r#"{"cents":4200,"number":"17"}"#;
    let model = Aimock::start(&json!({"fixtures": [
        {"match": {"userMessage": "The answer is not of the form"}, "response": {
            "content": r#"{"paid": true, "reason": "below the limit"}"#,
        }},
        {"match": {"userMessage": invoice, "hasToolResult": false}, "response": {
            "toolCalls": [{"id": "call_1", "name": "charge", "arguments": {"number": "17"}}],
        }},
        // This is not JSON: the model is asked once more.
        {"match": {"userMessage": invoice, "toolCallId": "call_1"}, "response": {"content": "It is paid."}},
    ]}));
    let output = Command::new(env!("CARGO_BIN_EXE_invoices"))
        .env("ANTHROPIC_API_KEY", "test-key-of-this-run")
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("TEMPORAL_ADDRESS", &server.addresses().main)
        .env("NO_PROXY", "127.0.0.1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "paid: below the limit\n"
    );
    assert_eq!(model.journal().len(), 3);
}
