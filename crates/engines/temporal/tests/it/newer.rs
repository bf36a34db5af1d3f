//! Runs that a newer build started or continued.

use chrono::Utc;
use neuron_engine::RunClient as _;
use neuron_harness::until;
use neuron_testing::{NotedModel, noted_agent};
use neuron_types::{BlockedKind, RunId, RunPhase, RunStatus};
use serde_json::json;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn what_a_newer_build_wrote_is_left_to_it_and_the_status_says_so() {
    let stage = Stage::set().await;
    let model = NotedModel::new(&json!({"turns": [{"text": "Hi."}]}));
    let (_, executor) = noted_agent(&model, &[]);
    let _worker = stage.worker(&executor);
    let run = RunId::new("by-command").unwrap();
    let known = RunStatus::new(run.clone(), "temporal", "clerk", Utc::now());
    let requested = json!({"version": 5, "agent": "clerk", "prompt": "Go."});
    let continued = json!({"continued": {"state": {"version": 5}, "status": known}});
    for input in [requested, continued] {
        let start = ["workflow", "start", "--type", "agent"];
        let input = input.to_string();
        let place = ["--task-queue", "neuron", "--input", &input];
        let (started, said) = stage.temporal(&[&start[..], &place].concat());
        assert!(started, "{said}");
        let (status, blocked) = until(async || {
            let status = stage.client.status(&run).await.ok()?;
            let blocked = status.blocked.clone()?;
            let is_said = blocked.detail.contains("state version 5");
            is_said.then_some((status, blocked))
        })
        .await;
        assert_eq!(status.state, RunPhase::Running);
        assert_eq!(blocked.kind, BlockedKind::NoWorker);
        assert_eq!(
            blocked.detail,
            "this worker cannot go on with the run: the run was written by a newer version of neuron: \
             state version 5, this one knows up to 4"
        );
        let (ended, said) = stage.temporal(&["workflow", "terminate"]);
        assert!(ended, "{said}");
    }
    assert_eq!(model.count(), 0);
}
