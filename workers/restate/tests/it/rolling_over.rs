//! The worker sets when its runs continue as new.

use neuron_engine::RunClient as _;
use neuron_types::RunPhase;
use serde_json::{Value, json};

use crate::place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn runs_roll_over_when_the_command_line_says_so_and_read_as_one() {
    let turns = json!([
        {"tool_calls": [{"name": "bash", "input": {"command": "echo one >> effects"}}]},
        {"text": "Done."},
    ]);
    let place = Place::new("rolling", &turns).await;
    let http = neuron_tls::client_builder().unwrap().build().unwrap();
    for (name, arguments) in [
        ("never", [].as_slice()),
        ("by-entries", &["--segment-events", "1"]),
        ("by-bytes", &["--segment-bytes", "1"]),
    ] {
        let _worker = place.worker_called_with(arguments).await;
        let run = place.start(name).await;
        let output = place.wait(&run).await;
        assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");

        // Each deployment has a service of its own for the segments.
        let query = format!(
            "SELECT id FROM sys_invocation \
             WHERE target LIKE 'rolling-segments-%/{run}/segment'"
        );
        let asked = http
            .post(format!("{}/query", place.address.admin_url))
            .header("accept", "application/json")
            .json(&json!({ "query": query }));
        let answer: Value = asked.send().await.unwrap().json().await.unwrap();
        let segments = answer["rows"].as_array().unwrap().len();
        // After the first model call, the tool call, and the second model call.
        assert_eq!(segments, if name == "never" { 0 } else { 3 }, "{answer}");

        let url = format!("{}/rolling/{run}/status", place.address.ingress_url);
        let status: Value = http.post(url).send().await.unwrap().json().await.unwrap();
        assert_eq!(status["state"], json!(RunPhase::Completed), "{status}");
        let events = place.client.events_after(&run, 0).await.unwrap();
        assert_eq!(events.len() as u64, events.last().unwrap().seq);
    }
    assert_eq!(place.folder.effects(), "one\none\none\n");
}
