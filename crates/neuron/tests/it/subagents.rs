use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use neuron::{
    RunFailure, SubAgentConfig, SubAgentError, SubAgentManager,
    prelude::*,
    tool::ToolRegistry,
    types::{
        CompletionRequest, CompletionResponse, ContentBlock, ExitReason, FailureKind, Message,
        Provider, ProviderError, Role, StopReason,
    },
};
use neuron_config::ScriptModel;
use tokio::sync::Barrier;

use crate::mind::Mind;

static SECRETS: AtomicUsize = AtomicUsize::new(0);

/// Reads what is not for everybody.
#[neuron_tool(read_only)]
async fn secret() -> Result<usize, ToolError> {
    Ok(SECRETS.fetch_add(1, Ordering::SeqCst))
}

/// Counts letters.
#[neuron_tool(read_only)]
async fn letters(text: String) -> Result<usize, ToolError> {
    Ok(text.len())
}

fn tools() -> ToolRegistry {
    let mut tools = ToolRegistry::new();
    tools.register(SecretTool);
    tools.register(LettersTool);
    tools
}

fn counter() -> SubAgentConfig {
    SubAgentConfig {
        system_prompt: "You count.".into(),
        tools: vec!["letters".into(), "of_nobody".into()],
        model: Some("large".into()),
        ..SubAgentConfig::default()
    }
}

fn manager(config: SubAgentConfig) -> SubAgentManager {
    let mut manager = SubAgentManager::new();
    manager.register("counter", config);
    manager
}

/// A model that calls the tool that it is not given, and then answers with what it was given and what it read.
struct Curious;

impl Provider for Curious {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let is_first = request.messages.len() == 1;
        let tools: Vec<_> = request.tools.iter().map(|tool| &tool.name).collect();
        let (block, stop_reason) = if is_first {
            let call = ContentBlock::tool_use("call-1", "secret", serde_json::json!({}));
            (call, StopReason::ToolUse)
        } else {
            let read = format!("{:?}", request.messages.last().unwrap().content);
            let text = format!("{} {tools:?} {read}", request.model);
            (ContentBlock::Text(text), StopReason::EndTurn)
        };
        Ok(CompletionResponse {
            message: Message {
                role: Role::Assistant,
                content: vec![block],
            },
            stop_reason,
            ..CompletionResponse::default()
        })
    }
}

#[tokio::test]
async fn tools_that_are_not_on_the_list_do_not_exist_for_a_sub_agent() {
    let tools = tools();
    let manager = manager(counter());
    let result = manager.spawn("counter", "Tell me.", &tools, Arc::new(Curious));
    let result = result.await.unwrap();
    assert!(
        result.text.starts_with(r#"large ["letters"]"#),
        "{}",
        result.text
    );
    assert!(result.text.contains("there is no tool"), "{}", result.text);
    assert_eq!(SECRETS.load(Ordering::SeqCst), 0, "it was not called");
    assert_eq!((result.name.as_str(), result.run.turns), ("counter", 2));
}

#[tokio::test]
async fn several_work_at_the_same_time_and_their_results_come_in_order() {
    let tools = tools();
    let barrier = Arc::new(Barrier::new(3));
    let together = Mind::new(move |told| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            Ok(format!("done: {told}"))
        }
    });
    let tasks = vec![("counter", "c"), ("counter", "a"), ("counter", "b")];
    let manager = manager(counter());
    let results = manager.spawn_parallel(tasks, &tools, Arc::new(together));
    let results = results.await.unwrap();
    let texts: Vec<_> = results.iter().map(|result| result.text.as_str()).collect();
    assert_eq!(texts, ["done: c", "done: a", "done: b"]);
}

#[tokio::test]
async fn an_unknown_name_is_an_error_and_nothing_is_started() {
    let tools = tools();
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let mind = Arc::new(Mind::new(move |told| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok(told) }
    }));
    let manager = manager(counter());
    let tasks = vec![("counter", "a"), ("nobody", "b")];
    let error = manager.spawn_parallel(tasks, &tools, mind).await;
    let error = error.unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"there is no sub-agent "nobody" (known: counter)"#
    );
    assert!(matches!(error, SubAgentError::Unknown { .. }));
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_run_that_fails_is_an_error_with_its_cause() {
    let tools = tools();
    let broken = Arc::new(Mind::new(|_| async { Err("no such model".to_owned()) }));
    let manager = manager(counter());
    let error = manager.spawn("counter", "a", &tools, broken.clone());
    let error = error.await.unwrap_err();
    let SubAgentError::Run { name, source } = &error else {
        panic!("{error}");
    };
    assert_eq!(name, "counter");
    let RunFailure::Ended { error, .. } = source else {
        panic!("{source}");
    };
    let error = error.as_ref().unwrap();
    assert_eq!(error.kind, FailureKind::InvalidRequest);
    assert_eq!(error.message, "no such model");
    let both = manager.spawn_parallel(vec![("counter", "a")], &tools, broken);
    let failed = both.await.unwrap_err();
    assert!(matches!(failed, SubAgentError::Run { .. }), "{failed}");
}

#[tokio::test]
async fn a_run_ends_at_its_limit_of_turns() {
    let tools = tools();
    let script = r#"{"turns": [
        {"tool_calls": [{"name": "letters", "input": {"text": "tea"}}]},
        {"text": "It has 3."}
    ]}"#;
    let script = Arc::new(ScriptModel::parse(script).unwrap());
    let of_turns = |turns| {
        manager(SubAgentConfig {
            max_turns: Some(turns),
            ..counter()
        })
    };
    let enough = of_turns(2);
    let enough = enough.spawn("counter", "tea", &tools, script.clone());
    assert_eq!(enough.await.unwrap().text, "It has 3.");
    let few = of_turns(1);
    let few = few.spawn("counter", "tea", &tools, script).await;
    let error = few.unwrap_err();
    let SubAgentError::Run { source, .. } = &error else {
        panic!("{error}");
    };
    let RunFailure::Ended { exit_reason, .. } = source else {
        panic!("{source}");
    };
    assert_eq!(*exit_reason, ExitReason::MaxTurns);
}

#[tokio::test]
async fn a_sub_agent_of_no_depth_is_not_started() {
    let tools = tools();
    let manager = manager(SubAgentConfig {
        max_depth: 0,
        ..counter()
    });
    let mind = Arc::new(Mind::new(|_| async { panic!("it is not asked") }));
    let error = manager.spawn("counter", "a", &tools, mind).await;
    assert!(matches!(error, Err(SubAgentError::TooDeep { .. })));
}
