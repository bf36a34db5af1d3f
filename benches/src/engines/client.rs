//! Starts runs of either side on either engine, and waits for them.

use std::sync::Arc;

use neuron_engine::RunClient;
use neuron_harness::{Addresses, Engine};
use neuron_restate::{RestateClient, ServerAddress, ServiceNames};
use neuron_temporal::AgentClient;
use neuron_types::{RunId, RunPhase};
use temporalio_client::WorkflowStartOptions;
use temporalio_common::UntypedWorkflow;

use super::{
    agent::{self, Placement},
    bare_temporal::{BareWorkflow, Turns},
    side::Side,
};
use crate::failure::Failure;

pub(crate) const NEURON_QUEUE: &str = "neuron";
pub(crate) const BARE_QUEUE: &str = "bare";
pub(crate) const SERVICE_PREFIX: &str = "neuron";

/// The name by which Restate knows the bare workflow.
const BARE_SERVICE: &str = "Bare";

pub(crate) enum Client {
    Neuron {
        runs: Arc<dyn RunClient>,
        /// The client of Temporal, which has histories.
        temporal: Option<AgentClient>,
    },
    BareTemporal(AgentClient),
    BareRestate {
        http: reqwest::Client,
        ingress: String,
    },
}

pub(crate) async fn connect(address: &str) -> Result<AgentClient, Failure> {
    let client = AgentClient::connect_to(address, "default").await?;
    Ok(client.with_task_queue(NEURON_QUEUE))
}

impl Client {
    pub(crate) async fn new(
        engine: Engine,
        side: Side,
        addresses: &Addresses,
        worker: &str,
    ) -> Result<Self, Failure> {
        if engine == Engine::Temporal {
            let client = connect(&addresses.main).await?;
            return Ok(match side {
                Side::Neuron => Self::Neuron {
                    runs: Arc::new(client.clone()),
                    temporal: Some(client),
                },
                Side::Bare => Self::BareTemporal(client),
            });
        }
        let server = ServerAddress {
            ingress_url: addresses.main.clone(),
            admin_url: addresses.http.clone(),
            auth_token: None,
            auth_token_file: None,
        };
        let client = RestateClient::new(server, ServiceNames::new(SERVICE_PREFIX)?)?;
        client.register_over(worker).await?;
        Ok(match side {
            Side::Neuron => Self::Neuron {
                runs: Arc::new(client),
                temporal: None,
            },
            Side::Bare => Self::BareRestate {
                http: neuron_tls::client_builder()?.build()?,
                ingress: addresses.main.clone(),
            },
        })
    }

    /// Makes one run, from its start to its output.
    pub(crate) async fn run(
        &self,
        id: &str,
        turns: u32,
        placement: Placement,
    ) -> Result<(), Failure> {
        let run_id = RunId::new(format!("{id}-{turns}"))?;
        let state = match self {
            Self::Neuron { runs, .. } => {
                let input = agent::input(turns, placement);
                runs.start(&run_id, input.into()).await?;
                runs.wait_for_end(&run_id).await?.state
            }
            Self::BareTemporal(client) => {
                let options = WorkflowStartOptions::new(BARE_QUEUE, format!("bare-{run_id}"));
                let handle = client
                    .temporal()
                    .start_workflow(
                        BareWorkflow::run,
                        Turns { turns, placement },
                        options.build(),
                    )
                    .await?;
                handle.get_result(Default::default()).await?;
                RunPhase::Completed
            }
            Self::BareRestate { http, ingress } => {
                let send = format!("{ingress}/{BARE_SERVICE}/{run_id}/run/send");
                let sent = http.post(send).json(&turns).send().await?;
                sent.error_for_status()?;
                let attach = format!("{ingress}/restate/workflow/{BARE_SERVICE}/{run_id}/attach");
                let ended = http.get(attach).send().await?.error_for_status()?;
                ended.bytes().await?;
                RunPhase::Completed
            }
        };
        if state == RunPhase::Completed {
            Ok(())
        } else {
            Err(format!("run {run_id} ended as {state}").into())
        }
    }

    /// Makes one run that starts this many others, from its start to its output.
    pub(crate) async fn run_tree(&self, id: &str, runs: u32, turns: u32) -> Result<(), Failure> {
        let Self::Neuron { runs: client, .. } = self else {
            return Err("the bare SDKs have no agents that start others".into());
        };
        let run_id = RunId::new(id)?;
        let input = agent::tree(runs, turns);
        client.start(&run_id, input.into()).await?;
        let output = client.wait_for_end(&run_id).await?;
        let used = output.tree().0.total();
        // Each of the runs did its work in each of its turns.
        if output.state == RunPhase::Completed && used >= u64::from(runs * turns) {
            Ok(())
        } else {
            Err(format!("run {run_id} ended as {} with {used} tokens", output.state).into())
        }
    }

    /// Returns how many events the history of a run has, on Temporal.
    pub(crate) async fn events(&self, id: &str, turns: u32) -> Result<u32, Failure> {
        let client = match self {
            Self::Neuron { temporal, .. } => temporal.as_ref(),
            Self::BareTemporal(client) => Some(client),
            Self::BareRestate { .. } => None,
        };
        let handle = client
            .ok_or("only Temporal has histories")?
            .temporal()
            .get_workflow_handle::<UntypedWorkflow>(format!("{id}-{turns}"));
        let described = handle.describe(Default::default()).await?;
        let info = described.raw().workflow_execution_info.clone();
        let length = info
            .ok_or("the server tells nothing of the run")?
            .history_length;
        Ok(u32::try_from(length)?)
    }
}
