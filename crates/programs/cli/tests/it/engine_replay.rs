//! `neuron replay`

use neuron_harness::Engine;
use serde_json::{Value, json};

use crate::{engine_place::Place, support::one_command};

#[test]
fn replays_what_temporal_exported_and_tells_of_a_difference() {
    let place = Place::new(Engine::Temporal, &one_command("true"), "tools = [\"bash\"]");
    let (home, worker) = (&place.home, place.worker());
    home.neuron(&["submit", "--id", "r1", "--wait", "go"])
        .exits(0);
    drop(worker);
    let history = place.temporal(&[
        "workflow",
        "show",
        "--workflow-id",
        "r1",
        "--output",
        "json",
    ]);
    home.write("r1.json", &history);
    home.neuron(&["replay", "r1.json"])
        .exits(0)
        .prints("r1.json replays: ok\n");
    let replayed = home
        .neuron(&["replay", "r1.json", "--json"])
        .exits(0)
        .json();
    assert_eq!(replayed["ok"], true);

    // The history of a workflow that slept where this one calls the model.
    let other = history
        .replacen(
            "EVENT_TYPE_ACTIVITY_TASK_SCHEDULED",
            "EVENT_TYPE_TIMER_STARTED",
            1,
        )
        .replacen(
            "activityTaskScheduledEventAttributes",
            "timerStartedEventAttributes",
            1,
        );
    home.write("other.json", &other);
    home.neuron(&["replay", "other.json"])
        .exits(1)
        .prints("")
        .says("error: this build decides differently from other.json")
        .says("Nondeterminism error");
    let differs = home
        .neuron(&["replay", "other.json", "--json"])
        .exits(1)
        .json();
    assert_eq!(differs["ok"], false);
    for file in ["neuron.toml", "missing.json"] {
        home.neuron(&["replay", file])
            .exits(2)
            .prints("")
            .says("cannot be replayed");
    }
}

#[test]
fn replays_each_history_of_a_run_that_rolled_over() {
    let look = json!({ "tool_calls": [{ "name": "bash", "input": { "command": "echo look" } }] });
    let script = json!([look, look, look, look, { "text": "Done." }]);
    let place = Place::new(Engine::Temporal, &script, "tools = [\"bash\"]");
    let (home, worker) = (&place.home, place.worker_with(&["--segment-events", "20"]));
    home.neuron(&["submit", "--id", "r1", "--wait", "go"])
        .exits(0);
    drop(worker);

    // The commands of the book: the newest history, and each of them by its id.
    let show = [
        "workflow",
        "show",
        "--workflow-id",
        "r1",
        "--output",
        "json",
    ];
    let mut exports = vec![place.temporal(&show)];
    let query = ["workflow", "list", "--query", "WorkflowId = 'r1'"];
    let listed = place.temporal(&[&query[..], &["--output", "json"]].concat());
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let listed = listed.as_array().unwrap();
    assert!(listed.len() >= 3, "{listed:#?}");
    for history in listed {
        let id = history["execution"]["runId"].as_str().unwrap();
        exports.push(place.temporal(&[&show[..], &["--run-id", id]].concat()));
    }
    assert!(exports[1..].contains(&exports[0]), "the newest is listed");
    for exported in exports {
        home.write("history.json", &exported);
        home.neuron(&["replay", "history.json"])
            .exits(0)
            .prints("history.json replays: ok\n");
    }
}
