use std::sync::{Arc, Mutex};

use neuron_tool::{
    ToolContext, ToolError, ToolOutput, ToolRegistry, builtin::HookRunner, neuron_tool,
};
use neuron_types::{Hook, HookAction, HookError, HookEvent, WasmBoxedFuture};
use serde_json::json;

/// Returns its text.
#[neuron_tool(read_only)]
async fn echo(text: String) -> Result<String, ToolError> {
    Ok(text)
}

/// Answers in this order, and keeps what it received.
#[derive(Clone, Default)]
struct Verdicts {
    answers: Arc<Mutex<Vec<Result<HookAction, HookError>>>>,
    told: Arc<Mutex<Vec<String>>>,
}

impl Hook for Verdicts {
    fn on_event<'a>(
        &'a self,
        event: &'a HookEvent<'a>,
    ) -> WasmBoxedFuture<'a, Result<HookAction, HookError>> {
        let told = match event {
            HookEvent::PreToolExecution { tool_name, input } => format!("{tool_name} {input}"),
            HookEvent::PostToolExecution { tool_name, output } => {
                format!("{tool_name} {}", output.is_error)
            }
            other => panic!("{other:?}"),
        };
        self.told.lock().unwrap().push(told);
        let answer = self.answers.lock().unwrap().remove(0);
        Box::pin(async { answer })
    }
}

async fn call(
    answers: Vec<Result<HookAction, HookError>>,
) -> (Result<ToolOutput, ToolError>, Vec<String>) {
    let hook = Verdicts {
        answers: Arc::new(Mutex::new(answers)),
        ..Verdicts::default()
    };
    let mut registry = ToolRegistry::new();
    registry.register(EchoTool);
    registry.add_middleware(HookRunner::new(hook.clone()));
    let output = registry
        .execute("echo", json!({"text": "a"}), &ToolContext::default())
        .await;
    let told = hook.told.lock().unwrap().clone();
    (output, told)
}

#[tokio::test]
async fn a_hook_is_told_of_the_call_and_its_result_and_may_change_the_input() {
    let input = json!({"text": "b"});
    let change = HookAction::ModifyToolInput { input };
    let (output, told) = call(vec![Ok(change), Ok(HookAction::Continue)]).await;
    assert_eq!(output.unwrap(), ToolOutput::text("b"));
    assert_eq!(told, [r#"echo {"text":"a"}"#, "echo false"]);
}

#[tokio::test]
async fn a_skipped_call_is_answered_without_the_tool() {
    let reason = "not now".to_owned();
    let (output, told) = call(vec![Ok(HookAction::Skip { reason })]).await;
    let expected = ToolOutput::error("the call was not made: not now");
    assert_eq!((output.unwrap(), told.len()), (expected, 1));
}

#[tokio::test]
async fn a_hook_ends_the_run_before_the_call_and_after_it() {
    let stop = || HookAction::Terminate {
        reason: "enough".into(),
    };
    for answers in [vec![Ok(stop())], vec![Ok(HookAction::Continue), Ok(stop())]] {
        let (output, _) = call(answers).await;
        assert!(matches!(output, Err(ToolError::Terminated(reason)) if reason == "enough"));
    }
}

#[tokio::test]
async fn a_hook_that_fails_changes_nothing() {
    let failed = || {
        Err(HookError {
            message: "no disk".into(),
            source: None,
        })
    };
    let (output, told) = call(vec![failed(), failed()]).await;
    assert_eq!((output.unwrap(), told.len()), (ToolOutput::text("a"), 2));
}
