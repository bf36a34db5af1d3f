//! An MCP server is killed in the middle of a run and started again: the run continues.

use neuron_harness::{Engine, EverythingServer};
use serde_json::{Value, json};

use crate::{
    engine_place::Place,
    everything::{call, over_http, over_pipes_through},
    support::{HELD_UP, Home},
};

/// Keeps the first request for long work from the servers, so that it is never answered, and creates the folder `kept`
/// as a sign.
const KEEP_THE_FIRST: &str = r#"while IFS= read -r line; do
case $line in *long-running*) mkdir kept 2>/dev/null && continue;; esac
printf '%s\n' "$line"
done"#;

/// Kills every server in the file `ids` when one of them was asked for long work.
const KILL: &str = concat!(
    "until [ -d kept ]; do sleep 0.02; done; ", // Between two looks.
    "for id in $(cat ids); do kill -9 -- -$id; done; true",
);

/// How long a server works, in seconds, if nothing reports its start to the test. If the server is quicker than the
/// test's events, the run has one call less to make again.
const AT_WORK: u64 = 2;

/// Calls a tool, lets a server work for this many seconds while `meanwhile` is executed, and calls the tool again.
fn turns(seconds: u64, meanwhile: &str) -> Value {
    json!([
        {"tool_calls": [call("echo", &json!({"message": "before"}))]},
        {"tool_calls": [
            call("trigger-long-running-operation", &json!({"duration": seconds, "steps": 1})),
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

/// Checks that the call which the killed server took with it was made once more, by another server.
#[track_caller]
fn was_killed_once(home: &Home) {
    let calls = home.read("seen");
    let calls = calls.matches("\"trigger-long-running-operation\"").count();
    assert_eq!(calls, 2);
}

#[test]
fn a_local_run_goes_on_with_a_program_that_was_killed() {
    let home = Home::with_script(&turns(0, KILL), &over_pipes_through(KEEP_THE_FIRST));
    let run = ["run", "--id", "r1", "--json", "go"];
    let output = home.neuron(&run).exits(0).json();
    went_on(&home, &output);
    was_killed_once(&home);
    assert_eq!(home.read("ids").lines().count(), 2);
}

#[test]
fn a_local_run_goes_on_with_a_server_over_http_that_was_killed() {
    let mut server = EverythingServer::start();
    let home = Home::with_script(&turns(AT_WORK, HELD_UP), &over_http(&server.url()));
    let run = home.start(&["run", "--id", "r1", "--json", "go"]);
    home.await_file("begun");
    server.start_again();
    home.write("go", "");
    let output = run.done().exits(0).json();
    went_on(&home, &output);
}

fn a_worker_goes_on(engine: Engine) {
    let place = Place::new(engine, &turns(0, KILL), &over_pipes_through(KEEP_THE_FIRST));
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
