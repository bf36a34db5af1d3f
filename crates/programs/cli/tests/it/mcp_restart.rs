//! An MCP server that is killed in the middle of a run and started again: the run goes on.

use neuron_harness::{Engine, EverythingServer};
use serde_json::{Value, json};

use crate::{
    engine_place::Place,
    everything::{call, over_http, over_pipes},
    support::{HELD_UP, Home},
};

/// Kills every server of the file `ids` when one of them works.
const KILL: &str = "until grep -qs long-running seen; do sleep 0.02; done; \
                    for id in $(cat ids); do kill -9 -- -$id; done; true";

/// Calls a tool, works for two seconds while `meanwhile` is done, and calls the tool again.
fn turns(meanwhile: &str) -> Value {
    json!([
        {"tool_calls": [call("echo", &json!({"message": "before"}))]},
        {"tool_calls": [
            call("trigger-long-running-operation", &json!({"duration": 2, "steps": 2})),
            {"name": "bash", "input": {"command": meanwhile}},
        ]},
        {"tool_calls": [call("echo", &json!({"message": "after"}))]},
        {"text": "Done."},
    ])
}

/// Checks that no call failed for the model.
#[track_caller]
fn went_on(home: &Home, output: &Value) {
    assert_eq!(output["output"], "Done.", "{output}");
    let events = home.neuron(&["events", "r1", "--json"]).exits(0);
    let events = events.json_lines();
    let of = |event: &&Value| event["type"] == "tool_finished";
    let finished: Vec<_> = events.iter().filter(of).collect();
    assert_eq!(finished.len(), 4, "{finished:?}");
    assert!(
        finished.iter().all(|event| event["is_error"] == false),
        "{finished:?}"
    );
}

/// Checks that the call which the server took with it was made once more, by another server.
#[track_caller]
fn was_killed_once(home: &Home) {
    let calls = home.read("seen");
    let calls = calls.matches("\"trigger-long-running-operation\"").count();
    assert_eq!(calls, 2);
}

#[test]
fn a_local_run_goes_on_with_a_program_that_was_killed() {
    let home = Home::with_script(&turns(KILL), &over_pipes(""));
    let run = ["run", "--id", "r1", "--json", "go"];
    let output = home.neuron(&run).exits(0).json();
    went_on(&home, &output);
    was_killed_once(&home);
    assert_eq!(home.read("ids").lines().count(), 2);
}

#[test]
fn a_local_run_goes_on_with_a_server_over_http_that_was_killed() {
    let mut server = EverythingServer::start();
    let home = Home::with_script(&turns(HELD_UP), &over_http(&server.url()));
    let run = home.start(&["run", "--id", "r1", "--json", "go"]);
    home.await_file("begun");
    server.start_again();
    home.write("go", "");
    let output = run.done().exits(0).json();
    went_on(&home, &output);
}

fn a_worker_goes_on(engine: Engine) {
    let place = Place::new(engine, &turns(KILL), &over_pipes(""));
    let (home, _worker) = (&place.home, place.worker());
    let submit = ["submit", "--id", "r1", "--wait", "--json", "go"];
    let output = home.neuron(&submit).exits(0).json();
    went_on(home, &output);
    was_killed_once(home);
}

#[test]
fn a_worker_on_restate_goes_on_with_a_program_that_was_killed() {
    a_worker_goes_on(Engine::Restate);
}

#[test]
fn a_worker_on_temporal_goes_on_with_a_program_that_was_killed() {
    a_worker_goes_on(Engine::Temporal);
}
