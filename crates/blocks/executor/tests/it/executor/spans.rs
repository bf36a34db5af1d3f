use std::{
    io,
    sync::{Arc, Mutex},
};

use neuron_config::ScriptModel;
use neuron_executor::Executor;
use neuron_tool::ToolRegistry;
use neuron_types::{CompletionRequest, Message, RequestHead};
use serde_json::json;
use tracing::Dispatch;
use tracing_subscriber::fmt::format::FmtSpan;

use neuron_testing::effects::{TestTool, call, scope};

const SCRIPT: &str = r#"{"turns": [
    {"text": "hidden answer", "usage": {"input_tokens": 12, "output_tokens": 3}}
]}"#;

#[tokio::test]
async fn tell_of_effects_without_their_content() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_writer({
            let log = log.clone();
            move || log.clone()
        })
        .with_ansi(false)
        .with_span_events(FmtSpan::CLOSE)
        .finish();
    // With a single subscriber, `tracing` would let whichever thread comes to a span first decide for all
    // threads whether anybody listens, and the other tests' threads have no subscriber.
    let _second = Dispatch::new(tracing_subscriber::registry());
    let guard = tracing::subscriber::set_default(subscriber);
    let mut tools = ToolRegistry::new();
    tools.register_dyn(Arc::new(TestTool::echo()));
    let executor = Executor::builder()
        .provider("a", ScriptModel::parse(SCRIPT).unwrap())
        .tools(tools)
        .build();
    let request =
        CompletionRequest::new(RequestHead::new("m1"), vec![Message::user("hidden prompt")]);
    executor.call_model(&scope(), &request).await.unwrap();
    let echo = call("echo", json!({"text": "hidden argument"}));
    executor.call_tool(&scope(), &echo).await.unwrap();
    drop(guard);

    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for part in [
        "llm_call",
        "gen_ai.operation.name=\"chat\"",
        "gen_ai.provider.name=\"a\"",
        "gen_ai.request.model=\"m1\"",
        "gen_ai.usage.input_tokens=12",
        "gen_ai.usage.output_tokens=3",
        "run_id=run-1",
        "tool_execution",
        "tool_name=\"echo\"",
        "duration_ms=",
        "gen_ai.operation.name=\"execute_tool\"",
        "gen_ai.tool.call.id=\"call-1\"",
    ] {
        assert!(log.contains(part), "{part} in {log}");
    }
    assert!(!log.contains("hidden"), "{log}");
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
