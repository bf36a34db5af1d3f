//! Attempts that hang.

use std::time::Duration;

use neuron_types::AgentSpec;
use serde_json::json;

use crate::{Ending, Host, Stage, agent, stages::record::expect_text};

/// A model call and calls of each kind of tool that are never released: the run ends nevertheless.
pub async fn attempts_without_a_result_time_out<H: Host>(host: &H) {
    const TIMEOUT: Duration = Duration::from_secs(3); // Where it ends another attempt, one more is made.
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
        let is_write = position == 3;
        let Some((last, before)) = attempts.split_last() else {
            // The time of the only attempt at a write may be over before it arrives.
            assert!(is_write, "step {turn}:{position} was never made");
            continue;
        };
        assert!(before.iter().all(|attempt| attempt.was(Ending::Dropped)));
        assert!(last.was(if is_write {
            Ending::Dropped
        } else {
            Ending::Answered
        }));
        assert_eq!(before.is_empty(), is_write, "{attempts:#?}");
    }
    drop(gates);
    // The number of attempts depends on the machine.
    expect_text("timeouts", &format!("== run\n{}", record.course()));
}
