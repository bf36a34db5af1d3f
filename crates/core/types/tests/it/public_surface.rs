//! What must compile: which traits stand behind `dyn`, what crosses threads, and that everything can be
//! printed while debugging.

use std::{fmt::Debug, future::Future, sync::Arc};

use neuron_types::*;

const fn shared<T: Send + Sync + 'static>() {}
const fn debug<T: Debug>() {}
const fn error<T: std::error::Error + Send + Sync + 'static>() {}

const _: () = {
    shared::<Arc<dyn DynProvider>>();
    shared::<Arc<dyn ToolDyn>>();
    shared::<Arc<dyn Hook>>();
    shared::<Arc<dyn PermissionPolicy>>();
    shared::<Arc<dyn ProgressReporter>>();
    shared::<ToolContext>();
    shared::<RunState>();

    error::<ProviderError>();
    error::<ToolError>();
    error::<ContextError>();
    error::<HookError>();
    error::<InvalidRunId>();
    error::<Refusal>();
    error::<StepFailure>();
    error::<DurableError>();
};

// The serialised types are printed by the round trips; these are the others.
const _: () = {
    debug::<HookAction>();
    debug::<HookEvent<'_>>();
    debug::<StreamEvent>();
    debug::<StreamHandle>();
    debug::<ToolContext>();
};

/// A provider of any type is one behind `dyn`, and its futures can be spawned.
#[allow(dead_code, reason = "it only has to compile")]
fn any_provider<P: Provider + 'static>(
    provider: P,
    request: &CompletionRequest,
) -> Arc<dyn DynProvider> {
    fn spawnable<T: Send>(_: impl Future<Output = T> + Send) {}
    spawnable(provider.complete(request));
    spawnable(provider.complete_stream(request));
    Arc::new(provider)
}

/// A tool of any type is one behind `dyn`.
#[allow(dead_code, reason = "it only has to compile")]
fn any_tool<T: Tool + 'static>(tool: T) -> Arc<dyn ToolDyn> {
    Arc::new(tool)
}

/// A context strategy asks its model through whatever handle the loop gives it.
#[allow(dead_code, reason = "it only has to compile")]
async fn any_strategy<S: ContextStrategy, M: ModelHandle>(
    strategy: S,
    model: M,
    messages: Vec<Message>,
) -> Result<Vec<Message>, ContextError> {
    if strategy.should_compact(&messages, strategy.token_estimate(&messages)) {
        return strategy.compact(messages, &model).await;
    }
    Ok(messages)
}

struct Veto;

impl Hook for Veto {
    fn on_event<'a>(
        &'a self,
        event: &'a HookEvent<'a>,
    ) -> WasmBoxedFuture<'a, Result<HookAction, HookError>> {
        Box::pin(async move {
            Ok(match event {
                HookEvent::PreToolExecution { tool_name, .. } => HookAction::Skip {
                    reason: format!("not {tool_name}"),
                },
                _ => HookAction::Continue,
            })
        })
    }
}

#[tokio::test]
async fn a_hook_behind_dyn_sees_borrowed_events_and_answers() {
    let hook: Arc<dyn Hook> = Arc::new(Veto);
    let input = serde_json::json!({});
    let event = HookEvent::PreToolExecution {
        tool_name: "bash",
        input: &input,
    };
    let action = hook.on_event(&event).await.unwrap();
    assert_eq!(
        action,
        HookAction::Skip {
            reason: "not bash".into()
        }
    );
    let event = HookEvent::LoopIteration { turn: 1 };
    assert_eq!(hook.on_event(&event).await.unwrap(), HookAction::Continue);
}

#[test]
fn a_policy_behind_dyn_decides() {
    let policy: Box<dyn PermissionPolicy> = Box::new(ApprovalRules::default());
    let decision = policy.check("bash", &serde_json::Value::Null);
    assert_eq!(decision, PermissionDecision::Allow);
}

#[test]
fn the_debug_form_of_a_tool_context_names_variables_and_hides_their_values() {
    let mut context = ToolContext::default();
    context
        .environment
        .insert("API_KEY".into(), "hunter2".into());
    let text = format!("{context:?}");
    assert!(text.contains("API_KEY"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}
