//! A dev server, workers on it, and the agents that they run.

use std::{sync::Arc, thread::JoinHandle, time::Duration};

use neuron_runtime::Executor;
use neuron_temporal::{
    AgentClient, AgentWorker, AgentWorkerBuilder, AgentWorkflow, Executors, TemporalDurableContext,
};
use neuron_tool::ToolRegistry;
use neuron_types::{
    AgentSpec, CompletionRequest, DurableError, Message, RunId, RunInput, RunOutput, RunPhase,
    RunStatus,
};
use temporalio_client::{Client, ClientOptions, Connection, ConnectionOptions};
use tokio::sync::oneshot;

use crate::{dev_server::DevServer, model::NotedModel, tools::TestTool};

pub(crate) struct Agent;

impl AgentWorkflow for Agent {
    const NAME: &'static str = "agent";

    async fn run(
        door: TemporalDurableContext<Self>,
        input: RunInput,
    ) -> Result<RunOutput, DurableError> {
        neuron_workflows::agent(door, input).await
    }
}

/// A server and a client of it. The server ends with it.
pub(crate) struct Stage {
    pub(crate) client: AgentClient,
    server: DevServer,
}

impl Stage {
    pub(crate) async fn set() -> Self {
        let server = tokio::task::spawn_blocking(DevServer::start).await.unwrap();
        let client = connect(&server.address).await;
        Self { client, server }
    }

    /// Starts a worker on a thread of its own.
    pub(crate) fn worker(&self, executor: &Executor) -> TestWorker {
        self.worker_with(executor, |builder| builder)
    }

    pub(crate) fn worker_with(
        &self,
        executor: &Executor,
        settings: impl FnOnce(AgentWorkerBuilder) -> AgentWorkerBuilder + Send + 'static,
    ) -> TestWorker {
        let (stop, stopped) = oneshot::channel::<()>();
        let (address, executor) = (self.server.address.clone(), executor.clone());
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let client = connect(&address).await;
                let builder = AgentWorker::builder(&client, Executors::single(executor));
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
            .start(&run_id, input(agent), "neuron")
            .await
            .unwrap();
        run_id
    }

    pub(crate) async fn run(&self, run_id: &str, agent: &AgentSpec) -> RunOutput {
        let run_id = self.start(run_id, agent).await;
        self.client.wait(&run_id).await.unwrap()
    }

    /// Waits until the run is in this state.
    pub(crate) async fn reaches(&self, run_id: &RunId, state: RunPhase) -> RunStatus {
        until(async || {
            let status = self.client.status(run_id).await.ok()?;
            (status.state == state).then_some(status)
        })
        .await
    }

    /// Runs Temporal's own command about the run `by-command`: whether it did it, and what it said.
    pub(crate) fn temporal(&self, args: &[&str]) -> (bool, String) {
        let output = std::process::Command::new(crate::dev_server::program())
            .args(args)
            .args(["--workflow-id", "by-command", "--address"])
            .arg(&self.server.address)
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        (output.status.success(), said)
    }

    /// The size of the run's history in bytes and its events.
    pub(crate) async fn history(&self, run_id: &RunId) -> (usize, usize) {
        let described = self
            .client
            .temporal()
            .get_workflow_handle::<temporalio_common::UntypedWorkflow>(run_id.as_str())
            .describe(Default::default())
            .await
            .unwrap();
        let info = described.raw().workflow_execution_info.clone().unwrap();
        (
            usize::try_from(info.history_size_bytes).unwrap(),
            usize::try_from(info.history_length).unwrap(),
        )
    }

    /// Replays the run's history. With `NEURON_RECORD` set it is kept for later builds, too.
    pub(crate) async fn replays(&self, run_id: &RunId) {
        let json = self.client.export(run_id).await.unwrap();
        if std::env::var_os("NEURON_RECORD").is_some() {
            let path = crate::replays::recordings().join(format!("{run_id}.json"));
            std::fs::write(path, &json).unwrap();
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), json).unwrap();
        let replay = neuron_temporal::Replay::new::<Agent>().unwrap();
        replay.file(file.path()).await.unwrap();
    }
}

async fn connect(address: &str) -> AgentClient {
    let url: temporalio_client::Url = format!("http://{address}").parse().unwrap();
    let connection = until(async || {
        let options = ConnectionOptions::new(url.clone()).build();
        Connection::connect(options).await.ok()
    })
    .await;
    let client = Client::new(connection, ClientOptions::new("default").build()).unwrap();
    AgentClient::new(client, address)
}

/// Asks until there is an answer.
pub(crate) async fn until<T>(mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let asking = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), asking)
        .await
        .expect("it happens within a minute")
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

/// An agent that calls the model with these tools, and the executor that makes its calls.
pub(crate) fn agent(model: &NotedModel, tools: &[TestTool]) -> (AgentSpec, Executor) {
    let mut registry = ToolRegistry::new();
    for tool in tools {
        registry.register_dyn(Arc::new(tool.clone()));
    }
    let spec = AgentSpec {
        request: CompletionRequest {
            provider: Some("script".into()),
            model: "script".into(),
            tools: registry.definitions(),
            ..CompletionRequest::default()
        },
        tool_timeout: Duration::from_secs(60),
        ..AgentSpec::default()
    };
    let executor = Executor::builder()
        .provider("script", model.clone())
        .tools(registry)
        .build();
    (spec, executor)
}

pub(crate) fn input(agent: &AgentSpec) -> RunInput {
    RunInput {
        agent: agent.clone(),
        prompt: Message::user("Go."),
    }
}
