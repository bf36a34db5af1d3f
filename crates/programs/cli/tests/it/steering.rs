//! `neuron send`, `neuron signal` and `neuron cancel`

use serde_json::json;

use crate::support::{HELD_UP, Home, one_command};

const ASKS: &str = "tools = [\"bash\"]\nask = [\"bash\"]";

#[test]
fn a_message_is_taken_up_at_the_next_turn_boundary() {
    let home = Home::with_script(&one_command(HELD_UP), "tools = [\"bash\"]");
    let run = home.start(&["run", "--id", "r1", "go"]);
    home.await_file("begun");
    home.neuron(&["send", "r1", "also say why"])
        .exits(0)
        .prints("the message is queued for run r1\n");
    home.write("go", "");
    run.done().exits(0).says("  message: also say why\n");
}

#[test]
fn a_message_to_a_parked_run_waits_for_its_resume() {
    let home = Home::with_script(&one_command("true"), ASKS);
    home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    let done = home.neuron_with_input(&["send", "r1", "-", "--json"], "from a pipe\n");
    let done = done.exits(0).says("neuron resume r1");
    insta::assert_json_snapshot!(done.json());
    home.neuron(&["approve", "r1"]).exits(0);
    home.neuron(&["resume", "r1"])
        .exits(0)
        .says("  message: from a pipe\n");
}

#[test]
fn messages_to_nobody_are_refused() {
    let home = Home::with_script(&json!([{ "text": "Hi." }]), "");
    home.neuron(&["run", "--id", "r1", "go"]).exits(0);
    home.neuron(&["send", "r1", "too late"])
        .exits(2)
        .prints("")
        .says("error: run r1 is over (completed)");
    home.neuron(&["send", "r9", "hello"])
        .exits(2)
        .says("error: there is no run r9 here");
    home.neuron(&["send", "r1", ""])
        .exits(2)
        .says("error: the message is empty");
}

#[test]
fn signals_carry_json() {
    let home = Home::with_script(&one_command("true"), ASKS);
    home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    let done = home.neuron(&["signal", "r1", "weather", "{\"rain\":true}", "--json"]);
    insta::assert_json_snapshot!(done.exits(0).json());
    home.neuron(&["signal", "r1", "weather"])
        .exits(0)
        .prints("signal weather is queued for run r1\n");
    home.neuron(&["signal", "r1", "weather", "{rain}"])
        .exits(2)
        .prints("")
        .says("error: the payload is not JSON, and nothing was sent");
    home.neuron(&["signal", "r1", "decision", "{\"ticket\":1}"])
        .exits(2)
        .says("error: the payload does not fit the signal decision");
}

#[test]
fn cancels_a_parked_run_at_once() {
    let home = Home::with_script(&one_command("touch made"), ASKS);
    home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    let done = home.neuron(&["cancel", "r1", "--reason", "no need", "--json"]);
    insta::assert_json_snapshot!(done.exits(0).json());
    home.neuron(&["resume", "r1"])
        .exits(1)
        .prints("")
        .says("error: run r1 was cancelled: no need (");
    assert!(!home.exists("made"));
    home.neuron(&["cancel", "r1"])
        .exits(2)
        .says("error: run r1 is over (cancelled)");
}

#[test]
fn cancels_a_run_that_another_process_executes() {
    let home = Home::with_script(&one_command(HELD_UP), "tools = [\"bash\"]");
    let run = home.start(&["run", "--id", "r1", "--json", "go"]);
    home.await_file("begun");
    home.neuron(&["cancel", "r1", "--reason", "no need"])
        .exits(0);
    let output = run.done().exits(1).json();
    assert_eq!(output["state"], "cancelled");
    assert_eq!(output["exit_reason"], "cancelled");
    assert_eq!(output["error"]["message"], "no need");
}
