//! The worker's own health.

use neuron_engine::RunClient as _;
use neuron_harness::{free_address, http::get, until};
use serde_json::json;

use crate::place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn says_what_it_serves_lives_is_ready_and_measures() {
    let place = Place::new(&json!([{"text": "Hi."}])).await;
    let address = free_address();
    let worker = place.worker_with(&["--http", &address, "--task-queue", "neuron"]);
    assert_eq!(
        worker.line,
        format!(
            "serving default on Temporal at http://{}/, namespace default, task queue neuron\n",
            place.server.addresses().main
        )
    );
    assert_eq!(get(&address, "/healthz"), Some((200, "ok\n".into())));
    assert_eq!(get(&address, "/readyz"), Some((200, "ready\n".into())));
    assert_eq!(get(&address, "/nothing").unwrap().0, 404);
    let run = place.start("measured").await;
    place.client.wait_for_end(&run).await.unwrap();
    until(async || {
        let (code, body) = get(&address, "/metrics")?;
        let counted = [
            "temporal_workflow_completed_total",
            "temporal_worker_task_slots_available",
            "temporal_num_pollers",
            "temporal_activity_execution_latency_seconds_bucket",
            "temporal_workflow_task_execution_latency_seconds_bucket",
        ];
        (code == 200 && counted.iter().all(|name| body.contains(name))).then_some(())
    })
    .await;
    let Place { server, .. } = place;
    drop(server);
    until(async || (get(&address, "/readyz")?.0 == 503).then_some(())).await;
    assert_eq!(get(&address, "/healthz"), Some((200, "ok\n".into())));
}
