//! The worker's own health.

use neuron_harness::http::get;
use serde_json::json;

use crate::place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn it_says_what_it_serves_and_answers_about_itself() {
    let place = Place::new("health", &json!([{"text": "Done."}])).await;
    let worker = place.worker().await;
    let line = &worker.program.line;
    assert!(
        line.starts_with("serving default to Restate at http://127.0.0.1:"),
        "{line}"
    );
    assert!(line.ends_with(", service health\n"), "{line}");
    let run = place.start("counted").await;
    place.wait(&run).await;
    let (status, body) = get(&worker.health, "/healthz").unwrap();
    assert_eq!((status, body.as_str()), (200, "ok\n"));
    let (status, metrics) = get(&worker.health, "/metrics").unwrap();
    assert_eq!(status, 200);
    let counted = "neuron_attempts_total{kind=\"model\",outcome=\"succeeded\"} 1";
    assert!(metrics.lines().any(|line| line == counted), "{metrics}");
    assert_eq!(get(&worker.health, "/other").unwrap().0, 404);
    let status = worker.program.stop().await;
    assert_eq!(status.code(), Some(0));
}
