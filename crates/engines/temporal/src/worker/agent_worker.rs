//! A worker: serves workflows and makes the calls of their runs.

use std::{
    fmt,
    future::Future,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use futures::future::LocalBoxFuture;
use neuron_engine::{RunClient as _, SegmentSize};
use neuron_executor::{Agents, EventSink, Executors, NoSink};
use temporalio_client::Client;
use temporalio_common::{telemetry::TelemetryOptions, worker::WorkerDeploymentOptions};
use temporalio_sdk::{Worker, WorkerOptions, WorkflowRegistrationError};
use temporalio_sdk_core::CoreRuntime;
use tokio_util::sync::CancellationToken;

use crate::{
    activities::{agent_activities::AgentActivities, attempt::Attempts},
    client::AgentClient,
    conversation::memory::Memory,
    state::{
        agent_host::AgentHost,
        hosting::Hosting,
        registered::{Registered, SearchAttributes},
        segments::Segments,
    },
    wire::names::DEFAULT_TASK_QUEUE,
    worker::{
        patient,
        slots::Slots,
        worker_error::{WorkerError, failed},
    },
    workflow::agent_workflow::AgentWorkflow,
};

/// The heartbeat interval: cancelling a run reaches a call within this time.
const HEARTBEATS: Duration = Duration::from_secs(5);

/// Timeout of the sticky queue: the runs of a killed worker move to another worker after this. A client waits
/// longer.
const STAYS: Duration = Duration::from_secs(5);

const TRANSCRIPT_CACHE_BYTES: usize = 64 * 1024 * 1024;

/// How long steps in flight may take when the worker stops: less than the 30 s after which Kubernetes kills it, so that
/// cancelled steps are still reported.
const GRACE: Duration = Duration::from_secs(25);

/// Serves workflows on one task queue. Made by [`AgentWorker::builder`].
pub struct AgentWorker {
    worker: Worker,
    client: Client,
    registered: Arc<Registered>,
    stopping: CancellationToken,
    // The worker uses the runtime for as long as it exists.
    _runtime: CoreRuntime,
}

type Register = fn(&mut WorkerOptions, Hosting) -> Result<(), WorkflowRegistrationError>;

fn register<W: AgentWorkflow>(
    options: &mut WorkerOptions,
    hosting: Hosting,
) -> Result<(), WorkflowRegistrationError> {
    let host = move || AgentHost::new(hosting.clone());
    options.register_workflow_with_factory::<AgentHost<W>, _>(host)?;
    Ok(())
}

/// Builds an [`AgentWorker`].
#[must_use]
pub struct AgentWorkerBuilder {
    client: Client,
    executors: Executors,
    agents: Agents,
    pub(super) options: WorkerOptions,
    pub(super) slots: Slots,
    workflows: Vec<Register>,
    transcript_cache_bytes: usize,
    pub(super) heartbeat_interval: Duration,
    sink: Arc<dyn EventSink>,
    pub(super) segments: Segments,
    pub(super) search_attributes: SearchAttributes,
    accepts_definitions: bool,
    telemetry: TelemetryOptions,
}

impl AgentWorker {
    /// Starts building a worker that makes calls with these executors: an [`Executor`](neuron_executor::Executor) for
    /// every agent, or [one for each](Executors::by_agent).
    pub fn builder(client: &AgentClient, executors: impl Into<Executors>) -> AgentWorkerBuilder {
        let executors: Executors = executors.into();
        let build = concat!("neuron-temporal/", env!("CARGO_PKG_VERSION")).to_owned();
        AgentWorkerBuilder {
            client: client.temporal().clone(),
            executors: executors.with_place(&client.place()),
            agents: Agents::default(),
            options: WorkerOptions::new(DEFAULT_TASK_QUEUE)
                .deployment_options(WorkerDeploymentOptions::from_build_id(build))
                .max_heartbeat_throttle_interval(HEARTBEATS)
                .sticky_queue_schedule_to_start_timeout(STAYS)
                .graceful_shutdown_period(GRACE)
                .build(),
            slots: Slots::default(),
            workflows: Vec::new(),
            transcript_cache_bytes: TRANSCRIPT_CACHE_BYTES,
            heartbeat_interval: HEARTBEATS,
            sink: Arc::new(NoSink),
            segments: Segments::default(),
            search_attributes: SearchAttributes::default(),
            accepts_definitions: false,
            telemetry: TelemetryOptions::default(),
        }
    }

    /// Returns the task queue that the worker serves.
    #[must_use]
    pub fn task_queue(&self) -> &str {
        self.worker.task_queue()
    }

    /// Serves until `stop` is done, then lets the steps in flight end.
    ///
    /// A step that has not ended after the grace period is cancelled; another worker makes its next attempt, unless it
    /// is a write, which fails with an unknown outcome.
    ///
    /// The future is not `Send`: run it on the main task or in a [`LocalSet`](tokio::task::LocalSet).
    ///
    /// # Errors
    ///
    /// [`WorkerError`] if the server does not accept the worker or the worker breaks.
    pub async fn run(&mut self, stop: impl Future<Output = ()>) -> Result<(), WorkerError> {
        self.run_until(pin!(stop)).await
    }

    /// Serves until `stop` is done. Boxed, so that the SDK's worker is compiled here once, and not in every program.
    fn run_until<'a>(
        &'a mut self,
        stop: Pin<&'a mut dyn Future<Output = ()>>,
    ) -> LocalBoxFuture<'a, Result<(), WorkerError>> {
        Box::pin(async move {
            let has_answer = self.registered.ask(&self.client).await;
            let (registered, client) = (&self.registered, &self.client);
            let ask_again = async {
                match has_answer {
                    true => std::future::pending().await,
                    false => registered.ask_again(client).await,
                }
            };
            let shut_down = self.worker.shutdown_handle();
            let mut run = pin!(self.worker.run());
            let ended = tokio::select! {
                ended = &mut run => ended,
                never = ask_again => match never {},
                () = stop => {
                    self.stopping.cancel();
                    shut_down();
                    run.await
                }
            };
            ended.map_err(failed("ended"))
        })
    }
}

impl AgentWorkerBuilder {
    /// Sets the task queue. Default is [`DEFAULT_TASK_QUEUE`].
    pub fn task_queue(mut self, name: impl Into<String>) -> Self {
        self.options.task_queue = name.into();
        self
    }

    /// Sets the agents whose runs are started by name. Default is no agent.
    pub fn agents(mut self, agents: Agents) -> Self {
        self.agents = agents;
        self
    }

    /// Sets whether callers may start runs with whole definitions of agents, and not only with names. It is for
    /// development: a caller then decides what instructions the agent has, which of the executor's tools it calls and
    /// whom it asks. Default is `false`: a run that is started with a definition fails before its first step.
    pub fn accept_definitions(mut self, accept: bool) -> Self {
        self.accepts_definitions = accept;
        self
    }

    /// Also serves this workflow.
    pub fn workflow<W: AgentWorkflow>(mut self) -> Self {
        self.workflows.push(register::<W>);
        self
    }

    /// Sets the sink of the events of runs as they happen here, and of attempts that are followed by another. A sink
    /// that [wants tokens](EventSink::wants_tokens) gets answers while they arrive, from the worker that calls the
    /// model. Default is no sink.
    ///
    /// A replay of what the server has taken emits nothing. The newest workflow task is executed again if the server
    /// does not take it, because it came too late or a signal came at the same time, or if it was executed to answer a
    /// query before. Then its events are emitted again: see [`EventSink`] for what they supersede.
    pub fn sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.sink = sink;
        self
    }

    /// Sets how many bytes of conversations are remembered, a quarter of them for tool results that are not yet part of
    /// a model call. With 0 every model call reads its run's history. Default is 64 MiB.
    pub fn transcript_cache_bytes(mut self, bytes: usize) -> Self {
        self.transcript_cache_bytes = bytes;
        self
    }

    /// Makes a run continue as new before its history has more than so many events. Default is what the server
    /// suggests, at about 4,000 events or 4 MB.
    ///
    /// A step that makes more events than any before it in the same history may exceed the mark, and so may a run with
    /// something in flight. Workers of one task queue may have different marks: a replay follows the history.
    pub fn continue_as_new_after(mut self, events: usize) -> Self {
        self.segments.wanted.entries = events as u64;
        self
    }

    /// As [`continue_as_new_after`](Self::continue_as_new_after), for the bytes of the history, which the workflow
    /// knows with an error of about a tenth. A history that begins with a large state may have three times the bytes of
    /// that state.
    pub fn continue_as_new_after_bytes(mut self, bytes: usize) -> Self {
        self.segments.wanted.bytes = bytes as u64;
        self
    }

    /// Sets how many events and bytes the server takes in one history: its `limit.historyCount.error` and
    /// `limit.historySize.error`. Defaults are [`HISTORY_LIMIT_EVENTS`](crate::HISTORY_LIMIT_EVENTS) and
    /// [`HISTORY_LIMIT_BYTES`](crate::HISTORY_LIMIT_BYTES).
    ///
    /// A run whose state is too large to be handed to the next history continues until four fifths of this, and then
    /// fails with an error that names what to configure.
    pub fn history_limits(mut self, events: usize, bytes: usize) -> Self {
        self.segments.limit = SegmentSize::new(events as u64, bytes as u64);
        self
    }

    /// Sets how many runs are kept in memory; others are replayed when something happens in them. Default is 1,000.
    pub fn cached_runs(mut self, runs: usize) -> Self {
        self.options.max_cached_workflows = runs;
        self
    }

    /// Sets how long steps in flight may take when the worker stops. Default is 25 s.
    pub fn grace(mut self, period: Duration) -> Self {
        self.options.graceful_shutdown_period = Some(period);
        self
    }

    /// Sets where the SDK's metrics and logs go. Default is nowhere.
    pub fn telemetry(mut self, options: TelemetryOptions) -> Self {
        self.telemetry = options;
        self
    }

    /// Builds the worker, which must run on the tokio runtime that it is built on.
    ///
    /// # Errors
    ///
    /// [`WorkerError`] if two workflows have one name or the SDK rejects the options.
    pub fn build(mut self) -> Result<AgentWorker, WorkerError> {
        let registered = Arc::new(Registered::new(self.search_attributes));
        let mut executors = self.executors.granting(&self.agents).with_sink(&self.sink);
        if !self.accepts_definitions {
            executors = executors.rejecting_definitions();
        }
        let hosting = Hosting {
            sink: Arc::clone(&self.sink),
            segments: Arc::new(self.segments),
            registered: Arc::clone(&registered),
            executors: executors.clone(),
        };
        self.options.tuner = self.slots.into();
        for register in self.workflows {
            register(&mut self.options, hosting.clone())
                .map_err(failed("cannot serve its workflows"))?;
        }
        let stopping = CancellationToken::new();
        self.options.register_activities(AgentActivities {
            executors,
            memory: Memory::new(self.transcript_cache_bytes),
            attempts: Attempts {
                sink: self.sink,
                stopping: stopping.clone(),
                heartbeat_interval: self.heartbeat_interval,
            },
        });
        let (runtime, worker) = patient::worker(self.telemetry, &self.client, self.options)?;
        Ok(AgentWorker {
            worker,
            client: self.client,
            registered,
            stopping,
            _runtime: runtime,
        })
    }
}

impl fmt::Debug for AgentWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentWorker")
            .field("task_queue", &self.task_queue())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for AgentWorkerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentWorkerBuilder")
            .field("task_queue", &self.options.task_queue)
            .finish_non_exhaustive()
    }
}
