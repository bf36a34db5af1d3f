//! What a worker takes from callers.

use neuron_types::{Message, RunPhase, RunRequest};
use serde_json::json;

use crate::place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_is_taken_only_where_the_worker_was_started_for_it() {
    let turns = json!([{"text": "Hi."}]);
    let place = Place::new("callers", &turns).await;
    let whole = || RunRequest::new(place.folder.definition(), Message::user("Go."));

    let worker = place.worker().await;
    let run = place.start_with("rejected", whole()).await;
    let output = place.wait(&run).await;
    assert_eq!(output.state, RunPhase::Failed, "{output:?}");
    let message = output.error.unwrap().message;
    assert!(message.contains("takes names only"), "{message}");
    assert!(worker.program.stop().await.success());

    let _worker = place.worker_called_with(&["--accept-definitions"]).await;
    let run = place.start_with("taken", whole()).await;
    let output = place.wait(&run).await;
    assert_eq!(output.state, RunPhase::Completed, "{output:?}");
}
