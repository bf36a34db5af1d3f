//! Runs that workers execute which a Restate server calls.

use std::{env, time::Duration};

use neuron_restate::{ClientError, RestateClient, ServerAddress, ServiceNames};
use neuron_runtime::OpenTicket;
use neuron_types::{
    Decision, RecordedEvent, RunId, RunInput, RunOutput, RunPhase, RunStatus, UserMessage,
};
use serde_json::Value;

use super::{EngineError, task_queue, tickets};
use crate::{CliError, args::EngineName};

/// Of how many runs at most the tickets are looked for.
const MOST_RUNS: usize = 1000;

/// How long a worker may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a worker may take to tell the status before the server is asked.
const STATUS_PATIENCE: Duration = Duration::from_secs(3);

/// What starts a worker.
const WORKER: &str = "neuron-restate-worker --register";

/// When a run is asked again that a worker takes up just now.
const SOON: Duration = Duration::from_millis(50);

/// A Restate server, and the services under one prefix.
#[derive(Debug, Clone)]
pub(crate) struct Restate {
    client: RestateClient,
}

impl Restate {
    pub(super) fn connect() -> Result<Self, EngineError> {
        let names = ServiceNames::new(task_queue())
            .map_err(|error| EngineError::Settings(error.to_string(), error.into()))?;
        let address = ServerAddress::from_environment(|name| env::var(name).ok());
        let client = RestateClient::new(address, names)
            .map_err(|error| EngineError::Settings(error.to_string(), error.into()))?;
        Ok(Self { client })
    }

    pub(super) async fn start(&self, run_id: &RunId, input: RunInput) -> Result<(), CliError> {
        self.ask(run_id, async || self.client.start(run_id, &input).await)
            .await
    }

    pub(super) async fn status(&self, run_id: &RunId) -> Result<RunStatus, CliError> {
        let told = tokio::time::timeout(STATUS_PATIENCE, self.told_status(run_id)).await;
        match told {
            Ok(status) => Ok(status.map_err(|error| translated(run_id, error))?),
            // The server has the status too, where no worker answers.
            Err(_) => self.kept_status(run_id).await,
        }
    }

    /// The status as a worker tells it.
    async fn told_status(&self, run_id: &RunId) -> Result<RunStatus, ClientError> {
        loop {
            match self.client.status(run_id).await {
                // A run that was started and has told nothing yet has no output either.
                Err(error) if is_missing(&error) => match self.client.output(run_id).await {
                    Ok(None) => tokio::time::sleep(SOON).await,
                    // It ended between the two questions, and has told everything by now.
                    Ok(Some(_)) => return self.client.status(run_id).await,
                    Err(_) => return Err(error),
                },
                answer => return answer,
            }
        }
    }

    /// The status as the server has it.
    async fn kept_status(&self, run_id: &RunId) -> Result<RunStatus, CliError> {
        let mut runs = self.list(usize::MAX).await?.into_iter();
        if let Some(status) = runs.find(|status| status.run_id == *run_id) {
            return Ok(status);
        }
        match self.client.output(run_id).await {
            Ok(_) => Err(no_worker(run_id).into()),
            Err(error) => Err(translated(run_id, error).into()),
        }
    }

    pub(super) async fn events(
        &self,
        run_id: &RunId,
        after: u64,
    ) -> Result<Vec<RecordedEvent>, CliError> {
        // A page at a time: many events may take longer than a worker may take to answer.
        let (mut events, mut seen) = (Vec::new(), after);
        loop {
            let ask = async || self.client.events_page(run_id, seen).await;
            let page: Vec<RecordedEvent> = self.ask(run_id, ask).await?;
            let Some(last) = page.last() else {
                return Ok(events);
            };
            seen = last.seq;
            events.extend(page);
        }
    }

    pub(super) async fn output(&self, run_id: &RunId) -> Result<RunOutput, CliError> {
        let output = self.client.wait(run_id).await;
        Ok(output.map_err(|error| translated(run_id, error))?)
    }

    pub(super) async fn ended(&self, run_id: &RunId) {
        // What keeps it from being said, whoever looks at the run will see.
        self.client.wait(run_id).await.ok();
    }

    pub(super) async fn runs(&self, limit: u32) -> Result<Vec<RunStatus>, CliError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok(self.list(limit).await?)
    }

    pub(super) async fn approvals(
        &self,
        run_id: Option<&RunId>,
    ) -> Result<Vec<OpenTicket>, CliError> {
        if let Some(run_id) = run_id {
            return Ok(tickets([self.status(run_id).await?]));
        }
        let runs = self.list(MOST_RUNS).await?;
        // The oldest first: they have waited longest.
        Ok(tickets(runs.into_iter().rev()))
    }

    pub(super) async fn decide(&self, run_id: &RunId, decision: &Decision) -> Result<(), CliError> {
        self.tell(run_id, async || self.client.decide(run_id, decision).await)
            .await
    }

    pub(super) async fn send(&self, run_id: &RunId, message: UserMessage) -> Result<(), CliError> {
        self.tell(run_id, async || {
            self.client.send(run_id, &message.text).await
        })
        .await
    }

    pub(super) async fn signal(
        &self,
        run_id: &RunId,
        name: &str,
        payload: Value,
    ) -> Result<(), CliError> {
        self.tell(run_id, async || {
            self.client.signal(run_id, name, payload.clone()).await
        })
        .await
    }

    pub(super) async fn cancel(
        &self,
        run_id: &RunId,
        reason: Option<String>,
    ) -> Result<RunPhase, CliError> {
        self.tell(run_id, async || {
            self.client.cancel(run_id, reason.clone()).await
        })
        .await?;
        Ok(RunPhase::Running)
    }

    async fn list(&self, limit: usize) -> Result<Vec<RunStatus>, EngineError> {
        match self.client.list(limit).await {
            Ok(page) => Ok(page.runs),
            Err(error) => Err(failed(error)),
        }
    }

    /// Reaches into a run, also if it was started so shortly ago that it is not under way yet.
    async fn tell(
        &self,
        run_id: &RunId,
        tell: impl AsyncFn() -> Result<(), ClientError>,
    ) -> Result<(), CliError> {
        match tokio::time::timeout(PATIENCE, tell()).await {
            Ok(Err(error)) if is_missing(&error) => {
                self.status(run_id).await?;
                self.ask(run_id, tell).await
            }
            Ok(answer) => Ok(answer.map_err(|error| translated(run_id, error))?),
            Err(_) => Err(EngineError::NotTaken {
                run_id: run_id.clone(),
                worker: WORKER,
            }
            .into()),
        }
    }

    /// Waits for an answer as long as a worker may take, and says what its failing means.
    async fn ask<T>(
        &self,
        run_id: &RunId,
        ask: impl AsyncFn() -> Result<T, ClientError>,
    ) -> Result<T, CliError> {
        match tokio::time::timeout(PATIENCE, ask()).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(translated(run_id, error).into()),
            Err(_) => Err(no_worker(run_id).into()),
        }
    }
}

/// Whether the server says that there is no such thing: the run, something in it, or the service.
fn is_missing(error: &ClientError) -> bool {
    matches!(error, ClientError::Refused { status: 404, .. })
}

fn translated(run_id: &RunId, error: ClientError) -> EngineError {
    match error {
        ClientError::UnknownRun { run_id } => EngineError::UnknownRun { run_id },
        ClientError::RunExists { run_id } => EngineError::RunExists { run_id },
        ClientError::NoAnswer { .. } => no_worker(run_id),
        ClientError::Refused { status, message } if status < 500 => EngineError::Refused(message),
        other => failed(other),
    }
}

fn no_worker(run_id: &RunId) -> EngineError {
    EngineError::NoWorker {
        run_id: run_id.clone(),
        worker: WORKER,
    }
}

fn failed(error: ClientError) -> EngineError {
    match error {
        ClientError::Unreachable { url, source } => EngineError::Unreachable {
            engine: EngineName::Restate,
            address: url,
            variable: "RESTATE_INGRESS_URL and RESTATE_ADMIN_URL",
            source: source.into(),
        },
        other => EngineError::Failed {
            engine: EngineName::Restate,
            source: other.into(),
        },
    }
}
