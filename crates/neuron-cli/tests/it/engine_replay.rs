//! `neuron replay`

use std::process::Command;

use neuron_testing::{Engine, Launcher};

use crate::{engine_place::Place, support::one_command};

#[test]
fn replays_what_temporal_exported_and_tells_of_a_difference() {
    let place = Place::new(Engine::Temporal, &one_command("true"), "tools = [\"bash\"]");
    let (home, worker) = (&place.home, place.worker());
    home.neuron(&["submit", "--id", "r1", "--wait", "go"])
        .exits(0);
    drop(worker);
    let Launcher::Native(temporal) = Launcher::find(Engine::Temporal).unwrap() else {
        panic!("this test needs Temporal's own command: set NEURON_TEMPORAL to it");
    };
    let exported = Command::new(temporal)
        .args([
            "workflow",
            "show",
            "--workflow-id",
            "r1",
            "--output",
            "json",
        ])
        .envs(home.variables())
        .output()
        .unwrap();
    let history = String::from_utf8(exported.stdout).unwrap();
    home.write("r1.json", &history);
    home.neuron(&["replay", "r1.json"])
        .exits(0)
        .prints("r1.json replays: ok\n");
    let replayed = home
        .neuron(&["replay", "r1.json", "--json"])
        .exits(0)
        .json();
    assert_eq!(replayed["ok"], true);

    // As if the workflow of then had slept where this one calls the model.
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
        .says("error: this build would have gone another way than other.json")
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
