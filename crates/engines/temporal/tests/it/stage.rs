//! A dev server, workers on it, and the agents that they run.

use std::{any::Any, thread::JoinHandle, time::Duration};

use futures::StreamExt as _;
use neuron_engine::RunClient as _;
use neuron_executor::Executor;
use neuron_harness::{Engine, EngineServer, Launcher, until};
use neuron_temporal::{
    AgentClient, AgentWorker, AgentWorkerBuilder, AgentWorkflow, TemporalDurableContext,
};
use neuron_testing::{Desk, input_of};
use neuron_types::{AgentSpec, DurableError, RunId, RunOutput, RunPhase, RunStart, RunStatus};
use serde_json::Value;
use temporalio_client::{Client, UntypedSignal, WorkflowExecutionInfo, WorkflowHandle};
use temporalio_common::{
    UntypedWorkflow,
    data_converters::{PayloadConverter, RawValue},
    protos::temporal::api::history::v1::history_event::Attributes,
};
use tokio::sync::oneshot;

/// The heartbeat interval: a call learns of its cancellation within this time.
const BEAT: Duration = Duration::from_secs(1); // Only so that it does not take long.

pub(crate) struct Agent;

impl AgentWorkflow for Agent {
    const NAME: &'static str = "agent";

    async fn run(
        door: TemporalDurableContext<Self>,
        start: RunStart,
    ) -> Result<RunOutput, DurableError> {
        neuron_workflows::run_of_tree::<Desk, _>(door, start).await
    }
}

/// The size of a history.
#[derive(Debug)]
pub(crate) struct History {
    /// Temporal's id of it.
    pub(crate) id: String,
    pub(crate) events: usize,
    pub(crate) bytes: usize,
}

/// A server and a client of it. The server ends when this is dropped.
pub(crate) struct Stage {
    pub(crate) client: AgentClient,
    address: String,
    /// The server, of whatever kind.
    _server: Box<dyn Any + Send + Sync>,
}

impl Stage {
    pub(crate) async fn set() -> Self {
        let server = EngineServer::find(Engine::Temporal).await.unwrap();
        let address = server.addresses().main.clone();
        Self::on(address, Box::new(server)).await
    }

    async fn on(address: String, server: Box<dyn Any + Send + Sync>) -> Self {
        Self {
            client: connect(&address).await,
            address,
            _server: server,
        }
    }

    /// Returns the address of the server.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Starts a worker on a separate thread.
    pub(crate) fn worker(&self, executor: &Executor) -> TestWorker {
        self.worker_with(executor, |builder| builder)
    }

    pub(crate) fn worker_with(
        &self,
        executor: &Executor,
        settings: impl FnOnce(AgentWorkerBuilder) -> AgentWorkerBuilder + Send + 'static,
    ) -> TestWorker {
        let (stop, stopped) = oneshot::channel::<()>();
        let (address, executor) = (self.address.clone(), executor.clone());
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let client = connect(&address).await;
                let builder = AgentWorker::builder(&client, executor)
                    .accept_definitions(true)
                    .heartbeat_interval(BEAT);
                let mut worker = settings(builder).workflow::<Agent>().build().unwrap();
                worker
                    .run(async {
                        let _ = stopped.await;
                    })
                    .await
                    .unwrap();
            });
        });
        TestWorker {
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    pub(crate) async fn start(&self, run_id: &str, agent: &AgentSpec) -> RunId {
        let run_id = RunId::new(run_id).unwrap();
        self.client
            .start(&run_id, input_of(agent).into())
            .await
            .unwrap();
        run_id
    }

    pub(crate) async fn run(&self, run_id: &str, agent: &AgentSpec) -> RunOutput {
        let run_id = self.start(run_id, agent).await;
        self.client.wait_for_end(&run_id).await.unwrap()
    }

    /// Waits until the run is in this state.
    pub(crate) async fn reaches(&self, run_id: &RunId, state: RunPhase) -> RunStatus {
        until(async || {
            let status = self.client.status(run_id).await.ok()?;
            (status.state == state).then_some(status)
        })
        .await
    }

    /// Runs Temporal's own command about the run `by-command`. Returns whether it succeeded, and what it printed.
    pub(crate) fn temporal(&self, args: &[&str]) -> (bool, String) {
        let Ok(Launcher::Native(program)) = Launcher::find(Engine::Temporal) else {
            panic!("the server's program is also its command");
        };
        let output = std::process::Command::new(program)
            .args(args)
            .args(["--workflow-id", "by-command", "--address"])
            .arg(&self.address)
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        (output.status.success(), said)
    }

    /// Returns the size of the run's history in bytes and its events.
    pub(crate) async fn history(&self, run_id: &RunId) -> (usize, usize) {
        let described = self
            .client
            .temporal()
            .get_workflow_handle::<UntypedWorkflow>(run_id.as_str())
            .describe(Default::default())
            .await
            .unwrap();
        let info = described.raw().workflow_execution_info.clone().unwrap();
        (
            usize::try_from(info.history_size_bytes).unwrap(),
            usize::try_from(info.history_length).unwrap(),
        )
    }

    /// Returns the run's histories, the oldest first.
    pub(crate) async fn histories(&self, run_id: &RunId) -> Vec<History> {
        let mut histories: Vec<History> = Vec::new();
        let client = self.client.temporal();
        let mut handle = client.get_workflow_handle::<UntypedWorkflow>(run_id.as_str());
        loop {
            let described = handle.describe(Default::default()).await.unwrap();
            let info = described.raw().workflow_execution_info.clone().unwrap();
            let id = info.execution.unwrap().run_id;
            let mut events = handle.fetch_history(Default::default());
            let first = events.next().await.unwrap().unwrap();
            let Some(Attributes::WorkflowExecutionStartedEventAttributes(started)) =
                first.attributes
            else {
                panic!("{first:?}");
            };
            let history = History {
                id,
                events: usize::try_from(info.history_length).unwrap(),
                bytes: usize::try_from(info.history_size_bytes).unwrap(),
            };
            histories.insert(0, history);
            if started.continued_execution_run_id.is_empty() {
                return histories;
            }
            handle = self.handle_of(run_id, started.continued_execution_run_id);
        }
    }

    fn handle_of(
        &self,
        run_id: &RunId,
        history: String,
    ) -> WorkflowHandle<Client, UntypedWorkflow> {
        let info = WorkflowExecutionInfo::builder()
            .namespace("default")
            .workflow_id(run_id.as_str())
            .run_id(history)
            .build();
        WorkflowHandle::new(self.client.temporal().clone(), info)
    }

    /// Sends a signal as any client of Temporal does: nothing checks it.
    pub(crate) async fn signal_raw(&self, run_id: &RunId, name: &str, payload: &Value) {
        let payload = RawValue::from_value(payload, &PayloadConverter::default());
        let client = self.client.temporal();
        let handle = client.get_workflow_handle::<UntypedWorkflow>(run_id.as_str());
        let signal = UntypedSignal::new(name);
        let sent = handle.signal(signal, payload, Default::default()).await;
        sent.unwrap();
    }

    /// Replays every history of a run that is over, with a worker without any marks of its own.
    pub(crate) async fn replays_all(&self, run_id: &RunId) {
        let replay = neuron_temporal::Replay::new::<Agent>().unwrap();
        for (number, history) in self.histories(run_id).await.into_iter().enumerate() {
            let json = self
                .client
                .export_history(run_id, &history.id)
                .await
                .unwrap();
            // Large ones are not worth their space.
            if std::env::var_os("NEURON_RECORD").is_some() && json.len() < 50_000 {
                let name = format!("{run_id}-{number}.json");
                std::fs::write(crate::replays::recordings().join(name), &json).unwrap();
            }
            replay.json(json.as_bytes()).await.unwrap();
        }
    }

    /// Replays the run's history. With `NEURON_RECORD` set it is kept for later builds, too.
    pub(crate) async fn replays(&self, run_id: &RunId) {
        let json = self.client.export(run_id).await.unwrap();
        // Large ones are not worth their space.
        if std::env::var_os("NEURON_RECORD").is_some() && json.len() < 700_000 {
            let path = crate::replays::recordings().join(format!("{run_id}.json"));
            std::fs::write(path, &json).unwrap();
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), json).unwrap();
        let replay = neuron_temporal::Replay::new::<Agent>().unwrap();
        replay.file(file.path()).await.unwrap();
    }
}

pub(crate) async fn connect(address: &str) -> AgentClient {
    until(async || AgentClient::connect_to(address, "default").await.ok()).await
}

/// A worker that stops when it is dropped.
pub(crate) struct TestWorker {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for TestWorker {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            if !std::thread::panicking() {
                ended.expect("the worker ends without a panic");
            }
        }
    }
}
