//! Ctrl-C and SIGTERM during a run.

use std::fs::File;

use serde_json::{Value, json};

use crate::support::{Home, eventually, one_command};

/// A command that locks a file, shows that it has begun, and stays.
const STAYS: &str = "exec 9> held; flock 9; touch begun; while :; do sleep 0.05; done"; // It only ends when it is killed.

/// Returns a model that is killed before it answers.
fn slow() -> Value {
    const A_DAY: u64 = 86_400_000;
    json!([{ "text": "Hi.", "delay_ms": A_DAY }]) // Never waited for.
}

/// Returns whether any process has the lock.
fn is_held(home: &Home) -> bool {
    File::open(home.path("held")).unwrap().try_lock().is_err()
}

#[test]
fn the_first_signal_ends_the_tool_and_leaves_a_run_that_can_be_resumed() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let home = Home::with_script(&one_command(STAYS), "tools = [\"bash\"]");
        let run = home.start(&["run", "--id", "r1", "go"]);
        home.await_file("begun");
        run.signal(signal);
        run.done()
            .exits(code)
            .prints("")
            .says("run r1 was interrupted; continue it with: neuron resume r1");
        eventually("the end of the tool's processes", || !is_held(&home));
        let status = home.status("r1");
        assert_eq!(status["state"], "interrupted");
        assert_eq!(status["blocked"]["kind"], "no_process");
        home.neuron(&["status", "r1"]).exits(0);
        // A write whose outcome is unknown is not made again: the model gets that as the result.
        std::fs::remove_file(home.path("begun")).unwrap();
        home.neuron(&["resume", "r1"])
            .exits(0)
            .prints("Done.\n")
            .says("bash failed (outcome_unknown)");
        assert!(!home.exists("begun"));
    }
}

#[test]
fn prints_no_json_when_it_is_interrupted() {
    let slow = slow();
    let home = Home::with_script(&slow, "");
    let run = home.start(&["run", "--id", "r1", "--json", "go"]);
    home.await_event("r1", "turn_started");
    run.signal("INT");
    run.done().exits(130).prints("");
    home.script(&json!([{ "text": "Hi." }]));
    home.neuron(&["resume", "r1"]).exits(0).prints("Hi.\n");
}

#[test]
fn a_run_that_was_cut_off_is_shown_as_such() {
    let slow = slow();
    let home = Home::with_script(&slow, "");
    let run = home.start(&["run", "--id", "r1", "go"]);
    home.await_event("r1", "turn_started");
    run.signal("KILL");
    run.done();
    let runs = home.neuron(&["runs"]).exits(0);
    assert!(runs.stdout.contains("interrupted"), "{runs:#?}");
    let why =
        "run r1 was interrupted, and no process executes it; continue it with: neuron resume r1";
    home.neuron(&["wait", "r1"]).exits(3).says(why);
    let events = home.neuron(&["events", "--follow", "r1"]);
    events.exits(3).says(why);
    let status = home.neuron(&["status", "r1"]).exits(0);
    assert!(status.stdout.contains("neuron resume r1"), "{status:#?}");
}
