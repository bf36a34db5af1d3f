//! What a worker takes from callers.

use neuron_engine::RunClient as _;
use neuron_types::{Message, RunPhase, RunRequest};
use serde_json::json;

use crate::place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_is_taken_only_where_the_worker_was_started_for_it() {
    let turns = json!([{"text": "Hi."}]);
    let place = Place::new(&turns).await;
    let whole = || RunRequest::new(place.folder.definition(), Message::user("Go."));

    let worker = place.worker();
    let run = place.start_with("rejected", whole()).await;
    let output = place.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.state, RunPhase::Failed, "{output:?}");
    let message = output.error.unwrap().message;
    assert!(message.contains("takes names only"), "{message}");
    assert!(worker.stop().await.success());

    let _worker = place.worker_with(&["--accept-definitions"]);
    let run = place.start_with("taken", whole()).await;
    let output = place.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.state, RunPhase::Completed, "{output:?}");
}
