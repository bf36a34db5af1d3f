use std::{io, sync::Arc, time::Duration};

use neuron_executor::{Executor, StepScope};
use neuron_tool::ToolRegistry;
use neuron_types::{FailureKind, RunId, RunTags, ToolEffects, ToolError, ToolOutput};
use serde_json::json;

use neuron_testing::effects::{TestTool, call, preview_of, scope, text_of};

const SECOND: Duration = Duration::from_secs(1); // Only compared, never waited for.

fn executor(tools: &[&TestTool]) -> Executor {
    let mut registry = ToolRegistry::new();
    for tool in tools {
        registry.register_dyn(Arc::new((*tool).clone()));
    }
    Executor::builder().tools(registry).build()
}

type MakeError = fn() -> ToolError;

fn failing(error: MakeError) -> TestTool {
    TestTool::new("t", move |_, _| async move { Err(error()) })
}

#[tokio::test]
async fn hands_the_tool_its_surroundings() {
    let tool = TestTool::new("t", |_, context| async move {
        Ok(ToolOutput::text(format!(
            "{} {} {} {} {}",
            context.cwd.display(),
            context.run_id,
            context.step,
            context.environment["COLOUR"],
            context.idempotency_key
        )))
    });
    let mut tools = ToolRegistry::new();
    tools.register_dyn(Arc::new(tool));
    let executor = Executor::builder()
        .tools(tools)
        .cwd("/somewhere")
        .environment([("COLOUR".to_owned(), "red".to_owned())].into())
        .build();
    let mut scope = scope();
    let key = scope.idempotency_key();
    for attempt in 1..=2 {
        scope.attempt = attempt;
        let output = executor.call_tool(&scope, &call("t", json!({}))).await;
        assert_eq!(
            text_of(&output.unwrap()),
            format!("/somewhere run-1 2:1 red {key}"),
            "attempt {attempt}"
        );
    }
}

#[tokio::test]
async fn a_tool_learns_whose_the_run_is_and_the_run_at_the_top_of_its_tree() {
    let tool = TestTool::new("t", |_, context| async move {
        let origin = context.origin().unwrap();
        let RunTags { tenant, owner, .. } = origin.tags;
        let text = format!("{} {} {tenant:?} {owner:?}", origin.run, origin.root);
        Ok(ToolOutput::text(text))
    });
    let executor = executor(&[&tool]);
    let output = executor.call_tool(&scope(), &call("t", json!({}))).await;
    assert_eq!(text_of(&output.unwrap()), "run-1 run-1 None None");
    let below = StepScope {
        root: Some(RunId::new("top").unwrap()),
        tags: RunTags {
            tenant: Some("acme".to_owned()),
            owner: Some("ada".to_owned()),
            ..RunTags::default()
        },
        ..scope()
    };
    let output = executor.call_tool(&below, &call("t", json!({}))).await;
    assert_eq!(
        text_of(&output.unwrap()),
        r#"run-1 top Some("acme") Some("ada")"#
    );
}

#[tokio::test]
async fn tells_the_model_which_tools_there_are() {
    let executor = executor(&[&TestTool::echo()]);
    let output = executor.call_tool(&scope(), &call("ecko", json!({}))).await;
    let output = output.unwrap();
    assert!(output.is_error);
    assert_eq!(text_of(&output), "there is no tool \"ecko\": use echo");
}

#[tokio::test]
async fn tells_the_model_that_its_arguments_are_no_object() {
    let tool = TestTool::echo();
    let executor = executor(&[&tool]);
    for (input, found) in [
        (
            json!("{\"text\": "),
            "are not valid JSON (EOF while parsing a value at line 1 column 9)",
        ),
        (json!("[1]"), "are a string"),
        (json!([1]), "are an array"),
        (json!(null), "are missing"),
    ] {
        let output = executor.call_tool(&scope(), &call("echo", input)).await;
        let output = output.unwrap();
        assert!(output.is_error);
        assert_eq!(
            text_of(&output),
            format!(
                "the arguments {found}: call the tool again with a JSON object that fits its schema"
            )
        );
    }
    assert!(tool.calls().is_empty());
}

#[tokio::test]
async fn tells_the_model_how_its_arguments_miss_the_schema() {
    let tool = TestTool::echo();
    let output = executor(&[&tool])
        .call_tool(&scope(), &call("echo", json!({"text": 7})))
        .await
        .unwrap();
    assert!(output.is_error);
    let text = text_of(&output);
    assert!(text.contains("/text") && text.contains("string"), "{text}");
    assert!(tool.calls().is_empty());
}

#[tokio::test]
async fn turns_what_the_model_can_react_to_into_a_result() {
    let errors: [(MakeError, &str); 4] = [
        (
            || ToolError::ModelRetry("try a shorter name".into()),
            "try a shorter name",
        ),
        (
            || ToolError::NotFound("other".into()),
            "tool not found: other",
        ),
        (
            || ToolError::PermissionDenied("not on Sundays".into()),
            "permission denied: not on Sundays",
        ),
        (
            || ToolError::ExecutionFailed(Box::new(io::Error::other("disk on fire"))),
            "execution failed: disk on fire",
        ),
    ];
    for (error, text) in errors {
        let tool = failing(error);
        let output = executor(&[&tool])
            .call_tool(&scope(), &call("t", json!({})))
            .await
            .unwrap();
        assert!(output.is_error);
        assert_eq!(text_of(&output), text);
    }
}

#[tokio::test]
async fn fails_the_step_with_what_the_model_cannot_mend() {
    fn unavailable() -> ToolError {
        ToolError::Unavailable {
            message: "the database restarts".into(),
            retry_after: Some(7 * SECOND),
            source: None,
        }
    }
    let invalid: MakeError = || ToolError::InvalidInput("never".into());
    let cases: [(MakeError, ToolEffects, FailureKind, bool); 6] = [
        (
            invalid,
            ToolEffects::ReadOnly,
            FailureKind::ToolInput,
            false,
        ),
        (
            unavailable,
            ToolEffects::Idempotent,
            FailureKind::Unavailable,
            true,
        ),
        (
            unavailable,
            ToolEffects::Write,
            FailureKind::Unavailable,
            true,
        ),
        (
            || ToolError::Timeout(SECOND),
            ToolEffects::Idempotent,
            FailureKind::Timeout,
            true,
        ),
        (
            || ToolError::Timeout(SECOND),
            ToolEffects::Write,
            FailureKind::OutcomeUnknown,
            false,
        ),
        (
            || ToolError::Cancelled,
            ToolEffects::Write,
            FailureKind::Cancelled,
            false,
        ),
    ];
    for (error, effects, kind, retryable) in cases {
        let mut scope = scope();
        scope.effects = effects;
        let failure = executor(&[&failing(error)])
            .call_tool(&scope, &call("t", json!({})))
            .await
            .unwrap_err();
        assert_eq!((failure.kind, failure.retryable), (kind, retryable));
        let delay = (kind == FailureKind::Unavailable).then_some(7 * SECOND);
        assert_eq!(failure.retry_after, delay);
    }
}

#[tokio::test]
async fn turns_a_panic_of_a_tool_into_a_result() {
    let tool = TestTool::new("t", |_, _| async { panic!("index out of bounds") });
    let output = executor(&[&tool])
        .call_tool(&scope(), &call("t", json!({})))
        .await
        .unwrap();
    assert!(output.is_error);
    assert_eq!(text_of(&output), "the tool t panicked: index out of bounds");
}

#[tokio::test(start_paused = true)]
async fn does_not_know_what_became_of_a_write_that_took_too_long() {
    let tool = TestTool::new("t", |_, _| std::future::pending());
    for (effects, kind, message) in [
        (
            ToolEffects::ReadOnly,
            FailureKind::Timeout,
            "the tool t had no result within 60s",
        ),
        (
            ToolEffects::Write,
            FailureKind::OutcomeUnknown,
            "the tool t had no result within 60s: it may or may not have taken effect",
        ),
    ] {
        let mut scope = scope();
        scope.effects = effects;
        let failure = executor(&[&tool])
            .call_tool(&scope, &call("t", json!({})))
            .await
            .unwrap_err();
        assert_eq!((failure.kind, failure.message.as_str()), (kind, message));
    }
}

#[tokio::test(start_paused = true)]
async fn lets_a_tool_that_is_cut_short_say_that_it_is_done() {
    let tool = TestTool::new("t", |_, context| async move {
        context.cancellation_token.cancelled().await;
        Ok(ToolOutput::text("done after all"))
    });
    let output = executor(&[&tool])
        .call_tool(&scope(), &call("t", json!({})))
        .await
        .unwrap();
    assert_eq!(text_of(&output), "done after all");
}

#[tokio::test(start_paused = true)]
async fn drops_a_tool_that_goes_on_after_the_run_was_cancelled() {
    let dropped = Arc::new(());
    let held = Arc::clone(&dropped);
    let tool = TestTool::new("t", move |_, _| {
        let held = Arc::clone(&held);
        async move {
            std::future::pending::<()>().await;
            drop(held);
            Ok(ToolOutput::default())
        }
    });
    let scope = scope();
    let (executor, call) = (executor(&[&tool]), call("t", json!({})));
    let (result, ()) = tokio::join!(executor.call_tool(&scope, &call), async {
        scope.cancellation.cancel();
    });
    let failure = result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Cancelled);
    drop((executor, tool));
    assert_eq!(Arc::strong_count(&dropped), 1);
}

#[tokio::test]
async fn does_not_let_a_tool_cancel_the_run() {
    let tool = TestTool::new("t", |_, context| async move {
        context.cancellation_token.cancel();
        Ok(ToolOutput::text("still here"))
    });
    let scope = scope();
    executor(&[&tool])
        .call_tool(&scope, &call("t", json!({})))
        .await
        .unwrap();
    assert!(!scope.cancellation.is_cancelled());
}

#[tokio::test]
async fn cuts_a_result_that_is_too_large() {
    let mut tools = ToolRegistry::new();
    tools.register_dyn(Arc::new(TestTool::echo()));
    let builder = || Executor::builder().tools(tools.clone());
    for executor in [
        builder().max_result_bytes(10).build(),
        builder().max_result_bytes_of("echo", 10).build(),
        builder()
            .max_result_bytes(1)
            .max_result_bytes_of("echo", 10)
            .max_result_bytes_of("other", 1)
            .build(),
    ] {
        let output = executor
            .call_tool(&scope(), &call("echo", json!({"text": "0123456789abc"})))
            .await
            .unwrap();
        assert_eq!(
            serde_json::to_value(&output.content).unwrap(),
            json!([
                {"text": "0123456789"},
                {"text": "[the result was cut: 10 of 13 bytes are shown]"},
            ])
        );
    }
}

#[tokio::test]
async fn says_what_a_call_would_do_without_making_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "one\n").unwrap();
    let options = neuron_tool::BuiltinOptions::default();
    let executor = Executor::builder()
        .tools(ToolRegistry::from_iter(neuron_tool::builtin_tools(
            &options,
        )))
        .cwd(folder.path())
        .build();
    let preview = async |name: &str, input| preview_of(&executor, name, input).await;
    let write = json!({"path": "a", "content": "two\n"});
    let seen = preview("write_file", write).await.unwrap();
    assert!(seen.diff.unwrap().contains("-one\n+two\n"));
    assert_eq!(
        std::fs::read_to_string(folder.path().join("a")).unwrap(),
        "one\n"
    );
    let edit = json!({"path": "a", "old_string": "x", "new_string": "y"});
    let fails = preview("edit_file", edit).await.unwrap();
    let text = fails.text.unwrap();
    assert!(
        text.starts_with("as things are, the call would fail"),
        "{text}"
    );
    for (name, input) in [("bash", json!({"command": "true"})), ("nowhere", json!({}))] {
        assert_eq!(preview(name, input).await, None, "{name}");
    }
}
