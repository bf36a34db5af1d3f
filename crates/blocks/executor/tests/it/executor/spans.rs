use std::{
    io,
    sync::{Arc, Mutex},
};

use neuron_config::ScriptModel;
use neuron_executor::Executor;
use neuron_tool::ToolRegistry;
use neuron_types::{
    CompletionRequest, Message, RequestHead, ToolContext, ToolOutput, TraceContext,
};
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
    // With a single subscriber, `tracing` would let whichever thread comes to a span first decide for all threads
    // whether there is a listener, and the other tests' threads have no subscriber.
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

/// What others see of a call: they are the only ones who see it where it counts.
#[tokio::test]
async fn others_are_told_of_a_span_of_the_runs_own_trace() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let mut tools = ToolRegistry::new();
    let tool = TestTool::new("probe", {
        let told = Arc::clone(&told);
        move |_, ctx: ToolContext| {
            told.lock().unwrap().push(ctx.trace);
            async { Ok(ToolOutput::text("seen")) }
        }
    });
    tools.register_dyn(Arc::new(tool));
    let executor = Executor::builder().tools(tools).build();
    let client = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let given = TraceContext::from_headers(client, Some("a=1"));
    let of = |given: &Option<TraceContext>| neuron_executor::StepScope {
        trace: given.clone(),
        nonce: Some(uuid::Uuid::from_u128(7)),
        ..scope()
    };
    let probe = call("probe", json!({}));
    // Nothing is recorded here: what the client said is passed on, or nothing.
    for given in [given.clone(), None] {
        executor.call_tool(&of(&given), &probe).await.unwrap();
        assert_eq!(told.lock().unwrap().pop().unwrap(), given);
    }
    let is_first = neuron_executor::record_traces(|trace_id| !trace_id.starts_with('f'));
    assert!(is_first && !neuron_executor::record_traces(|_| true));
    for given in [given, None] {
        let scope = of(&given);
        executor.call_tool(&scope, &probe).await.unwrap();
        let own = told.lock().unwrap().pop().unwrap().unwrap();
        let turn = scope.spans().of_turn(2);
        assert_eq!(own.trace_id(), turn.trace_id());
        assert_ne!(own.span_id(), turn.span_id());
        assert!(own.is_sampled().is_some());
        executor.call_tool(&scope, &probe).await.unwrap();
        let again = told.lock().unwrap().pop().unwrap().unwrap();
        assert_ne!(own.span_id(), again.span_id(), "each attempt is one");
        if let Some(given) = given {
            assert_eq!(own.tracestate(), Some("a=1"));
            assert_eq!(own.trace_id(), given.trace_id());
        }
    }
}
