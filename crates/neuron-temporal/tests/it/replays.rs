//! Runs whose workflow is replayed at every step, and histories that were recorded before.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    sync::{Arc, Mutex},
};

use neuron_runtime::{EventSink, RetryNotice};
use neuron_testing::{NotedModel, NotedTool, decision, noted_agent};
use neuron_types::{RecordedEvent, RunPhase, ToolEffects, Verdict};
use serde_json::json;

use crate::stage::{Agent, Stage};

#[derive(Default)]
struct Numbers(Mutex<Vec<u64>>);

impl EventSink for Numbers {
    fn event(&self, event: &RecordedEvent) {
        self.0.lock().unwrap().push(event.seq);
    }

    fn retry(&self, _: &RetryNotice) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_replayed_at_every_step_tells_each_event_once() {
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "look", "input": {"text": "one"}},
            {"name": "echo", "input": {"text": "two"}},
        ]},
        {"tool_calls": [{"name": "look", "input": {"text": "three"}}]},
        {"text": "Done."},
    ]});
    let look = NotedTool::new("look", ToolEffects::ReadOnly, |_| async {
        Ok(neuron_types::ToolOutput::text("seen"))
    });
    let tools = [NotedTool::echo(ToolEffects::Write), look];
    let model = NotedModel::new(&script);
    let (mut spec, executor) = noted_agent(&model, &tools);
    spec.approvals.approve = vec!["echo".into()];
    let stage = Stage::set().await;
    let sink = Arc::new(Numbers::default());
    let told = Arc::clone(&sink);
    let _worker = stage.worker_with(&executor, |builder| builder.cached_runs(0).sink(told));
    let run = stage.start("replayed", &spec).await;
    let status = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    let approval = decision(&status.approvals[0], Verdict::Approve);
    stage.client.decide(&run, approval).await.unwrap();
    let output = stage.client.wait(&run).await.unwrap();
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(model.count(), 3);
    assert_eq!(tools[0].keys().len() + tools[1].keys().len(), 3);
    let events = stage.client.events(&run).await.unwrap();
    let told = sink.0.lock().unwrap().clone();
    assert_eq!(told, (1..=events.len() as u64).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_history_is_refused_and_not_replayed() {
    let replay = neuron_temporal::Replay::new::<Agent>().unwrap();
    for text in ["{\"x\": 1}", "{\"events\": []}", "[]", "not JSON"] {
        let error = replay.json(text.as_bytes()).await.unwrap_err();
        let is_refused = matches!(error, neuron_temporal::ReplayError::NoHistory(_));
        assert!(is_refused, "{text}: {error}");
    }
}

/// What stands in the folder was recorded with `NEURON_RECORD=1`: it must stay readable.
#[tokio::test(flavor = "multi_thread")]
async fn recorded_histories_replay() {
    let replay = neuron_temporal::Replay::new::<Agent>().unwrap();
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(recordings()).unwrap() {
        let path = entry.unwrap().path();
        replay
            .file(&path)
            .await
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        names.insert(path.file_stem().unwrap().to_string_lossy().into_owned());
    }
    let wanted = [
        "approvals",
        "by-signal",
        "ended",
        "in-a-turn-0",
        "in-a-turn-1",
        "in-a-turn-2",
        "normal",
        "placed",
        "told",
    ];
    for name in wanted {
        assert!(names.contains(name), "{name} is missing in {names:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_of_other_decisions_does_not_replay() {
    let text = fs::read_to_string(recordings().join("normal.json")).unwrap();
    let other = text.replace(r#""name":"tool""#, r#""name":"another""#);
    assert_ne!(text, other);
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), other).unwrap();
    let replay = neuron_temporal::Replay::new::<Agent>().unwrap();
    let error = replay.file(file.path()).await.unwrap_err();
    assert!(error.to_string().contains("nondeterminis"), "{error}");
}

pub(crate) fn recordings() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/histories")
}

#[tokio::test(flavor = "multi_thread")]
async fn many_runs_at_once_on_one_worker_complete() {
    let mut turns: Vec<_> = (1..10)
        .map(|n| json!({"tool_calls": [{"name": "echo", "input": {"text": n.to_string()}}]}))
        .collect();
    turns.push(json!({"text": "Done."}));
    let model = NotedModel::new(&json!({ "turns": turns }));
    let (spec, executor) = noted_agent(&model, &[NotedTool::echo(ToolEffects::Write)]);
    let stage = Stage::set().await;
    let _worker = stage.worker(&executor);
    let start = std::time::Instant::now();
    let runs: Vec<_> = futures::future::join_all((0..40).map(|n| {
        let (stage, spec) = (&stage, &spec);
        async move { stage.start(&format!("run-{n}"), spec).await }
    }))
    .await;
    for run in &runs {
        let output = stage.client.wait(run).await.unwrap();
        assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    }
    println!("40 runs of 10 turns at once: {:?}", start.elapsed());
    assert_eq!(model.count(), 400);
}
