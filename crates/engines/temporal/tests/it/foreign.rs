//! A foreign workflow that schedules a worker's activities by itself.

use std::time::Duration;

use neuron_temporal::AgentWorkerBuilder;
use neuron_testing::{NotedModel, NotedTool, noted_agent};
use neuron_types::{ToolEffects, ToolOutput};
use serde_json::{Value, json};
use temporalio_client::{Client, WorkflowStartOptions};
use temporalio_common::worker::WorkerDeploymentOptions;
use temporalio_macros::{activities, workflow, workflow_methods};
use temporalio_sdk::{
    ActivityOptions, Runtime, Worker, WorkerOptions, WorkflowContext, WorkflowResult,
    activities::{ActivityContext, ActivityError},
};

use crate::stage::{Stage, connect};

/// The queue of the foreign workflow.
const QUEUE: &str = "strangers";

struct Names;

#[activities]
impl Names {
    /// An activity with the same name as the worker's.
    #[activity(name = "perform")]
    async fn perform(_ctx: ActivityContext, _step: Value) -> Result<Value, ActivityError> {
        Ok(Value::Null)
    }
}

#[workflow]
#[derive(Default)]
struct Scheduling;

#[workflow_methods]
impl Scheduling {
    #[run]
    async fn run(ctx: &mut WorkflowContext<Self>, step: Value) -> WorkflowResult<Value> {
        let mut options = ActivityOptions::start_to_close_timeout(Duration::from_secs(60)); // It ends when it has ended.
        options.task_queue = Some("neuron".to_owned());
        Ok(ctx.execute_activity(Names::perform, step, options).await?)
    }
}

/// Returns the result of the activity, as text.
async fn scheduled(client: &Client, id: &str, step: Value) -> String {
    let options = WorkflowStartOptions::new(QUEUE, id.to_owned());
    let handle = client.start_workflow(Scheduling::run, step, options.build());
    let handle = handle.await.unwrap();
    match handle.get_result(Default::default()).await {
        Ok(output) => output.to_string(),
        Err(error) => format!("{error:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_makes_no_call_for_a_stranger_that_its_rules_ask_about() {
    let tool = |name| {
        NotedTool::new(name, ToolEffects::Write, |_| async {
            Ok(ToolOutput::text("made"))
        })
    };
    let (asked, free) = (tool("asked"), tool("free"));
    let model = NotedModel::new(&json!({"turns": [{"text": "Hi."}]}));
    let (mut spec, executor) = noted_agent(&model, &[asked.clone(), free.clone()]);
    spec.approvals.approve = vec!["asked".into()];
    let stage = Stage::set().await;
    let agents = [spec.clone()].into_iter().collect();
    let _worker = stage.worker_with(&executor, |builder: AgentWorkerBuilder| {
        builder.agents(agents)
    });
    let client = connect(stage.address()).await;
    let client = client.temporal().clone();
    let runtime = Runtime::from_current_tokio(Default::default()).unwrap();
    let options = WorkerOptions::new(QUEUE)
        .deployment_options(WorkerDeploymentOptions::from_build_id("strange".to_owned()))
        .register_workflow::<Scheduling>()
        .unwrap()
        .build();
    let mut worker = Worker::new(&runtime, client.clone(), options).unwrap();
    let step = |tool: &str| {
        json!({
            "agent": spec.name,
            "step": {"turn": 1, "position": 1},
            "effects": "write",
            "timeout_ms": 60_000,
            "effect": {"tool": {"id": "x", "name": tool, "input": {"text": "x"}}},
        })
    };
    let attempts = async {
        let refused = scheduled(&client, "stranger-1", step("asked")).await;
        let made = scheduled(&client, "stranger-2", step("free")).await;
        (refused, made)
    };
    let (refused, made) = tokio::select! {
        said = attempts => said,
        ended = worker.run() => panic!("{ended:?}"),
    };
    assert!(refused.contains("not_approved"), "{refused}");
    assert!(asked.keys().is_empty());
    // The worker makes a step that it does not ask about for every caller that reaches the port.
    assert!(made.contains("made"), "{made}");
    assert_eq!(free.keys().len(), 1);
}
