use std::sync::{Arc, Mutex};

use neuron_tool::{
    Next, Tool, ToolCall, ToolContext, ToolDefinition, ToolError, ToolMiddleware, ToolOutput,
    ToolRegistry, tool_middleware_fn,
};
use neuron_types::WasmBoxedFuture;
use serde_json::{Value, json};

type Log = Arc<Mutex<Vec<String>>>;

struct Recorder(Log);

impl Tool for Recorder {
    const NAME: &'static str = "recorder";
    type Args = Value;
    type Output = Value;
    type Error = ToolError;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition::default()
    }

    async fn call(&self, args: Value, _ctx: &ToolContext) -> Result<Value, ToolError> {
        self.0.lock().unwrap().push(format!("tool {args}"));
        Ok(json!("done"))
    }
}

/// Says when it is entered and left.
struct Layer(&'static str, Log);

impl ToolMiddleware for Layer {
    fn process<'a>(
        &'a self,
        call: &'a ToolCall,
        ctx: &'a ToolContext,
        next: Next<'a>,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            self.1.lock().unwrap().push(format!("> {}", self.0));
            let output = next.run(call, ctx).await;
            self.1.lock().unwrap().push(format!("< {}", self.0));
            output
        })
    }
}

fn registry() -> (ToolRegistry, Log) {
    let log = Log::default();
    let mut registry = ToolRegistry::new();
    registry.register(Recorder(Arc::clone(&log)));
    (registry, log)
}

async fn call(registry: &ToolRegistry) -> Result<ToolOutput, ToolError> {
    registry
        .execute("recorder", json!(1), &ToolContext::default())
        .await
}

#[tokio::test]
async fn layers_run_global_first_then_per_tool_then_the_tool() {
    let (mut registry, log) = registry();
    registry
        .add_tool_middleware("recorder", Layer("own 1", Arc::clone(&log)))
        .add_tool_middleware("other", Layer("other", Arc::clone(&log)))
        .add_middleware(Layer("global 1", Arc::clone(&log)))
        .add_middleware(Layer("global 2", Arc::clone(&log)))
        .add_tool_middleware("recorder", Layer("own 2", Arc::clone(&log)));
    call(&registry).await.unwrap();
    assert_eq!(
        *log.lock().unwrap(),
        [
            "> global 1",
            "> global 2",
            "> own 1",
            "> own 2",
            "tool 1",
            "< own 2",
            "< own 1",
            "< global 2",
            "< global 1",
        ]
    );
}

#[tokio::test]
async fn a_layer_that_does_not_run_next_answers_instead_of_the_tool() {
    let (mut registry, log) = registry();
    registry
        .add_middleware(tool_middleware_fn(|call, _ctx, _next| {
            Box::pin(async move { Err(ToolError::ModelRetry(format!("not {}", call.input))) })
        }))
        .add_middleware(Layer("inside", Arc::clone(&log)));
    let error = call(&registry).await.unwrap_err();
    assert_eq!(error.to_string(), "not 1");
    assert!(log.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_layer_can_change_the_arguments_and_the_result() {
    let (mut registry, log) = registry();
    registry.add_middleware(tool_middleware_fn(|call, ctx, next| {
        Box::pin(async move {
            let changed = ToolCall {
                input: json!([call.input]),
                ..call.clone()
            };
            let mut output = next.run(&changed, ctx).await?;
            output.is_error = true;
            Ok(output)
        })
    }));
    assert!(call(&registry).await.unwrap().is_error);
    assert_eq!(*log.lock().unwrap(), ["tool [1]"]);
}

#[tokio::test]
async fn a_layer_sees_the_id_of_the_call() {
    let (mut registry, log) = registry();
    let seen = Arc::clone(&log);
    registry.add_middleware(tool_middleware_fn(move |call, ctx, next| {
        seen.lock().unwrap().push(call.id.clone());
        Box::pin(async move { next.run(call, ctx).await })
    }));
    let call = ToolCall {
        id: "call_7".into(),
        name: "recorder".into(),
        input: json!(2),
        ..ToolCall::default()
    };
    registry
        .execute_call(&call, &ToolContext::default())
        .await
        .unwrap();
    assert_eq!(*log.lock().unwrap(), ["call_7", "tool 2"]);
}
