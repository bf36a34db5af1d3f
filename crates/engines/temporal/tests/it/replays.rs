//! Histories that were recorded before.

use std::{collections::BTreeSet, fs, path::Path};

use neuron_engine::RunClient as _;
use neuron_testing::{NotedModel, NotedTool, noted_agent};
use neuron_types::ToolEffects;
use serde_json::json;

use crate::stage::{Agent, Stage};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_history_is_refused_and_not_replayed() {
    let replay = neuron_temporal::Replay::new::<Agent>().unwrap();
    for text in ["{\"x\": 1}", "{\"events\": []}", "[]", "not JSON"] {
        let error = replay.json(text.as_bytes()).await.unwrap_err();
        let is_refused = matches!(error, neuron_temporal::ReplayError::NoHistory(_));
        assert!(is_refused, "{text}: {error}");
    }
}

/// The files in the folder were recorded with `NEURON_RECORD=1`: they must stay readable.
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
        "activities",
        "placed-local",
        "told",
    ];
    for name in wanted {
        assert!(names.contains(name), "{name} is missing in {names:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_of_other_decisions_does_not_replay() {
    let text = fs::read_to_string(recordings().join("told.json")).unwrap();
    let other = text.replace(r#""name":"perform""#, r#""name":"another""#);
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
        let output = stage.client.wait_for_end(run).await.unwrap();
        assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    }
    println!("40 runs of 10 turns at once: {:?}", start.elapsed());
    assert_eq!(model.count(), 400);
}
