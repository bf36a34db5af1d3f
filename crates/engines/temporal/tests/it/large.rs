//! Payloads and runs that are too large for Temporal as they are.

use neuron_engine::{RunClient as _, RunClientError};
use neuron_executor::Executor;
use neuron_testing::{NotedModel, NotedTool, input_of, noted_agent};
use neuron_tool::ToolRegistry;
use neuron_types::{
    AgentSpec, ContentBlock, ContentItem, ExitReason, FailureKind, Message, Placement, RunId,
    RunInput, RunPhase, UserMessage,
};
use serde_json::json;

use crate::{
    continue_as_new::{place_reads, read, script, without_limits},
    stage::Stage,
};

/// Returns an executor as for an agent file with a large `tool_output_bytes`.
fn unbounded(model: &NotedModel, tool: &NotedTool) -> Executor {
    let mut registry = ToolRegistry::new();
    registry.register_dyn(std::sync::Arc::new(tool.clone()));
    Executor::builder()
        .provider("script", model.clone())
        .tools(registry)
        .max_result_bytes(100_000_000)
        .build()
}

fn results(conversation: &[Message]) -> Vec<Vec<ContentItem>> {
    let blocks = conversation.iter().flat_map(|message| &message.content);
    let results = blocks.filter_map(|block| match block {
        ContentBlock::ToolResult(result) => Some(result.content.clone()),
        _ => None,
    });
    results.collect()
}

fn length(items: &[ContentItem]) -> usize {
    let texts = items.iter().map(|item| match item {
        ContentItem::Text(text) => text.len(),
        _ => 0,
    });
    texts.sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_turns_of_sixty_four_kilobytes_complete() {
    const TURNS: usize = 100;
    let stage = Stage::set().await;
    let (spec, executor) = noted_agent(
        &NotedModel::new(&script(TURNS)),
        &[read("x".repeat(65_536))],
    );
    let worker = stage.worker(&executor);
    let start = std::time::Instant::now();
    let output = stage.run("large", &without_limits(&spec)).await;
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    let histories = stage.histories(&output.run_id).await;
    println!("{:?}: {histories:?}", start.elapsed());
    let bytes: usize = histories.iter().map(|history| history.bytes).sum();
    assert!(bytes < 16_000_000, "{bytes} bytes");
    let conversation = stage.client.conversation(&output.run_id).await.unwrap();
    let results = results(&conversation);
    assert_eq!(results.len(), TURNS - 1);
    assert!(results.iter().all(|result| length(result) == 65_536));
    let events = stage.client.events_after(&output.run_id, 0).await.unwrap();
    assert_eq!(events.last().unwrap().seq, events.len() as u64);
    drop(worker);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_over_the_limit_reaches_the_model_cut_with_a_note() {
    let script = json!({"turns": [
        {"tool_calls": [{"name": "read", "input": {}}]},
        {"tool_calls": [{"name": "read", "input": {}}]},
        {"text": "Done."},
    ]});
    let tool = read("x".repeat(2_200_000));
    let model = NotedModel::new(&script);
    let (mut spec, bounded) = noted_agent(&model, std::slice::from_ref(&tool));
    for (name, executor) in [
        ("bounded", bounded),
        ("unbounded", unbounded(&model, &tool)),
    ] {
        let stage = Stage::set().await;
        let _worker = stage.worker(&executor);
        for (placed, placement) in [("local", Placement::Local), ("normal", Placement::Activity)] {
            place_reads(&mut spec, placement);
            let output = stage.run(&format!("{name}-{placed}"), &spec).await;
            assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
            let conversation = stage.client.conversation(&output.run_id).await.unwrap();
            for result in results(&conversation) {
                let note = json!(result.last().unwrap()).to_string();
                assert!(note.contains("of 2200000 bytes are shown"), "{note}");
                assert!(length(&result) >= 200_000, "{}", length(&result));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_large_results_in_one_turn_reach_the_model_whole() {
    let calls: Vec<_> = (0..20)
        .map(|n| json!({"name": "read", "input": {"n": n}}))
        .collect();
    let script = json!({"turns": [{"tool_calls": calls}, {"text": "Done."}]});
    let tool = read("x".repeat(250_000));
    let model = NotedModel::new(&script);
    let (mut spec, executor) = noted_agent(&model, std::slice::from_ref(&tool));
    let stage = Stage::set().await;
    for (name, placement, cache) in [
        ("local", Placement::Local, 64 << 20),
        ("normal", Placement::Activity, 0),
    ] {
        let _worker = stage.worker_with(&executor, move |builder| {
            builder.transcript_cache_bytes(cache)
        });
        place_reads(&mut spec, placement);
        let output = stage.run(name, &without_limits(&spec)).await;
        assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
        let conversation = stage.client.conversation(&output.run_id).await.unwrap();
        let results = results(&conversation);
        assert_eq!(results.len(), 20);
        assert!(results.iter().all(|result| length(result) == 250_000));
        println!("{name}: {:?}", stage.histories(&output.run_id).await);
        stage.replays_all(&output.run_id).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_over_the_limit_fails_the_run_and_says_why() {
    let script = json!({"turns": [{"text": "x".repeat(2_200_000)}]});
    let (spec, executor) = noted_agent(&NotedModel::new(&script), &[]);
    let stage = Stage::set().await;
    let _worker = stage.worker(&executor);
    let output = stage.run("verbose", &spec).await;
    assert_eq!(output.state, RunPhase::Failed, "{output:?}");
    let error = output.error.unwrap();
    assert_eq!(error.kind, FailureKind::InvalidRequest);
    assert!(error.message.contains("max_tokens"), "{}", error.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_to_be_sent_is_refused_here() {
    let (spec, _) = noted_agent(&NotedModel::new(&json!({"turns": [{"text": "Hi."}]})), &[]);
    let stage = Stage::set().await;
    let run = RunId::new("prompted").unwrap();
    let large = RunInput {
        prompt: Message::user("x".repeat(2_200_000)),
        ..input_of(&spec)
    };
    let text = "x".repeat(2_200_000);
    let message = UserMessage { text };
    for result in [
        stage.client.start(&run, large.into()).await,
        stage.client.send(&run, message).await,
        stage
            .client
            .signal(&run, "any", json!("x".repeat(2_200_000)))
            .await,
    ] {
        assert!(
            matches!(result, Err(RunClientError::TooLarge { .. })),
            "{result:?}"
        );
    }
    let started = stage.client.status(&run).await;
    assert!(
        matches!(started, Err(RunClientError::UnknownRun { .. })),
        "{started:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_state_cannot_be_carried_over_goes_on_until_the_limit_is_near() {
    let stage = Stage::set().await;
    let (spec, executor) = noted_agent(&NotedModel::new(&script(40)), &[read("x".repeat(200_000))]);
    // The conversation is too large to continue as new after ten turns.
    let worker = stage.worker_with(&executor, |builder| {
        builder
            .continue_as_new_after(60)
            .history_limits(200, 50_000_000)
    });
    let output = stage.run("too-large", &without_limits(&spec)).await;
    assert_eq!(output.exit_reason, Some(ExitReason::Failed), "{output:?}");
    let error = output.error.unwrap();
    assert_eq!(error.kind, FailureKind::ContextLength);
    assert!(
        error.message.contains("agent's context"),
        "{}",
        error.message
    );
    let histories = stage.histories(&output.run_id).await;
    let last = histories.last().unwrap();
    assert!((160..200).contains(&last.events), "{histories:?}");
    stage.replays_all(&output.run_id).await;
    drop(worker);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compacted_conversation_is_carried_over_again() {
    let stage = Stage::set().await;
    let (mut spec, executor): (AgentSpec, _) =
        noted_agent(&NotedModel::new(&script(40)), &[read("x".repeat(200_000))]);
    spec.context.rules = vec![neuron_types::ContextRule::ClearToolResults { keep: 1 }];
    // 200 kB are about 50,000 tokens.
    spec.context.at_tokens = Some(650_000);
    let _worker = stage.worker_with(&executor, |builder| builder.continue_as_new_after(60));
    let output = stage.run("compacted", &without_limits(&spec)).await;
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    let histories = stage.histories(&output.run_id).await;
    println!("{histories:?}");
    assert!(histories.len() >= 3, "{histories:?}");
    assert!(
        histories.iter().any(|history| history.events > 60),
        "{histories:?}"
    );
    let told = stage.client.events_after(&output.run_id, 0).await.unwrap();
    assert_eq!(told.last().unwrap().seq, told.len() as u64);
}
