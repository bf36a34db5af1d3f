//! What Temporal's own UI shows of a run: summaries, details, search attributes.

use std::{collections::BTreeMap, process::Command, time::Duration};

use futures::{StreamExt as _, TryStreamExt as _};
use neuron_engine::{PageRequest, RunClient as _, RunFilter};
use neuron_harness::{Engine, Launcher, until};
use neuron_testing::{NotedModel, NotedTool, decision, noted_agent};
use neuron_types::{Message, RunId, RunPhase, RunRequest, ToolEffects, ToolSettings, Verdict};
use serde_json::{Value, json};
use temporalio_client::tonic::Request;
use temporalio_common::{
    UntypedWorkflow,
    protos::temporal::api::{
        common::v1::{Payload, WorkflowExecution},
        history::v1::HistoryEvent,
        query::v1::WorkflowQuery,
        workflowservice::v1::QueryWorkflowRequest,
    },
};

use crate::stage::Stage;

/// Returns the events of the run's newest history.
pub(crate) async fn events(stage: &Stage, run: &RunId) -> Vec<HistoryEvent> {
    let client = stage.client.temporal();
    let handle = client.get_workflow_handle::<UntypedWorkflow>(run.as_str());
    let events = handle.fetch_history(Default::default());
    events.map(|event| event.unwrap()).collect().await
}

fn json_of(payload: &Payload) -> Value {
    serde_json::from_slice(&payload.data).unwrap()
}

/// Returns the summaries of the run's start, of its activities and of its local calls, in order.
async fn summaries(stage: &Stage, run: &RunId) -> Vec<Value> {
    let events = events(stage, run).await;
    let metadata = events
        .iter()
        .filter_map(|event| event.user_metadata.as_ref());
    metadata
        .filter_map(|metadata| metadata.summary.as_ref())
        .map(json_of)
        .collect()
}

/// Returns what the UI requests from a run.
async fn metadata(stage: &Stage, run: &RunId) -> Value {
    let mut service = stage.client.temporal().connection().workflow_service();
    let query = QueryWorkflowRequest {
        namespace: "default".into(),
        execution: Some(WorkflowExecution {
            workflow_id: run.to_string(),
            run_id: String::new(),
        }),
        query: Some(WorkflowQuery {
            query_type: "__temporal_workflow_metadata".into(),
            ..WorkflowQuery::default()
        }),
        ..QueryWorkflowRequest::default()
    };
    let answer = service.query_workflow(Request::new(query)).await.unwrap();
    json_of(&answer.into_inner().query_result.unwrap().payloads[0])
}

fn script() -> Value {
    json!({"turns": [
        {"tool_calls": [{"name": "echo", "input": {"text": "one"}}], "cost_usd": "0.25"},
        {"tool_calls": [{"name": "look", "input": {}}], "cost_usd": "0.25"},
        {"text": "Done.", "cost_usd": "0.5"},
    ]})
}

fn tools() -> [NotedTool; 2] {
    let look = NotedTool::new("look", ToolEffects::ReadOnly, |_| async {
        Ok(neuron_types::ToolOutput::text("seen"))
    });
    [NotedTool::echo(ToolEffects::Write), look]
}

#[tokio::test(flavor = "multi_thread")]
async fn each_step_is_named_and_the_details_say_where_the_run_stands() {
    let (mut spec, executor) = noted_agent(&NotedModel::new(&script()), &tools());
    spec.approvals.approve = vec!["echo".into()];
    let short = ToolSettings {
        timeout: Some(Duration::from_secs(5)), // An attempt at a read that it ends is made again.
        ..ToolSettings::default()
    };
    spec.tool_settings.insert("look".into(), short);
    let stage = Stage::set().await;
    let _worker = stage.worker(&executor);
    let run = stage.start("shown", &spec).await;
    let status = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    let shown = metadata(&stage, &run).await;
    let details = shown["currentDetails"].as_str().unwrap();
    let ticket = &status.approvals[0];
    assert!(
        details.starts_with("**waiting_for_approval**, agent default, turn 1"),
        "{details}"
    );
    assert!(
        details.contains(&format!("- ticket `{}`: echo", ticket.ticket)),
        "{details}"
    );
    let approval = decision(ticket, Verdict::Approve);
    stage.client.decide(&run, &approval).await.unwrap();
    stage.client.wait_for_end(&run).await.unwrap();
    let shown = metadata(&stage, &run).await;
    let details = shown["currentDetails"].as_str().unwrap();
    assert!(
        details.starts_with("**completed**, agent default, turn 3"),
        "{details}"
    );
    assert_eq!(
        summaries(&stage, &run).await,
        [
            "agent default",
            "begin default",
            "script",
            "verify t1-1",
            "echo",
            "script",
            "look",
            "script",
            "tell the hooks"
        ]
    );
}

/// Runs Temporal's own command against the stage's server.
fn temporal(stage: &Stage, args: &[&str]) {
    let Ok(Launcher::Native(program)) = Launcher::find(Engine::Temporal) else {
        panic!("the server's program is also its command");
    };
    let output = Command::new(program)
        .args(args)
        .args([
            "--address",
            stage
                .client
                .address()
                .trim_start_matches("http://")
                .trim_end_matches('/'),
        ])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {said}");
}

fn register(stage: &Stage) {
    for (name, kind) in [
        ("NeuronAgent", "Keyword"),
        ("NeuronState", "Keyword"),
        ("NeuronCostUsd", "Double"),
    ] {
        search_attribute(stage, &["create", "--name", name, "--type", kind]);
    }
}

fn search_attribute(stage: &Stage, args: &[&str]) {
    temporal(stage, &[&["operator", "search-attribute"], args].concat());
}

/// Returns the search attributes of the run's newest history, without those of the SDK.
async fn attributes(stage: &Stage, run: &RunId) -> BTreeMap<String, Value> {
    let client = stage.client.temporal();
    let handle = client.get_workflow_handle::<UntypedWorkflow>(run.as_str());
    let described = handle.describe(Default::default()).await.unwrap();
    let info = described.raw().workflow_execution_info.clone().unwrap();
    let fields = info.search_attributes.unwrap_or_default().indexed_fields;
    let own = fields.iter().filter(|(name, _)| name.starts_with("Neuron"));
    own.map(|(name, payload)| (name.clone(), json_of(payload)))
        .collect()
}

fn shown(state: &str, cost: f64) -> BTreeMap<String, Value> {
    BTreeMap::from([
        ("NeuronAgent".to_owned(), json!("default")),
        ("NeuronState".to_owned(), json!(state)),
        ("NeuronCostUsd".to_owned(), json!(cost)),
    ])
}

/// Returns the runs that Temporal finds.
async fn found(stage: &Stage, query: &str) -> Vec<String> {
    let client = stage.client.temporal();
    let listed: Vec<_> = client
        .list_workflows(query, Default::default())
        .try_collect()
        .await
        .unwrap();
    listed.iter().map(|run| run.id().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_with_the_search_attributes_lists_runs_by_state_agent_and_cost() {
    let (mut spec, executor) = noted_agent(&NotedModel::new(&script()), &tools());
    spec.approvals.approve = vec!["echo".into()];
    let stage = Stage::set().await;
    register(&stage);
    // The run is replayed at every step.
    let _worker = stage.worker_with(&executor, |builder| builder.cached_runs(0));
    let run = stage.start("attributed", &spec).await;
    let status = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    until(async || {
        let is_found =
            found(&stage, "NeuronState = 'waiting_for_approval'").await == ["attributed"];
        is_found.then_some(())
    })
    .await;
    assert_eq!(
        attributes(&stage, &run).await,
        shown("waiting_for_approval", 0.25)
    );
    let approval = decision(&status.approvals[0], Verdict::Approve);
    stage.client.decide(&run, &approval).await.unwrap();
    stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(attributes(&stage, &run).await, shown("completed", 1.0));
    let query = "NeuronAgent = 'default' AND NeuronState = 'completed' AND NeuronCostUsd >= 1";
    until(async || (found(&stage, query).await == ["attributed"]).then_some(())).await;
    stage.replays(&run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_with_the_search_attributes_for_it_lists_runs_by_whose_they_are() {
    let (spec, executor) = noted_agent(&NotedModel::new(&script()), &tools());
    let stage = Stage::set().await;
    for (name, kind) in [
        ("NeuronTenant", "Keyword"),
        ("NeuronOwner", "Keyword"),
        ("NeuronLabels", "KeywordList"),
    ] {
        search_attribute(&stage, &["create", "--name", name, "--type", kind]);
    }
    let _worker = stage.worker_with(&executor, |builder| builder.cached_runs(0));
    let run = RunId::new("tagged").unwrap();
    let request = RunRequest::new(spec.clone(), Message::user("Go.")).tenant("acme");
    let request = request.owner("ada").label("team", "blue");
    stage.client.start(&run, request).await.unwrap();
    stage.client.wait_for_end(&run).await.unwrap();
    stage.run("untagged", &spec).await;
    let said = BTreeMap::from([
        ("NeuronTenant".to_owned(), json!("acme")),
        ("NeuronOwner".to_owned(), json!("ada")),
        ("NeuronLabels".to_owned(), json!(["team=blue"])),
    ]);
    assert_eq!(attributes(&stage, &run).await, said);
    let query = "NeuronTenant = 'acme' AND NeuronLabels = 'team=blue'";
    until(async || (found(&stage, query).await == ["tagged"]).then_some(())).await;
    for filter in [
        RunFilter::all().tenant("acme"),
        RunFilter::all().owner("ada").label("team", "blue"),
    ] {
        let page = stage.client.list(&filter, PageRequest::default()).await;
        let runs = page.unwrap().runs.into_iter().map(|run| run.run_id);
        assert_eq!(
            runs.collect::<Vec<_>>(),
            std::slice::from_ref(&run),
            "{filter:?}"
        );
    }
    stage.replays(&run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_goes_on_in_fresh_histories_has_the_right_attributes_in_each() {
    let (mut spec, executor) = noted_agent(&NotedModel::new(&script()), &tools());
    spec.approvals.approve = vec!["echo".into()];
    let stage = Stage::set().await;
    register(&stage);
    let worker = stage.worker_with(&executor, |builder| builder.continue_as_new_after(1));
    let run = stage.start("carried", &spec).await;
    let status = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    let before = until(async || {
        let histories = stage.histories(&run).await.len();
        (histories >= 2).then_some(histories)
    })
    .await;
    let waiting = shown("waiting_for_approval", 0.25);
    until(async || (attributes(&stage, &run).await == waiting).then_some(())).await;
    // The search finds the newest history.
    let query = "NeuronState = 'waiting_for_approval' AND ExecutionStatus = 'Running'";
    until(async || (found(&stage, query).await == ["carried"]).then_some(())).await;

    // The next worker does not know that there are attributes, as one that was started before there were.
    drop(worker);
    search_attribute(&stage, &["remove", "--name", "NeuronCostUsd", "--yes"]);
    let _worker = stage.worker_with(&executor, |builder| builder.continue_as_new_after(1));
    until(async || stage.client.status(&run).await.ok()).await;
    search_attribute(
        &stage,
        &["create", "--name", "NeuronCostUsd", "--type", "Double"],
    );
    let approval = decision(&status.approvals[0], Verdict::Approve);
    stage.client.decide(&run, &approval).await.unwrap();
    stage.client.wait_for_end(&run).await.unwrap();
    assert!(stage.histories(&run).await.len() > before);
    assert_eq!(attributes(&stage, &run).await, shown("completed", 1.0));
    let query = "NeuronAgent = 'default' AND NeuronState = 'completed' AND NeuronCostUsd >= 1";
    until(async || (found(&stage, query).await == ["carried"]).then_some(())).await;
    stage.replays_all(&run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_keeps_to_what_its_history_began_with_when_workers_differ() {
    let (mut spec, executor) = noted_agent(&NotedModel::new(&script()), &tools());
    spec.approvals.approve = vec!["*".into()];
    let stage = Stage::set().await;
    let worker = stage.worker(&executor);
    let run = stage.start("without", &spec).await;
    let status = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    drop(worker);
    register(&stage);
    let _worker = stage.worker(&executor);
    let mut ticket = status.approvals[0].clone();
    for _ in 0..2 {
        let approval = decision(&ticket, Verdict::Approve);
        stage.client.decide(&run, &approval).await.unwrap();
        let (client, last) = (&stage.client, ticket.ticket.clone());
        ticket = until(async || {
            let status = client.status(&run).await.ok()?;
            let is_over = status.state == RunPhase::Completed;
            let next = status.approvals.first().cloned();
            next.filter(|next| next.ticket != last)
                .or_else(|| is_over.then(|| ticket.clone()))
        })
        .await;
    }
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(attributes(&stage, &run).await, BTreeMap::new());
    stage.replays(&run).await;
    // A run that starts now has them.
    spec.approvals.approve.clear();
    let run = stage.start("with", &spec).await;
    stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(
        attributes(&stage, &run).await["NeuronState"],
        json!("completed")
    );
    stage.replays(&run).await;
}
