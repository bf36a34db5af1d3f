//! Runs that continue as new.

use std::time::Instant;

use neuron_engine::RunClient as _;
use neuron_harness::until;
use neuron_testing::{NotedModel, NotedTool, decision, noted_agent};
use neuron_types::{
    AgentSpec, ContentBlock, Limits, Message, Placement, RunId, RunPhase, ToolEffects, ToolOutput,
    UserMessage, Verdict,
};
use serde_json::{Value, json};

use crate::stage::Stage;

/// Returns a script of so many turns with a call each, whose last turn has an answer.
pub(crate) fn script(turns: usize) -> Value {
    let mut script: Vec<_> = (1..turns)
        .map(|n| json!({"tool_calls": [{"name": "read", "input": {"n": n}}]}))
        .collect();
    script.push(json!({"text": "Done."}));
    json!({ "turns": script })
}

pub(crate) fn read(text: String) -> NotedTool {
    NotedTool::new("read", ToolEffects::ReadOnly, move |_| {
        let text = text.clone();
        async move { Ok(ToolOutput::text(text)) }
    })
}

pub(crate) fn without_limits(spec: &AgentSpec) -> AgentSpec {
    AgentSpec {
        limits: Limits {
            turns: None,
            tool_calls: None,
            ..Limits::default()
        },
        ..spec.clone()
    }
}

/// Places the calls of the reads, however long they may take.
pub(crate) fn place_reads(spec: &mut AgentSpec, placement: Placement) {
    let settings = spec.tool_settings.entry("read".to_owned()).or_default();
    settings.activity.placement = Some(placement);
}

/// Checks that the run's events are numbered without a gap, and that the parts equal the whole.
async fn shows_one_run(stage: &Stage, run: &RunId) -> usize {
    let events = stage.client.events_after(run, 0).await.unwrap();
    let numbers: Vec<_> = events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    for after in [events.len() / 2, events.len()] {
        let later = stage.client.events_after(run, after as u64).await.unwrap();
        assert_eq!(later, events[after..]);
    }
    events.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_run_goes_through_histories_and_shows_as_one() {
    const TURNS: usize = 600;
    let stage = Stage::set().await;
    let model = NotedModel::new(&script(TURNS));
    let tool = read("ok".to_owned());
    let (spec, executor) = noted_agent(&model, std::slice::from_ref(&tool));
    let _worker = stage.worker_with(&executor, |builder| builder.continue_as_new_after(900));
    let mut spec = without_limits(&spec);
    place_reads(&mut spec, Placement::Local);
    let start = Instant::now();
    let output = stage.run("long", &spec).await;
    println!("{TURNS} turns: {:?}", start.elapsed());
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(output.turns as usize, TURNS);
    assert_eq!(model.count(), TURNS);
    assert_eq!(tool.keys().len(), TURNS - 1);
    let run = &output.run_id;
    let histories = stage.histories(run).await;
    println!("{histories:?}");
    assert!(histories.len() >= 5, "{histories:?}");
    assert!(histories.iter().all(|history| history.events <= 900));
    let told = shows_one_run(&stage, run).await;
    println!("{told} events: {:?}", start.elapsed());
    let status = stage.client.status(run).await.unwrap();
    assert_eq!(status.output(output.exit_reason), output);
    let conversation = stage.client.conversation(run).await.unwrap();
    assert_eq!(conversation.len(), 2 * TURNS);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_stays_below_its_mark_in_bytes() {
    const MOST: usize = 500_000;
    let stage = Stage::set().await;
    let tool = read("x".repeat(4_096));
    let (spec, executor) = noted_agent(&NotedModel::new(&script(40)), &[tool]);
    let _worker = stage.worker_with(&executor, |builder| {
        builder.continue_as_new_after_bytes(MOST)
    });
    let output = stage.run("in-bytes", &without_limits(&spec)).await;
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    let histories = stage.histories(&output.run_id).await;
    println!("{histories:?}");
    assert!(histories.len() >= 2);
    assert!(histories.iter().all(|history| history.bytes <= MOST));
    assert!(histories[0].bytes > MOST / 4 * 3);
}

/// Returns the texts of all messages that people wrote, in order.
fn said(conversation: &[Message]) -> Vec<String> {
    let texts = conversation.iter().flat_map(|message| &message.content);
    texts
        .filter_map(|block| match block {
            ContentBlock::Text(text) if text.starts_with("note ") => Some(text.clone()),
            _ => None,
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_goes_on_in_a_fresh_history_with_its_ticket_its_done_call_and_its_message() {
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "ask", "input": {"text": "asked"}},
            {"name": "write", "input": {"text": "written"}},
        ]},
        {"text": "Seen."},
        {"text": "Done."},
    ]});
    let answer = |input: Value| async move {
        Ok(ToolOutput::text(input["text"].as_str().unwrap_or_default()))
    };
    let tools = [
        NotedTool::new("ask", ToolEffects::Write, answer),
        NotedTool::new("write", ToolEffects::Write, answer),
    ];
    let model = NotedModel::new(&script);
    let (mut spec, executor) = noted_agent(&model, &tools);
    spec.approvals.approve = vec!["ask".into()];
    let stage = Stage::set().await;
    let worker = stage.worker_with(&executor, |builder| builder.continue_as_new_after(1));
    let run = stage.start("in-a-turn", &spec).await;
    let status = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    until(async || (!tools[1].keys().is_empty()).then_some(())).await;
    let before = until(async || {
        let histories = stage.histories(&run).await.len();
        (histories >= 3).then_some(histories)
    })
    .await;
    let message = UserMessage {
        text: "note 1".into(),
    };
    stage.client.send(&run, message).await.unwrap();
    let first = decision(&status.approvals[0], Verdict::Approve);
    stage.client.decide(&run, &first.clone()).await.unwrap();
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.output.as_deref(), Some("Seen."), "{output:?}");
    assert!(stage.histories(&run).await.len() > before);
    assert_eq!(model.count(), 2);
    assert_eq!(tools[0].keys(), ["in-a-turn:1:1"]);
    assert_eq!(tools[1].keys(), ["in-a-turn:1:2"]);
    let conversation = stage.client.conversation(&run).await.unwrap();
    assert_eq!(said(&conversation), ["note 1"]);
    shows_one_run(&stage, &run).await;
    let again = stage.client.decide(&run, &first).await;
    assert!(
        matches!(&again, Err(error) if error.is_run_over()),
        "{again:?}"
    );
    stage.replays_all(&run).await;
    drop(worker);
}
