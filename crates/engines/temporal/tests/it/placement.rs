//! Where steps are executed: in the run's own worker, by an activity, on another queue.

use std::time::Duration;

use neuron_testing::{NotedModel, NotedTool, noted_agent};
use neuron_types::{
    ActivitySettings, AgentSpec, Placement, RunId, ToolEffects, ToolOutput, ToolSettings,
};
use serde_json::{Value, json};
use temporalio_common::protos::temporal::api::history::v1::{
    ActivityTaskScheduledEventAttributes, history_event::Attributes,
};

use crate::{stage::Stage, ui::events};

const TURNS: usize = 100;

fn read() -> NotedTool {
    NotedTool::new("read", ToolEffects::ReadOnly, |_| async {
        Ok(ToolOutput::text("read"))
    })
}

fn placed(spec: &AgentSpec, placement: Placement) -> AgentSpec {
    let mut spec = spec.clone();
    spec.limits.turns = None;
    spec.activity.placement = Some(placement);
    spec
}

#[tokio::test(flavor = "multi_thread")]
async fn local_calls_cost_at_most_three_fifths_of_the_events() {
    let mut turns: Vec<Value> = (1..TURNS)
        .map(|n| json!({"tool_calls": [{"name": "read", "input": {"n": n}}]}))
        .collect();
    turns.push(json!({"text": "Done."}));
    let stage = Stage::set().await;
    let mut counted = Vec::new();
    for (run, placement) in [
        ("activities", Placement::Activity),
        ("placed-local", Placement::Local),
    ] {
        let model = NotedModel::new(&json!({ "turns": turns }));
        let (spec, executor) = noted_agent(&model, &[read()]);
        let worker = stage.worker(&executor);
        let output = stage.run(run, &placed(&spec, placement)).await;
        assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
        let (_, events) = stage.history(&output.run_id).await;
        counted.push(events);
        stage.replays(&output.run_id).await;
        drop(worker);
    }
    println!("{TURNS} turns: {counted:?} events");
    assert!(counted[1] * 100 <= counted[0] * 60, "{counted:?}");
}

/// Returns the activities of a run, as they were scheduled, by their summaries.
async fn scheduled(stage: &Stage, run: &RunId) -> Vec<ActivityTaskScheduledEventAttributes> {
    let attributes = events(stage, run).await.into_iter();
    attributes
        .filter_map(|event| match event.attributes {
            Some(Attributes::ActivityTaskScheduledEventAttributes(scheduled)) => Some(scheduled),
            _ => None,
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_with_a_queue_of_its_own_is_called_by_that_queues_workers() {
    let script = json!({"turns": [
        {"tool_calls": [{"name": "read", "input": {}}, {"name": "echo", "input": {"text": "one"}}]},
        {"text": "Done."},
    ]});
    let (here, there) = (read(), read());
    let echo = NotedTool::echo(ToolEffects::Write);
    let model = NotedModel::new(&script);
    let (mut spec, executor) = noted_agent(&model, &[here.clone(), echo.clone()]);
    let (_, other_executor) = noted_agent(&model, std::slice::from_ref(&there));
    let settings = ActivitySettings {
        heartbeat_timeout: Some(Duration::from_secs(7)), // Read, so brief that nothing meets it.
        task_queue: Some("other".into()),
        priority: Some(1),
        ..ActivitySettings::default()
    };
    spec.tool_timeout = Duration::from_secs(60); // Only read in the history.
    spec.activity.priority = Some(4);
    let own = ToolSettings {
        timeout: Some(Duration::from_secs(60)), // Only read in the history.
        activity: settings,
        ..ToolSettings::default()
    };
    spec.tool_settings.insert("read".into(), own);
    let stage = Stage::set().await;
    let _here = stage.worker(&executor);
    let _there = stage.worker_with(&other_executor, |builder| builder.task_queue("other"));
    let output = stage.run("queues", &spec).await;
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(here.keys(), [""; 0]);
    assert_eq!(there.keys(), ["queues:1:1"]);
    assert_eq!(echo.keys(), ["queues:1:2"]);

    let steps: Vec<_> = scheduled(&stage, &output.run_id)
        .await
        .into_iter()
        .map(|step| {
            (
                step.activity_type.unwrap().name,
                step.task_queue.unwrap().name,
                step.priority.unwrap().priority_key,
                step.heartbeat_timeout.unwrap().seconds,
            )
        })
        .collect();
    let neuron = "neuron".to_owned();
    let model = ("model".to_owned(), neuron.clone(), 4, 90);
    let read = ("perform".to_owned(), "other".to_owned(), 1, 7);
    // The longest duration of the attempt: the server allows no longer timeout.
    let echo = ("perform".to_owned(), neuron, 4, 70);
    assert_eq!(steps, [model.clone(), read, echo, model]);
    stage.replays(&output.run_id).await;
}
