//! What callers cannot set in a request.

use futures::StreamExt as _;
use neuron_engine::RunClient as _;
use neuron_harness::until;
use neuron_testing::{NotedModel, NotedTool, noted_agent};
use neuron_types::{RunId, RunPhase, ToolEffects, ToolOutput};
use serde_json::json;
use temporalio_common::{
    UntypedWorkflow, protos::temporal::api::history::v1::history_event::Attributes,
};

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_is_rejected_by_a_worker_that_takes_names_only() {
    let stage = Stage::set().await;
    let model = NotedModel::new(&json!({"turns": [{"text": "Hi."}]}));
    let (spec, executor) = noted_agent(&model, &[]);
    let agents = [spec.clone()].into_iter().collect();
    let settings = |builder: neuron_temporal::AgentWorkerBuilder| {
        builder.agents(agents).accept_definitions(false)
    };
    let _worker = stage.worker_with(&executor, settings);

    let output = stage.run("whole", &spec).await;
    assert_eq!(output.state, RunPhase::Failed);
    let message = output.error.unwrap().message;
    assert!(message.contains("takes names only"), "{message}");
    assert_eq!(model.count(), 0);
    stage.replays(&output.run_id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_is_taken_from_the_run_itself_and_from_nobody_else() {
    let stage = Stage::set().await;
    let ask = NotedTool::new("ask", ToolEffects::Write, |_| async {
        Ok(ToolOutput::text("asked"))
    });
    let model = NotedModel::new(&json!({"turns": [
        {"tool_calls": [{"name": "ask", "input": {"text": "may I?"}}]},
        {"text": "Done."},
    ]}));
    let (mut spec, executor) = noted_agent(&model, std::slice::from_ref(&ask));
    spec.approvals.approve = vec!["ask".into()];
    let _worker = stage.worker_with(&executor, |builder| builder.continue_as_new_after(1));
    let run = stage.start("carried", &spec).await;
    stage.reaches(&run, RunPhase::WaitingForApproval).await;
    let carried = until(async || {
        let input = input_of_newest_history(&stage, &run).await;
        input.contains("continued").then_some(input)
    })
    .await;
    let calls = model.count();

    let stolen = RunId::new("by-command").unwrap();
    let start = |more: &[&str]| {
        let start = ["workflow", "start", "--type", "agent"];
        let place = ["--task-queue", "neuron", "--input", carried.as_str()];
        let (started, said) = stage.temporal(&[&start[..], &place, more].concat());
        assert!(started, "{said}");
    };
    start(&[]);
    let output = stage.client.wait_for_end(&stolen).await.unwrap();
    assert_eq!(output.state, RunPhase::Failed);
    let message = output.error.unwrap().message;
    assert!(message.contains("the state of another"), "{message}");

    // Temporal marks these as continuations of what ran before, and yet their input is the caller's.
    start(&["--cron", "@every 1s"]);
    until(async || (stage.histories(&stolen).await.len() > 2).then_some(())).await;
    let (ended, said) = stage.temporal(&["workflow", "terminate"]);
    assert!(ended, "{said}");

    assert_eq!((model.count(), ask.keys().len()), (calls, 0));
    let status = stage.client.status(&run).await.unwrap();
    assert_eq!(status.state, RunPhase::WaitingForApproval);
}

/// Returns the input of the run's newest history.
async fn input_of_newest_history(stage: &Stage, run: &RunId) -> String {
    let client = stage.client.temporal();
    let handle = client.get_workflow_handle::<UntypedWorkflow>(run.as_str());
    let mut events = handle.fetch_history(Default::default());
    let first = events.next().await.unwrap().unwrap();
    let Some(Attributes::WorkflowExecutionStartedEventAttributes(started)) = first.attributes
    else {
        panic!("{first:?}");
    };
    let payload = started.input.unwrap().payloads.remove(0);
    String::from_utf8(payload.data.to_vec()).unwrap()
}
