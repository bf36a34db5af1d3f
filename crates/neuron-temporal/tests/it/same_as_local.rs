//! The same agent, here and on Temporal.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use neuron_runtime::{EventSink, LocalDurableContext, RetryNotice};
use neuron_types::{AgentSpec, RecordedEvent, RunEvent, RunId, RunOutput, ToolEffects};
use serde_json::{Value, json};

use crate::{
    model::NotedModel,
    stage::{Stage, agent, input},
    tools::TestTool,
};

#[derive(Default)]
struct Collected(Mutex<Vec<RunEvent>>);

impl EventSink for Collected {
    fn event(&self, event: &RecordedEvent) {
        self.0.lock().unwrap().push(event.event.clone());
    }

    fn retry(&self, _: &RetryNotice) {}
}

pub(crate) async fn locally(
    spec: &AgentSpec,
    executor: &neuron_runtime::Executor,
) -> (RunOutput, Vec<RunEvent>) {
    let sink = Arc::new(Collected::default());
    let door = LocalDurableContext::new(executor.clone(), RunId::new("local").unwrap())
        .with_sink(Arc::clone(&sink) as Arc<dyn EventSink>);
    let output = neuron_workflows::agent(&door, input(spec)).await.unwrap();
    let events = sink.0.lock().unwrap().clone();
    (output, events)
}

fn without_place(output: &RunOutput) -> Value {
    let mut value = serde_json::to_value(output).unwrap();
    let fields = value.as_object_mut().unwrap();
    fields.remove("run_id");
    fields.remove("engine");
    value
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_with_tools_has_the_same_output_and_events() {
    let script = json!({"turns": [
        {"text": "I look.", "tool_calls": [
            {"name": "echo", "input": {"text": "one"}},
            {"name": "write", "input": {"text": "two"}},
            {"name": "nothing", "input": {}},
        ], "usage": {"input_tokens": 10, "output_tokens": 5}, "cost_usd": "0.01"},
        {"tool_calls": [{"name": "echo", "input": {"text": "three"}}], "cost_usd": "0.02"},
        {"text": "Done.", "usage": {"input_tokens": 20, "output_tokens": 1}, "cost_usd": "0.03"},
    ]});
    let tools = [
        TestTool::echo(ToolEffects::ReadOnly),
        TestTool::new("write", ToolEffects::Write, |_| async {
            Ok(neuron_types::ToolOutput::text("written"))
        }),
    ];
    let (spec, executor) = agent(&NotedModel::new(&script), &tools);
    let (local, local_events) = locally(&spec, &executor).await;
    assert_eq!(local.output.as_deref(), Some("Done."));

    let stage = Stage::set().await;
    let worker = stage.worker(&executor);
    // The tools once as activities and once, where their effects allow it, as local ones.
    for (run, tool_timeout) in [("normal", 60), ("placed", 5)] {
        let spec = AgentSpec {
            tool_timeout: Duration::from_secs(tool_timeout),
            ..spec.clone()
        };
        let output = stage.run(run, &spec).await;
        assert_eq!(output.engine, "temporal");
        assert_eq!(output.run_id.as_str(), run);
        assert_eq!(without_place(&output), without_place(&local));

        let recorded = stage.client.events(&output.run_id).await.unwrap();
        let events: Vec<_> = recorded.iter().map(|event| event.event.clone()).collect();
        assert_eq!(events, local_events);
        let numbers: Vec<_> = recorded.iter().map(|event| event.seq).collect();
        assert_eq!(numbers, (1..=recorded.len() as u64).collect::<Vec<_>>());
        stage.replays(&output.run_id).await;
    }
    drop(worker);
    assert_eq!(
        tools[1].keys(),
        ["local:1:2", "normal:1:2", "placed:1:2"],
        "one call a run, under its own key"
    );
}
