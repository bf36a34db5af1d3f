//! `neuron worker`, and `neuron submit` for local runs

use serde_json::json;

use crate::support::{Done, HELD_UP, Home, Started, eventually, one_command};

const BASH: &str = "tools = [\"bash\"]";
const ASKS: &str = "tools = [\"bash\"]\nask = [\"bash\"]";

fn await_state(home: &Home, run: &str, state: &str) {
    eventually(&format!("{run} is {state}"), || {
        home.status(run)["state"] == state
    });
}

fn stop(worker: Started) -> Done {
    worker.signal("TERM");
    worker.done().exits(0)
}

#[test]
fn completes_a_run_whose_process_was_killed() {
    let home = Home::with_script(&one_command(HELD_UP), BASH);
    let run = home.start(&["run", "--id", "r1", "go"]);
    home.await_file("begun");
    run.signal("KILL");
    run.done();
    let worker = home.start(&["worker", "--json"]);
    await_state(&home, "r1", "completed");
    let told = stop(worker).json_lines();
    assert_eq!(told[0]["event"], "started");
    let last = told.last().unwrap();
    assert_eq!(
        *last,
        json!({ "event": "ended", "run_id": "r1", "state": "completed", "exit_reason": "complete" })
    );
}

#[test]
fn goes_on_with_a_parked_run_when_it_is_decided() {
    let home = Home::with_script(&one_command("echo made >> made"), ASKS);
    home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    let worker = home.start(&["worker"]);
    let approved = home.neuron(&["approve", "r1", "t1-1"]).exits(0);
    await_state(&home, "r1", "completed");
    assert_eq!(home.read("made"), "made\n");
    let told = stop(worker).stdout;
    assert!(told.contains("run r1 is completed"), "{told}");
    assert!(!approved.stdout.is_empty());
}

#[test]
fn wait_waits_for_the_worker_that_takes_a_run_up() {
    let home = Home::with_script(&one_command("echo made >> made"), ASKS);
    let worker = home.start(&["worker"]);
    home.neuron(&["submit", "--id", "r1", "go"]).exits(0);
    await_state(&home, "r1", "waiting_for_approval");
    home.neuron(&["approve", "r1", "t1-1"]).exits(0);
    home.neuron(&["wait", "r1"]).exits(0).prints("Done.\n");
    stop(worker);
}

#[test]
fn lets_a_ticket_lapse() {
    let asks = "tools = [\"bash\"]\nask = [{ call = \"bash\", within = \"100ms\" }]"; // No one decides, so it always expires.
    let home = Home::with_script(&one_command("touch made"), asks);
    home.neuron(&["submit", "--id", "r1", "go"])
        .exits(0)
        .says("no worker runs here");
    let worker = home.start(&["worker"]);
    home.await_event("r1", "approval_expired");
    await_state(&home, "r1", "completed");
    assert!(!home.exists("made"));
    stop(worker);
}

#[test]
fn two_workers_make_each_call_once() {
    let home = Home::with_script(&one_command("echo x >> made"), BASH);
    for run in 0..20 {
        home.neuron(&["submit", "--id", &format!("r{run}"), "go"])
            .exits(0);
    }
    let workers = [home.start(&["worker"]), home.start(&["worker"])];
    for run in 0..20 {
        await_state(&home, &format!("r{run}"), "completed");
    }
    workers.into_iter().for_each(|worker| {
        stop(worker);
    });
    assert_eq!(home.read("made"), "x\n".repeat(20));
}

#[test]
fn a_run_of_another_directory_is_left_unless_the_file_is_named() {
    let runs = tempfile::tempdir().unwrap();
    let place = || {
        let mut place = Home::with_script(&one_command("touch made"), BASH);
        place.set("NEURON_HOME", runs.path().to_str().unwrap());
        place
    };
    let (own, other) = (place(), place());
    other.neuron(&["submit", "--id", "r1", "go"]).exits(0);
    own.neuron(&["submit", "--id", "r2", "go"]).exits(0);
    let worker = own.start(&["worker"]);
    await_state(&own, "r2", "completed");
    let told = stop(worker).stdout;
    assert!(told.contains("run r1 is left to other workers"), "{told}");
    assert!(!other.exists("made"));
    let worker = own.start(&["worker", "--config", "neuron.toml"]);
    await_state(&own, "r1", "completed");
    stop(worker);
    assert!(other.exists("made"), "it works in its own directory");
}

#[test]
fn a_run_that_a_worker_has_is_not_resumed_beside_it() {
    let home = Home::with_script(&one_command(HELD_UP), BASH);
    home.neuron(&["submit", "--id", "r1", "go"]).exits(0);
    let worker = home.start(&["worker"]);
    home.await_file("begun");
    home.neuron(&["resume", "r1"])
        .exits(2)
        .says("another process is executing run r1: wait for it with `neuron wait r1`");
    // The call in flight gets time to end.
    worker.signal("TERM");
    home.write("go", "");
    worker.done().exits(0);
    home.neuron(&["resume", "r1"]).exits(0).prints("Done.\n");
}

#[test]
fn submit_waits_for_a_worker_and_for_the_end() {
    let home = Home::with_script(&json!([{ "text": "Hi." }]), "");
    let worker = home.start(&["worker"]);
    home.neuron(&["submit", "--wait", "hi"])
        .exits(0)
        .prints("Hi.\n");
    stop(worker);
}

#[test]
fn forgets_runs_that_are_over() {
    let home = Home::with_script(&one_command("true"), ASKS);
    home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    home.neuron(&["rm", "r1"])
        .exits(2)
        .says("error: run r1 is not over: end it first with `neuron cancel r1`");
    home.neuron(&["cancel", "r1"]).exits(0);
    home.neuron(&["rm", "--older-than", "1day"])
        .exits(0)
        .prints("")
        .says("no run ended so long ago");
    let removed = home.neuron(&["rm", "--older-than", "0s", "--json"]);
    assert_eq!(removed.exits(0).json(), json!({ "removed": ["r1"] }));
    home.neuron(&["status", "r1"])
        .exits(2)
        .says("there is no run r1");
    home.neuron(&["rm", "r1"])
        .exits(2)
        .says("there is no run r1");
    home.neuron(&["rm"]).exits(2);
}
