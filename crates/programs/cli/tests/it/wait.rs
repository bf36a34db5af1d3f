//! `neuron wait`

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use serde_json::json;

use crate::support::{HELD_UP, Home, one_command};

#[test]
fn follows_a_run_of_another_process_and_prints_its_output() {
    let home = Home::with_script(&one_command(HELD_UP), "tools = [\"bash\"]");
    let run = home.start(&["run", "--id", "r1", "--json", "go"]);
    home.await_file("begun");
    let wait = home.start(&["wait", "r1", "--json"]);
    home.write("go", "");
    let waited = wait.done().exits(0);
    assert_eq!(waited.stdout, run.done().exits(0).stdout);
    // Plain text, from a run that is over by now.
    home.neuron(&["wait", "r1"]).exits(0).prints("Done.\n");
}

#[test]
fn shows_what_happens_in_the_other_process() {
    let home = Home::with_script(&one_command(HELD_UP), "tools = [\"bash\"]");
    let run = home.start(&["run", "--id", "r1", "go"]);
    home.await_event("r1", "tool_called");
    let (reader, stderr) = std::io::pipe().unwrap();
    let mut command = home.command(&["wait", "r1"]);
    let mut wait = command
        .stderr(stderr)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    drop(command);
    let mut lines = BufReader::new(reader).lines().map(Result::unwrap);
    assert_eq!(
        lines.next().unwrap(),
        "run r1: agent default, turn 1, running"
    );
    home.write("go", "");
    let shown: Vec<_> = lines.collect();
    assert_eq!(shown.first().unwrap(), "  bash ok");
    assert!(shown.last().unwrap().starts_with("run r1 completed"));
    assert_eq!(wait.wait().unwrap().code(), Some(0));
    run.done().exits(0);
}

#[test]
fn prints_the_tickets_of_a_parked_run_that_nobody_executes() {
    let home = Home::with_script(&one_command("true"), "tools = [\"bash\"]\nask = [\"bash\"]");
    home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    home.neuron(&["wait", "r1"])
        .exits(3)
        .prints("")
        .says("neuron approve r1 t1-1");
    let output = home.neuron(&["wait", "r1", "--json"]).exits(3).json();
    assert_eq!(output["state"], "waiting_for_approval");
    assert_eq!(output["approvals"][0]["ticket"], "t1-1");
}

#[test]
fn exits_by_how_the_run_ended() {
    let failing = json!([{ "fail": [{ "kind": "quota" }] }]);
    let home = Home::with_script(&failing, "");
    home.neuron(&["run", "--id", "r1", "go"]).exits(1);
    let output = home.neuron(&["wait", "r1", "--json"]).exits(1).json();
    assert_eq!(output["error"]["kind"], "quota");
}
