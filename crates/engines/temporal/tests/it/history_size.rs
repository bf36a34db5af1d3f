//! A history grows with the conversation, and is the same whichever worker assembles the conversation.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, Mutex},
    time::Instant,
};

use futures::StreamExt as _;
use neuron_config::ScriptModel;
use neuron_executor::Executor;
use neuron_harness::until;
use neuron_temporal::AgentClient;
use neuron_testing::{NotedModel, NotedTool, noted_agent};
use neuron_tool::ToolRegistry;
use neuron_types::{
    AgentSpec, CompletionRequest, CompletionResponse, Limits, Placement, Provider, ProviderError,
    RunId, RunOutput, ToolEffects,
};
use serde_json::{Value, json};
use temporalio_client::tonic::Request;
use temporalio_common::{
    UntypedWorkflow,
    protos::temporal::api::{
        common::v1::{Payloads, WorkflowExecution},
        failure::v1::{Failure as ApiFailure, failure::FailureInfo},
        history::v1::history_event::Attributes,
        workflowservice::v1::ResetStickyTaskQueueRequest,
    },
};

use crate::stage::Stage;

const TURNS: usize = 100;
const LIMIT: usize = 1_200_000;
const RESULT: usize = 4_096;

fn script(turns: usize) -> Value {
    let mut turns: Vec<_> = (1..turns)
        .map(|n| json!({"tool_calls": [{"name": "read", "input": {"n": n}}]}))
        .collect();
    turns.push(json!({"text": "Done."}));
    json!({ "turns": turns })
}

/// Returns a tool whose results have so many bytes.
fn read(bytes: usize) -> NotedTool {
    NotedTool::new("read", ToolEffects::ReadOnly, move |input| async move {
        let n = input["n"].to_string();
        Ok(neuron_types::ToolOutput::text(n.repeat(bytes / n.len())))
    })
}

fn spec(turns: usize) -> AgentSpec {
    let (spec, _) = noted_agent(&NotedModel::new(&script(turns)), &[read(RESULT)]);
    AgentSpec {
        limits: Limits {
            turns: None,
            tool_calls: None,
            ..Limits::default()
        },
        ..spec
    }
}

/// A scripted model that remembers its requests.
#[derive(Clone)]
struct SeenModel {
    script: Arc<ScriptModel>,
    /// The digests of the requests, in order, and the workers that made them.
    seen: Arc<Mutex<Vec<(u64, &'static str)>>>,
    worker: &'static str,
    /// The size of the tool results that the requests contain.
    result: usize,
}

impl SeenModel {
    fn new(turns: usize) -> Self {
        Self::with_results_of(RESULT, turns)
    }

    fn with_results_of(result: usize, turns: usize) -> Self {
        Self {
            script: Arc::new(ScriptModel::parse(&script(turns).to_string()).unwrap()),
            seen: Arc::default(),
            worker: "any",
            result,
        }
    }

    /// Returns the same model as this worker reaches it.
    fn of(&self, worker: &'static str) -> Self {
        Self {
            worker,
            ..self.clone()
        }
    }

    fn executor(&self) -> Executor {
        executor(self.clone(), self.result)
    }

    fn requests(&self) -> Vec<u64> {
        let seen = self.seen.lock().unwrap();
        seen.iter().map(|(request, _)| *request).collect()
    }

    /// Returns how often a request came from another worker than the one before.
    fn returns(&self) -> usize {
        let seen = self.seen.lock().unwrap();
        let pairs = seen.windows(2);
        pairs.filter(|pair| pair[0].1 != pair[1].1).count()
    }

    /// Returns how many requests the last worker has made in a row.
    fn stayed(&self) -> usize {
        let seen = self.seen.lock().unwrap();
        let last = seen.iter().rev();
        last.take_while(|(_, worker)| *worker == self.worker)
            .count()
    }
}

/// Returns an executor that calls this model and reads so many bytes.
fn executor(model: impl Provider + 'static, result: usize) -> Executor {
    let mut tools = ToolRegistry::new();
    tools.register_dyn(Arc::new(read(result)));
    Executor::builder()
        .provider("script", model)
        .tools(tools)
        .build()
}

impl Provider for SeenModel {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let mut hasher = DefaultHasher::new();
        serde_json::to_string(request).unwrap().hash(&mut hasher);
        let request_seen = (hasher.finish(), self.worker);
        self.seen.lock().unwrap().push(request_seen);
        self.script.complete(request).await
    }
}

/// Returns the content of a history: each event except the workflow's own tasks, with its payload.
///
/// Panics if an attempt at a call failed: a conversation with the wrong checksum is one.
async fn told(stage: &Stage, run: &RunId) -> Vec<(String, String)> {
    let client = stage.client.temporal();
    let handle = client.get_workflow_handle::<UntypedWorkflow>(run.as_str());
    let mut events = handle.fetch_history(Default::default());
    let mut told = Vec::new();
    while let Some(event) = events.next().await {
        let event = event.unwrap();
        let kind = event.event_type().as_str_name();
        if kind.starts_with("EVENT_TYPE_WORKFLOW_TASK") {
            continue;
        }
        let carried = match event.attributes.unwrap() {
            Attributes::WorkflowExecutionStartedEventAttributes(started) => started.input,
            Attributes::ActivityTaskScheduledEventAttributes(scheduled) => scheduled.input,
            Attributes::ActivityTaskStartedEventAttributes(started) => {
                let failure = started.last_failure;
                assert!(failure.as_ref().is_none_or(is_of_the_server), "{failure:?}");
                None
            }
            Attributes::ActivityTaskCompletedEventAttributes(completed) => completed.result,
            Attributes::WorkflowExecutionCompletedEventAttributes(completed) => completed.result,
            _ => None,
        };
        let carried = text(carried).replace(run.as_str(), "RUN");
        told.push((kind.to_owned(), without_times(&without_nonces(&carried))));
    }
    told
}

/// Returns the text without what only one run has.
fn without_nonces(text: &str) -> String {
    let mut parts = text.split("\"nonce\":\"");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |before, part| {
        let (nonce, rest) = part.split_once('"').unwrap();
        assert_eq!(nonce.len(), 36, "{nonce}");
        format!("{before}\"nonce\":\"NONCE\"{rest}")
    })
}

/// Returns the text without durations.
fn without_times(text: &str) -> String {
    let mut parts = text.split("\"took_ms\":");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |before, part| {
        let rest = part.trim_start_matches(|digit: char| digit.is_ascii_digit());
        assert_ne!(rest.len(), part.len(), "{part}");
        format!("{before}\"took_ms\":0{rest}")
    })
}

/// Returns whether the failure comes from the server and no worker: a worker that stops may drop a task that the server
/// was just sending to it, and the server gives the task to another one after the heartbeat timeout.
fn is_of_the_server(failure: &ApiFailure) -> bool {
    matches!(
        failure.failure_info,
        Some(FailureInfo::TimeoutFailureInfo(_))
    )
}

fn text(payloads: Option<Payloads>) -> String {
    let payloads = payloads.unwrap_or_default().payloads;
    let bytes: Vec<u8> = payloads
        .into_iter()
        .flat_map(|payload| payload.data)
        .collect();
    String::from_utf8(bytes).unwrap()
}

/// The result of a run of a hundred turns.
struct Course {
    output: RunOutput,
    requests: Vec<u64>,
    told: Vec<(String, String)>,
    bytes: usize,
}

impl Course {
    async fn of(stage: &Stage, name: &str, model: &SeenModel) -> Self {
        Self::of_agent(stage, name, model, &spec(TURNS)).await
    }

    async fn of_agent(stage: &Stage, name: &str, model: &SeenModel, agent: &AgentSpec) -> Self {
        let start = Instant::now();
        let mut output = stage.run(name, agent).await;
        let took = start.elapsed();
        assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
        let run = std::mem::replace(&mut output.run_id, RunId::new("RUN").unwrap());
        let (bytes, events) = stage.history(&run).await;
        println!("{name}: {bytes} bytes, {events} events, {took:?}");
        assert!(bytes < LIMIT, "{bytes} bytes");
        Self {
            output,
            requests: model.requests(),
            told: told(stage, &run).await,
            bytes,
        }
    }

    fn assert_is_that_of(&self, other: &Self) {
        assert_eq!(self.output, other.output);
        // The model got the same requests, and none twice.
        assert_eq!(self.requests, other.requests);
        assert_eq!(self.told.len(), other.told.len());
        for (number, (here, there)) in self.told.iter().zip(&other.told).enumerate() {
            assert_eq!(here, there, "event {number} that is no workflow task");
        }
        // Workers that hand a run over may have workflow tasks that the others do not have.
        let difference = self.bytes.abs_diff(other.bytes);
        let most = other.bytes / 50;
        assert!(difference < most, "{} and {}", self.bytes, other.bytes);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_turns_of_four_kilobytes_have_one_small_history_whoever_remembers_them() {
    let stage = Stage::set().await;
    let model = SeenModel::new(TURNS);
    let worker = stage.worker(&model.executor());
    let cached = Course::of(&stage, "100-remembered", &model).await;
    drop(worker);
    assert_eq!(cached.requests.len(), TURNS);

    let model = SeenModel::new(TURNS);
    let worker = stage.worker_with(&model.executor(), |builder| {
        builder.transcript_cache_bytes(0)
    });
    let uncached = Course::of(&stage, "100-read-again", &model).await;
    drop(worker);
    uncached.assert_is_that_of(&cached);
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_that_take_turns_leave_the_same_history() {
    let stage = Stage::set().await;
    let model = SeenModel::new(TURNS);
    let worker = stage.worker(&model.executor());
    let settled = Course::of(&stage, "100-stays", &model).await;
    drop(worker);

    let model = SeenModel::new(TURNS);
    // The worker that takes over remembers nothing of the conversation.
    let leaving = async {
        for part in 1..=4 {
            let enough = part * TURNS / 5;
            let _worker = stage.worker(&model.executor());
            until(async || (model.requests().len() >= enough).then_some(())).await;
        }
        stage.worker(&model.executor())
    };
    let (left, _last) = tokio::join!(Course::of(&stage, "100-left", &model), leaving);
    left.assert_is_that_of(&settled);
}

/// The same model, and the run moves to another worker whenever a worker has had it for a while.
#[derive(Clone)]
struct HandedOver {
    model: SeenModel,
    client: AgentClient,
    run: &'static str,
}

impl HandedOver {
    /// The least number of turns in a row for which a worker has the run.
    const STAY: usize = 5;

    /// Makes the server give the run's next task to any worker, and not to the one that had the last.
    async fn hand_over(&self) {
        let mut service = self.client.temporal().connection().workflow_service();
        let request = ResetStickyTaskQueueRequest {
            namespace: "default".into(),
            execution: Some(WorkflowExecution {
                workflow_id: self.run.to_owned(),
                run_id: String::new(),
            }),
        };
        let reset = service.reset_sticky_task_queue(Request::new(request));
        reset.await.unwrap();
    }
}

impl Provider for HandedOver {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let response = self.model.complete(request).await;
        // Until the server chooses the other worker. The run has no task while a call is in flight.
        if self.model.stayed() >= Self::STAY {
            self.hand_over().await;
        }
        response
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_gets_a_run_back_takes_nothing_for_true_that_it_remembers() {
    let stage = Stage::set().await;
    let model = SeenModel::new(TURNS);
    let worker = stage.worker(&model.executor());
    let settled = Course::of(&stage, "100-kept", &model).await;
    drop(worker);

    // Both workers remember of the run what they knew when they lost it.
    let run = "100-given-back";
    let model = SeenModel::new(TURNS);
    let _workers = ["a", "b"].map(|worker| {
        let (model, client) = (model.of(worker), stage.client.clone());
        stage.worker(&executor(HandedOver { model, client, run }, RESULT))
    });
    let given_back = Course::of(&stage, run, &model).await;
    let returns = model.returns();
    println!("{returns} times the other worker had the run");
    assert!(returns >= 4, "{returns}");
    given_back.assert_is_that_of(&settled);
}

/// The size of results that are named instead of sent.
const LARGE: usize = 32 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn large_results_are_in_a_history_once_whoever_remembers_them() {
    const TURNS: usize = 25;
    let stage = Stage::set().await;
    let model = SeenModel::with_results_of(LARGE, TURNS);
    let worker = stage.worker(&model.executor());
    let cached = Course::of_agent(&stage, "named", &model, &spec(TURNS)).await;
    drop(worker);
    assert!(cached.bytes < LARGE * TURNS * 11 / 10, "{}", cached.bytes);

    let model = SeenModel::with_results_of(LARGE, TURNS);
    let worker = stage.worker_with(&model.executor(), |builder| {
        builder.transcript_cache_bytes(0)
    });
    let uncached = Course::of_agent(&stage, "named-read-again", &model, &spec(TURNS)).await;
    drop(worker);
    uncached.assert_is_that_of(&cached);

    // A worker has made the model calls of its turns, and none of the others.
    let run = "named-given-back";
    let model = SeenModel::with_results_of(LARGE, TURNS);
    let _workers = ["a", "b"].map(|worker| {
        let (model, client) = (model.of(worker), stage.client.clone());
        stage.worker(&executor(HandedOver { model, client, run }, LARGE))
    });
    let given_back = Course::of_agent(&stage, run, &model, &spec(TURNS)).await;
    assert!(model.returns() >= 1);
    given_back.assert_is_that_of(&cached);
}

fn beside(turns: usize) -> AgentSpec {
    let mut spec = spec(turns);
    spec.activity.placement = Some(Placement::Local);
    spec
}

#[tokio::test(flavor = "multi_thread")]
async fn model_calls_beside_the_run_ask_the_same_and_cost_a_tenth_of_the_events() {
    let stage = Stage::set().await;
    let model = SeenModel::new(TURNS);
    let worker = stage.worker(&model.executor());
    let elsewhere = Course::of(&stage, "elsewhere", &model).await;
    drop(worker);
    let (_, activities) = stage.history(&RunId::new("elsewhere").unwrap()).await;

    let model = SeenModel::new(TURNS);
    let worker = stage.worker(&model.executor());
    let here = Course::of_agent(&stage, "beside", &model, &beside(TURNS)).await;
    drop(worker);
    let run = RunId::new("beside").unwrap();
    let (_, markers) = stage.history(&run).await;
    assert_eq!(here.requests, elsewhere.requests);
    assert_eq!(here.output, elsewhere.output);
    // Two a turn, and the run's own tasks: there are more of them on a busy machine.
    assert!(markers < activities / 4, "{markers} and {activities}");
    assert!(here.bytes < 700_000, "{} bytes", here.bytes);
    stage.replays(&run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_with_model_calls_beside_it_goes_on_where_nothing_is_remembered() {
    let stage = Stage::set().await;
    let settled = SeenModel::new(TURNS);
    let worker = stage.worker(&settled.executor());
    let output = stage.run("beside-settled", &beside(TURNS)).await;
    drop(worker);

    let model = SeenModel::new(TURNS);
    let leaving = async {
        for part in 1..=3 {
            let enough = part * TURNS / 4;
            let _worker = stage.worker(&model.executor());
            until(async || (model.requests().len() >= enough).then_some(())).await;
        }
        stage.worker(&model.executor())
    };
    let left = beside(TURNS);
    let (left, last) = tokio::join!(stage.run("beside-left", &left), leaving);
    drop(last);
    assert_eq!(left.output, output.output);
    // A worker that stops does not take back what it has not handed over.
    let mut asked = model.requests();
    asked.dedup();
    assert_eq!(asked, settled.requests());
    stage.replays(&left.run_id).await;

    let model = SeenModel::new(TURNS);
    let _worker = stage.worker_with(&model.executor(), |builder| {
        builder.transcript_cache_bytes(0)
    });
    let forgetful = stage.run("beside-forgetful", &beside(TURNS)).await;
    assert_eq!(forgetful.output, output.output);
    assert_eq!(model.requests(), settled.requests());
    stage.replays(&forgetful.run_id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_hundred_turns_of_four_kilobytes_complete() {
    const TURNS: usize = 300;
    let stage = Stage::set().await;
    let model = SeenModel::new(TURNS);
    let _worker = stage.worker(&model.executor());
    let start = Instant::now();
    let output = stage.run("three-hundred", &spec(TURNS)).await;
    let took = start.elapsed();
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(output.turns as usize, TURNS);
    assert_eq!(model.requests().len(), TURNS);
    let (bytes, events) = stage.history(&output.run_id).await;
    println!("300 turns: {bytes} bytes, {events} events, {took:?}");
    assert!(bytes < 3 * LIMIT, "{bytes} bytes");
}
