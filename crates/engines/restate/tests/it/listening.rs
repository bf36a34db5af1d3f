//! Where a worker may listen.

use std::future::ready;

use neuron_executor::Executor;
use neuron_restate::{AgentServices, ServiceNames, SettingsError};
use tokio::net::TcpListener;

/// The public key of some server.
const KEY: &str = "publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f";

fn services() -> AgentServices {
    let executor = Executor::builder().build();
    AgentServices::new(ServiceNames::default(), executor, |door, start| {
        Box::pin(neuron_workflows::agent(door, start))
    })
}

async fn serve(services: AgentServices, address: &str) -> Result<(), SettingsError> {
    let listener = TcpListener::bind(address).await.unwrap();
    // The worker is to stop at once.
    services.serve(listener, ready(())).await
}

#[tokio::test]
async fn others_reach_a_worker_only_if_it_asks_for_signatures_or_says_that_it_does_not() {
    let error = serve(services(), "0.0.0.0:0").await.unwrap_err();
    assert!(matches!(error, SettingsError::Exposed { .. }), "{error:?}");

    serve(services(), "127.0.0.1:0").await.unwrap();
    let signed = services().with_identity_keys([KEY.to_owned()]);
    serve(signed, "0.0.0.0:0").await.unwrap();
    let unsigned = services().with_unsigned_requests();
    serve(unsigned, "0.0.0.0:0").await.unwrap();
}
