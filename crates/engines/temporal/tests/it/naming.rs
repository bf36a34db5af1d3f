//! Runs that any client of Temporal starts, with two texts.

use neuron_engine::RunClient as _;
use neuron_testing::{NotedModel, noted_agent};
use neuron_types::{ExitReason, FailureKind, RunId, RunPhase};
use serde_json::json;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn temporals_own_command_starts_a_run_with_a_name_and_a_prompt() {
    let stage = Stage::set().await;
    let model = NotedModel::new(&json!({"turns": [{"text": "Hi."}]}));
    let (spec, executor) = noted_agent(&model, &[]);
    let agents = [spec.clone()].into_iter().collect();
    let _worker = stage.worker_with(&executor, |builder| builder.agents(agents));
    let run = RunId::new("by-command").unwrap();
    let start = |input: &str| {
        let start = ["workflow", "start", "--type", "agent"];
        let place = ["--task-queue", "neuron", "--input", input];
        let (started, said) = stage.temporal(&[&start[..], &place].concat());
        assert!(started, "{said}");
    };

    start(r#"{"agent": "default", "prompt": "Go.", "tenant": "acme", "labels": {"report": "q3"}}"#);
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Complete), "{output:?}");
    let status = stage.client.status(&run).await.unwrap();
    assert_eq!(status.definition, Some(spec.fingerprint()));
    assert_eq!(status.tenant.as_deref(), Some("acme"));
    assert_eq!(status.labels["report"], "q3");
    stage.replays(&run).await;
    // Looking up the definition costs no more than checking that a given one is accepted.
    let whole = stage.run("whole", &spec).await.run_id;
    let (_, events) = stage.history(&run).await;
    let (_, without) = stage.history(&whole).await;
    assert_eq!(events, without);

    for (wrong, said) in [
        (
            r#"{"agent": "default", "promt": "Go."}"#,
            "unknown field \"promt\": did you mean \"prompt\"?",
        ),
        (
            r#"{"agnet": "default", "prompt": "Go."}"#,
            "unknown field \"agnet\": did you mean \"agent\"?",
        ),
        (r#"{"agent": "default"}"#, "missing field `prompt`"),
    ] {
        start(wrong);
        let output = stage.client.wait_for_end(&run).await.unwrap();
        assert_eq!(output.state, RunPhase::Failed);
        let error = output.error.unwrap();
        assert_eq!(error.kind, FailureKind::InvalidRequest, "{error:?}");
        assert_eq!(error.message, said);
    }
}
