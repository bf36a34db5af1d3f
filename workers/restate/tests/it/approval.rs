//! A person decides by plain HTTP, while no worker is running.

use std::time::Duration;

use neuron_engine::RunClient as _;
use neuron_harness::until;
use neuron_types::RunPhase;
use serde_json::json;

use crate::place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn decisions_by_plain_http_reach_a_run_whose_worker_is_away() {
    let place = Place::with_settings(
        "by-http",
        &json!([
            {"tool_calls": [
                {"name": "bash", "input": {"command": "echo one >> effects"}},
                {"name": "bash", "input": {"command": "echo two >> effects"}},
            ]},
            {"text": "Done."},
        ]),
        "ask = [\"bash\"]",
    )
    .await;
    let worker = place.worker().await;
    let run = place.start("asked").await;
    let tickets = until(async || {
        let status = place.client.status(&run).await.ok()?;
        let waits = status.state == RunPhase::WaitingForApproval;
        waits.then_some(status.approvals)
    })
    .await;
    worker.program.kill();

    let http = neuron_tls::client_builder().unwrap().build().unwrap();
    let ingress = &place.address.ingress_url;
    let answer = |n: usize| json!({"ticket": tickets[n].ticket, "digest": tickets[n].digest});
    // `…/send` is answered as soon as the server has stored the request.
    for (handler, n) in [("approve", 0), ("deny", 1)] {
        let url = format!("{ingress}/by-http/{run}/{handler}/send");
        let response = http.post(url).json(&answer(n)).send().await.unwrap();
        assert!(response.status().is_success(), "{response:?}");
    }
    let short = Duration::from_millis(200); // Too short it misses a defect, and finds none where none is.
    tokio::time::timeout(short, place.client.wait_for_end(&run))
        .await
        .expect_err("nobody is there to go on");
    assert_eq!(place.folder.effects(), "");

    let _worker = place.worker().await;
    let output = place.wait(&run).await;
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(place.folder.effects(), "one\n");
}
