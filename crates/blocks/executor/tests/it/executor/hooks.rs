use std::sync::{Arc, Mutex};

use neuron_config::ScriptModel;
use neuron_executor::{Executor, ExecutorBuilder};
use neuron_tool::ToolRegistry;
use neuron_types::{
    CompletionRequest, ExitReason, FailureKind, HookAction, HookError, HookEvent, RunEvent,
    RunNotice, TokenUsage, ToolEffects,
};
use serde_json::json;

use neuron_testing::effects::{SilentHook, TestHook, TestTool, call, scope, text_of};

fn builder(tool: &TestTool) -> ExecutorBuilder {
    let mut tools = ToolRegistry::new();
    tools.register_dyn(Arc::new(tool.clone()));
    let script = r#"{"turns": [{"text": "hello"}]}"#;
    Executor::builder()
        .provider("a", ScriptModel::parse(script).unwrap())
        .tools(tools)
}

fn name(event: &HookEvent<'_>) -> String {
    let text = format!("{event:?}");
    text.split([' ', '(']).next().unwrap_or_default().to_owned()
}

/// A hook that gives this answer to events of one kind and notes all events.
fn answering(
    kind: &'static str,
    action: HookAction,
    seen: &Arc<Mutex<Vec<String>>>,
) -> TestHook<impl Fn(&HookEvent<'_>) -> Result<HookAction, HookError> + Send + Sync + use<>> {
    let seen = Arc::clone(seen);
    TestHook(move |event: &HookEvent<'_>| {
        let name = name(event);
        let mine = name == kind;
        seen.lock().unwrap().push(name);
        Ok(if mine {
            action.clone()
        } else {
            HookAction::Continue
        })
    })
}

fn terminate() -> HookAction {
    HookAction::Terminate {
        reason: "out of scope".into(),
    }
}

fn skip() -> HookAction {
    HookAction::Skip {
        reason: "not now".into(),
    }
}

#[tokio::test]
async fn watch_both_sides_of_every_effect() {
    let seen = Arc::default();
    let executor = builder(&TestTool::echo())
        .hook(answering("", HookAction::Continue, &seen))
        .build();
    let request = CompletionRequest::default();
    executor.call_model(&scope(), &request).await.unwrap();
    let echo = call("echo", json!({"text": "x"}));
    executor.call_tool(&scope(), &echo).await.unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        [
            "PreLlmCall",
            "PostLlmCall",
            "PreToolExecution",
            "PostToolExecution"
        ]
    );
}

#[tokio::test]
async fn end_the_run_before_and_after_every_effect() {
    for (kind, action, calls) in [
        ("PreLlmCall", terminate(), 0),
        ("PreLlmCall", skip(), 0),
        ("PostLlmCall", terminate(), 0),
        ("PostLlmCall", skip(), 0),
        ("PreToolExecution", terminate(), 0),
        ("PostToolExecution", terminate(), 1),
        ("PostToolExecution", skip(), 1),
    ] {
        let tool = TestTool::echo();
        let executor = builder(&tool)
            .hook(answering(kind, action.clone(), &Arc::default()))
            .build();
        let failure = if kind.contains("Llm") {
            let request = CompletionRequest::default();
            executor.call_model(&scope(), &request).await.unwrap_err()
        } else {
            let echo = call("echo", json!({"text": "x"}));
            executor.call_tool(&scope(), &echo).await.unwrap_err()
        };
        assert_eq!(failure.kind, FailureKind::Terminated, "{kind} {action:?}");
        assert!(failure.message.starts_with("a hook ended the run: "));
        assert!(!failure.retryable);
        assert_eq!(tool.calls().len(), calls, "{kind} {action:?}");
    }
}

#[tokio::test]
async fn skip_a_tool_call_and_tell_the_model_why() {
    let (tool, seen) = (TestTool::echo(), Arc::default());
    let executor = builder(&tool)
        .hook(answering("PreToolExecution", skip(), &Arc::default()))
        .hook(answering("", HookAction::Continue, &seen))
        .build();
    let output = executor
        .call_tool(&scope(), &call("echo", json!({"text": "x"})))
        .await
        .unwrap();
    assert!(output.is_error);
    assert_eq!(text_of(&output), "the call was not made: not now");
    assert!(tool.calls().is_empty());
    assert!(seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn change_the_input_one_after_the_other() {
    let tool = TestTool::echo();
    let add = |letter: &'static str| {
        TestHook(move |event: &HookEvent<'_>| {
            let HookEvent::PreToolExecution { input, .. } = event else {
                return Ok(HookAction::Continue);
            };
            let text = format!("{}{letter}", input["text"].as_str().unwrap());
            Ok(HookAction::ModifyToolInput {
                input: json!({ "text": text }),
            })
        })
    };
    let executor = builder(&tool).hook(add("b")).hook(add("c")).build();
    let output = executor
        .call_tool(&scope(), &call("echo", json!({"text": "a"})))
        .await
        .unwrap();
    assert_eq!(text_of(&output), "abc");
    assert_eq!(tool.calls(), [json!({"text": "abc"})]);
}

#[tokio::test]
async fn cannot_change_the_input_past_the_schema() {
    let tool = TestTool::echo();
    let action = HookAction::ModifyToolInput {
        input: json!({"text": 1}),
    };
    let executor = builder(&tool)
        .hook(answering("PreToolExecution", action, &Arc::default()))
        .build();
    let output = executor
        .call_tool(&scope(), &call("echo", json!({"text": "x"})))
        .await
        .unwrap();
    assert!(output.is_error);
    assert!(tool.calls().is_empty());
}

#[tokio::test]
async fn are_ignored_where_they_fail_or_panic() {
    let seen = Arc::default();
    let executor = builder(&TestTool::echo())
        .hook(TestHook(|_: &HookEvent<'_>| {
            Err(HookError {
                message: "no connection".into(),
                source: None,
            })
        }))
        .hook(TestHook(|_: &HookEvent<'_>| panic!("hook bug")))
        .hook(answering("", HookAction::Continue, &seen))
        .build();
    let output = executor
        .call_tool(&scope(), &call("echo", json!({"text": "x"})))
        .await
        .unwrap();
    assert_eq!(text_of(&output), "x");
    assert_eq!(seen.lock().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn keep_a_tool_from_being_called_while_they_think() {
    let tool = TestTool::echo();
    let executor = builder(&tool).hook(SilentHook).build();
    let mut scope = scope();
    scope.effects = ToolEffects::Write;
    let failure = executor
        .call_tool(&scope, &call("echo", json!({"text": "x"})))
        .await
        .unwrap_err();
    // Nothing was called, so nothing is unknown.
    assert_eq!(failure.kind, FailureKind::Timeout);
    assert!(tool.calls().is_empty());
}

/// Silent only once the effect is done.
struct SilentAfterwards;

impl neuron_types::Hook for SilentAfterwards {
    fn on_event<'a>(
        &'a self,
        event: &'a HookEvent<'a>,
    ) -> neuron_types::WasmBoxedFuture<'a, Result<HookAction, HookError>> {
        Box::pin(async move {
            match event {
                HookEvent::PostToolExecution { .. } => std::future::pending().await,
                _ => Ok(HookAction::Continue),
            }
        })
    }
}

#[tokio::test(start_paused = true)]
async fn cannot_lose_a_result_by_being_slow() {
    let executor = builder(&TestTool::echo()).hook(SilentAfterwards).build();
    let output = executor
        .call_tool(&scope(), &call("echo", json!({"text": "kept"})))
        .await
        .unwrap();
    assert_eq!(text_of(&output), "kept");
}

#[tokio::test]
async fn are_told_what_happens_between_the_effects() {
    let seen = Arc::default();
    let executor = builder(&TestTool::echo())
        .hook(answering("LoopIteration", terminate(), &seen))
        .build();
    let run = scope().run();
    let events = [
        RunEvent::RunStarted {
            agent: "default".into(),
            model: "a/m".into(),
            prompt: "hi".into(),
            definition: String::new(),
            tags: neuron_types::RunTags::default(),
            nonce: None,
            trace: None,
            directory: None,
            signed: false,
        },
        RunEvent::MessageReceived { text: "x".into() },
        RunEvent::ContextCompacted {
            old_tokens: 10,
            new_tokens: 5,
            usage: TokenUsage::default(),
            cost_usd: None,
        },
        RunEvent::TurnEnded { turn: 1 },
        RunEvent::RunEnded {
            exit_reason: ExitReason::Complete,
            output: None,
            error: None,
            pools: None,
        },
    ];
    let notices = events.map(RunNotice::from);
    executor.observe(&run, &notices).await.unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        [
            "SessionStart",
            "ContextCompaction",
            "ExitCheck",
            "SessionEnd"
        ]
    );
    let failure = executor
        .observe(&run, &[RunEvent::TurnStarted { turn: 2 }.into()])
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Terminated);
    assert_eq!(failure.message, "a hook ended the run: out of scope");
}
