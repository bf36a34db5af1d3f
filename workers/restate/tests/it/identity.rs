//! Only requests of the server whose key is set are accepted.

use std::{path::Path, sync::Arc};

use neuron_harness::{Engine, EngineServer, http::get, until};
use serde_json::json;

use crate::place::Place;

/// A key of zeros.
const PRIVATE_KEY: &str = "-----BEGIN PRIVATE KEY-----\n\
    MC4CAQAwBQYDK2VwBCIEIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n\
    -----END PRIVATE KEY-----\n";

/// The public key of another server.
pub(crate) const OTHER_KEY: &str = "publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f";

async fn signing_server(key: &Path) -> EngineServer {
    let setting = "RESTATE_WORKER__INVOKER__REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE";
    let variables = [
        (setting, key.to_str().unwrap()),
        ("RESTATE_LOG_FILTER", "info"),
    ];
    let server = EngineServer::find_with(Engine::Restate, &variables).await;
    server.unwrap()
}

/// Returns the server's public key, which it logs.
fn public_key(server: &EngineServer) -> String {
    let data = server
        .data()
        .expect("this test needs a server on this machine");
    let log = std::fs::read_to_string(data.join("log")).unwrap();
    let start = log.find("publickeyv1_").expect("the server says its key");
    let key = log[start..].chars();
    key.take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_takes_the_requests_of_its_server_only() {
    // The server reads the key again and again.
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), PRIVATE_KEY).unwrap();
    let server = signing_server(file.path()).await;
    let key = public_key(&server);
    let turns = json!([{"text": "Done."}]);
    let place = Place::on(Arc::new(server), "signed", &turns, "");

    let stranger = place.unregistered(&[("RESTATE_IDENTITY_KEYS", OTHER_KEY)]);
    let refusal = until(async || {
        let worker = place
            .client
            .register_over(&format!("http://{}", place.listen))
            .await;
        worker.err()
    })
    .await;
    let refusal = neuron_types::with_causes(&refusal);
    assert!(refusal.contains("401"), "{refusal}");
    assert_eq!(get(&stranger.health, "/readyz").unwrap().0, 503);
    drop(stranger);

    let both = format!("{OTHER_KEY}, {key}");
    let _worker = place.worker_with(&[("RESTATE_IDENTITY_KEYS", &both)]).await;
    let run = place.start("signed").await;
    assert_eq!(place.wait(&run).await.output.as_deref(), Some("Done."));
}
