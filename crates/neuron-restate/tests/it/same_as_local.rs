//! The same agent, here and on Restate.

use std::sync::{Arc, Mutex};

use neuron_runtime::{EventSink, Executor, LocalDurableContext, RetryNotice};
use neuron_types::{
    AgentSpec, HookAction, HookError, HookEvent, ObservabilityHook, RecordedEvent, RunEvent, RunId,
    RunOutput, ToolEffects, ToolOutput, WasmBoxedFuture,
};
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

pub(crate) async fn locally(spec: &AgentSpec, executor: &Executor) -> (RunOutput, Vec<RunEvent>) {
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
        {"tool_calls": [{"name": "write", "input": {"text": "three"}}], "cost_usd": "0.02"},
        {"text": "Done.", "usage": {"input_tokens": 20, "output_tokens": 1}, "cost_usd": "0.03"},
    ]});
    let tools = [
        TestTool::echo(ToolEffects::ReadOnly),
        TestTool::new("write", ToolEffects::Write, |_| async {
            Ok(ToolOutput::text("written"))
        }),
    ];
    let (spec, executor) = agent(&NotedModel::new(&script), &tools);
    let (local, local_events) = locally(&spec, &executor).await;
    assert_eq!(local.output.as_deref(), Some("Done."));

    let stage = Stage::set("same").await;
    let _worker = stage.worker(&executor).await;
    let output = stage.run("remote", &spec).await;
    assert_eq!(output.engine, "restate");
    assert_eq!(output.run_id.as_str(), "remote");
    assert_eq!(without_place(&output), without_place(&local));
    assert_eq!(stage.events(&output.run_id).await, local_events);
    assert_eq!(
        tools[1].keys(),
        ["local:1:2", "local:2:1", "remote:1:2", "remote:2:1"],
        "one call each, under its own key"
    );

    let status = stage.client.status(&output.run_id).await.unwrap();
    assert_eq!(status.output(output.exit_reason), output);
    let known = stage.client.output(&output.run_id).await.unwrap();
    assert_eq!(known, Some(output));
}

/// Notes what it is told about the course of a run.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl ObservabilityHook for Notes {
    fn on_event<'a>(
        &'a self,
        event: &'a HookEvent<'a>,
    ) -> WasmBoxedFuture<'a, Result<HookAction, HookError>> {
        self.note(event);
        Box::pin(async { Ok(HookAction::Continue) })
    }
}

impl Notes {
    fn note(&self, event: &HookEvent<'_>) {
        let note = match event {
            HookEvent::SessionStart { .. } => "start".to_owned(),
            HookEvent::LoopIteration { turn } => format!("turn {turn}"),
            HookEvent::PreLlmCall { .. } => "model".to_owned(),
            HookEvent::SessionEnd { .. } => "end".to_owned(),
            _ => return,
        };
        self.0.lock().unwrap().push(note);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_are_told_the_same_in_the_same_order() {
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "echo", "input": {"text": "one"}},
            {"name": "echo", "input": {"text": "two"}},
        ]},
        {"text": "Done."},
    ]});
    let model = NotedModel::new(&script);
    let (spec, _) = agent(&model, &[TestTool::echo(ToolEffects::ReadOnly)]);
    let mut told = Vec::new();
    let stage = Stage::set("hooks").await;
    for engine in ["local", "restate"] {
        let notes = Notes::default();
        let mut tools = neuron_tool::ToolRegistry::new();
        tools.register_dyn(Arc::new(TestTool::echo(ToolEffects::ReadOnly)));
        let executor = Executor::builder()
            .provider("script", model.clone())
            .tools(tools)
            .hook(notes.clone())
            .build();
        if engine == "local" {
            let door = LocalDurableContext::new(executor, RunId::new("local").unwrap());
            neuron_workflows::agent(&door, input(&spec)).await.unwrap();
            door.finish().await;
        } else {
            let _worker = stage.worker(&executor).await;
            stage.run("hooked", &spec).await;
        }
        told.push(notes.0.lock().unwrap().clone());
    }
    assert_eq!(
        told[0],
        ["start", "turn 1", "model", "turn 2", "model", "end"]
    );
    assert_eq!(told[1], told[0]);
}
