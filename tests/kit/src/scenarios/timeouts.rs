//! Attempts that hang.

use std::time::Duration;

use neuron_types::AgentSpec;
use serde_json::json;

use crate::{Ending, Host, Stage, agent, expect};

/// A model call and calls of each kind of tool that nobody lets go on: the run ends nevertheless.
pub async fn attempts_without_a_result_time_out<H: Host>(host: &H) {
    /// Long enough for the calls that are let go on.
    const TIMEOUT: Duration = Duration::from_secs(5);
    let stage = Stage::open(host, "timeouts").await;
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "look", "input": {"text": "seen"}},
            {"name": "put", "input": {}},
            {"name": "write", "input": {}},
        ]},
        {"text": "Done."},
    ]});
    let agent = AgentSpec {
        model_timeout: TIMEOUT,
        tool_timeout: TIMEOUT,
        ..agent()
    };
    let places = [(1, 0), (1, 1), (1, 3), (2, 0)];
    let gates = places.map(|(turn, position)| stage.world.hold("run", turn, position));
    let record = stage.submit("run", &script, agent).await.ends().await;
    for (turn, position) in places {
        let attempts = record.attempts_at(turn, position);
        assert!(attempts[0].was(Ending::Dropped), "{attempts:#?}");
        assert_eq!(attempts.len(), if position == 3 { 1 } else { 2 });
    }
    drop(gates);
    expect("timeouts", &[record]);
}
