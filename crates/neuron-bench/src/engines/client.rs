//! Starts runs of either side on either engine, and waits for them.

use neuron_restate::{RestateClient, ServerAddress, ServiceNames};
use neuron_temporal::AgentClient;
use neuron_testing::{Addresses, Engine};
use neuron_types::{RunId, RunPhase};
use temporalio_client::{
    Client as SdkClient, ClientOptions, Connection, ConnectionOptions, Url, WorkflowStartOptions,
};
use temporalio_common::UntypedWorkflow;

use super::{
    Side,
    agent::{self, Placement},
    bare_temporal::{BareWorkflow, Turns},
};
use crate::Failure;

pub(crate) const NEURON_QUEUE: &str = "neuron";
pub(crate) const BARE_QUEUE: &str = "bare";
pub(crate) const SERVICE_PREFIX: &str = "neuron";

/// The name that Restate knows the bare workflow by.
const BARE_SERVICE: &str = "Bare";

pub(crate) enum Client {
    Temporal(AgentClient),
    BareTemporal(AgentClient),
    Restate(RestateClient),
    BareRestate {
        http: reqwest::Client,
        ingress: String,
    },
}

pub(crate) async fn connect(address: &str) -> Result<AgentClient, Failure> {
    let url: Url = format!("http://{address}").parse()?;
    let options = ConnectionOptions::new(url).build();
    let connection = Connection::connect(options).await?;
    let client = SdkClient::new(connection, ClientOptions::new("default").build())?;
    Ok(AgentClient::new(client, address))
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
                Side::Neuron => Self::Temporal(client),
                Side::Bare => Self::BareTemporal(client),
            });
        }
        let server = ServerAddress {
            ingress_url: addresses.main.clone(),
            admin_url: addresses.http.clone(),
            auth_token: None,
        };
        let client = RestateClient::new(server, ServiceNames::new(SERVICE_PREFIX)?)?;
        client.register(worker).await?;
        Ok(match side {
            Side::Neuron => Self::Restate(client),
            Side::Bare => Self::BareRestate {
                http: reqwest::Client::new(),
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
        let input = || agent::input(turns, placement);
        let state = match self {
            Self::Temporal(client) => {
                client.start(&run_id, input(), NEURON_QUEUE).await?;
                client.wait(&run_id).await?.state
            }
            Self::Restate(client) => {
                client.start(&run_id, &input()).await?;
                client.wait(&run_id).await?.state
            }
            Self::BareTemporal(client) => {
                let options = WorkflowStartOptions::new(BARE_QUEUE, format!("bare-{run_id}"));
                let local = placement == Placement::Local;
                let handle = client
                    .temporal()
                    .start_workflow(BareWorkflow::run, Turns { turns, local }, options.build())
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

    /// How many events the history of a run has, on Temporal.
    pub(crate) async fn events(&self, id: &str, turns: u32) -> Result<u32, Failure> {
        let (Self::Temporal(client) | Self::BareTemporal(client)) = self else {
            return Err("only Temporal has histories".into());
        };
        let handle = client
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
