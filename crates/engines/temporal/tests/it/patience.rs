//! A worker whose server is away.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use neuron_temporal::{AgentClient, AgentWorker, SearchAttributes};
use neuron_testing::{NotedModel, noted_agent};
use serde_json::json;
use temporalio_client::{
    Client, ClientOptions, Connection, ConnectionOptions, RetryOptions, Url,
    callback_based::{CallbackBasedGrpcService, GrpcRequest, GrpcSuccessResponse},
    tonic::Status,
};

use crate::stage::Agent;

/// More requests than a worker of the SDK makes by default: 10.
const AWAY: usize = 40;

/// Only so that it does not take long.
const SOON: Duration = Duration::from_millis(1); // Between two requests.

const DAY: Duration = Duration::from_secs(24 * 60 * 60); // Nothing ends by it.

/// Returns a server that is away for so many of a worker's requests, and does not know its namespace then.
fn server(asked: &Arc<AtomicUsize>) -> CallbackBasedGrpcService {
    let asked = Arc::clone(asked);
    let answer = move |request: GrpcRequest| match request.rpc.as_str() {
        "GetSystemInfo" => Ok(GrpcSuccessResponse {
            headers: Default::default(),
            proto: Vec::new(),
        }),
        "DescribeNamespace" if asked.fetch_add(1, Ordering::SeqCst) < AWAY => {
            Err(Status::unavailable("away"))
        }
        _ => Err(Status::not_found("unknown")),
    };
    CallbackBasedGrpcService {
        callback: Arc::new(move |request| {
            let answer = answer(request);
            Box::pin(async { answer })
        }),
    }
}

#[tokio::test]
async fn a_worker_tries_its_requests_again_for_as_long_as_its_client_says() {
    let asked = Arc::<AtomicUsize>::default();
    let url: Url = "http://server.invalid:7233".parse().unwrap();
    let retries = RetryOptions::builder()
        .initial_interval(SOON)
        .max_interval(SOON)
        .max_elapsed_time(Some(DAY))
        .max_retries(usize::MAX);
    let connection = ConnectionOptions::new(url)
        .service_override(server(&asked))
        .dns_load_balancing(None)
        .retry_options(retries.build())
        .build();
    let connection = Connection::connect(connection).await.unwrap();
    let client = Client::new(connection, ClientOptions::new("default").build()).unwrap();
    let model = NotedModel::new(&json!({"turns": []}));
    let (_, executor) = noted_agent(&model, &[]);
    let mut worker = AgentWorker::builder(&AgentClient::new(client, "the server"), executor)
        .search_attributes(SearchAttributes::Off)
        .workflow::<Agent>()
        .build()
        .unwrap();
    worker.run(pending()).await.unwrap_err();
    assert_eq!(asked.load(Ordering::SeqCst), AWAY + 1);
}
