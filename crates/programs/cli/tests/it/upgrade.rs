//! `neuron upgrade`

use serde_json::json;

use crate::support::{Home, one_command};

const ASKS: &str = "tools = [\"bash\"]\nask = [\"bash\"]";

/// Returns a home with a parked run `r1`, whose agent's instructions have changed since.
fn changed() -> Home {
    let home = Home::with_script(&one_command("true"), ASKS);
    home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    let file = home.read("neuron.toml");
    let changed = format!("{file}instructions = \"Be brief.\"\n");
    home.write("neuron.toml", &changed);
    home
}

#[test]
fn a_parked_run_adopts_the_current_definition_when_it_goes_on() {
    let home = changed();
    let before = home.status("r1")["definition"].clone();
    home.neuron(&["upgrade", "r1"])
        .exits(0)
        .prints("run r1 adopts the current definition of its agent at its next turn\n")
        .says("neuron resume r1");
    assert_eq!(home.status("r1")["definition"], before);
    home.neuron(&["approve", "r1"]).exits(0);
    home.neuron(&["resume", "r1"]).exits(0);
    assert_ne!(home.status("r1")["definition"], before);
    let said = "it adopted the current definition of its agent: instructions (by ";
    for command in ["events", "show"] {
        let shown = home.neuron(&[command, "r1"]).exits(0).stdout;
        assert!(shown.contains(said), "{shown}");
    }
}

#[test]
fn a_run_that_nobody_upgrades_keeps_its_definition() {
    let home = changed();
    let before = home.status("r1")["definition"].clone();
    home.neuron(&["approve", "r1"]).exits(0);
    home.neuron(&["resume", "r1"]).exits(0);
    assert_eq!(home.status("r1")["definition"], before);
}

#[test]
fn says_in_json_that_the_wish_is_queued() {
    let home = changed();
    let said = home.neuron(&["upgrade", "r1", "--json"]).exits(0).json();
    let queued = json!({
        "run_id": "r1", "accepted": true, "executing": false, "outcome": "queued",
    });
    assert_eq!(said, queued);
}

#[test]
fn what_the_command_line_narrowed_narrows_the_current_definition() {
    let home = Home::with_script(&one_command("touch made"), "tools = [\"bash\"]");
    let deny = ["--ask", "bash", "--limit", "turns=1"];
    let start = ["run", "--id", "r1", "go"];
    home.neuron(&[&start[..], &deny].concat()).exits(3);
    let file = home.read("neuron.toml");
    let changed = format!("{file}instructions = \"Be brief.\"\n");
    home.write("neuron.toml", &changed);
    home.neuron(&["upgrade", "r1"]).exits(0);
    home.neuron(&["approve", "r1"]).exits(0);
    let output = home.neuron(&["resume", "r1", "--json"]).exits(1).json();
    assert_eq!(output["exit_reason"], "max_turns");
}

#[test]
fn a_run_that_is_over_is_not_upgraded() {
    let home = Home::with_script(&json!([{ "text": "Hi." }]), "");
    home.neuron(&["run", "--id", "r1", "go"]).exits(0);
    home.neuron(&["upgrade", "r1"])
        .exits(2)
        .prints("")
        .says("error: run r1 is over (completed)");
    home.neuron(&["upgrade", "r9"])
        .exits(2)
        .says("error: there is no run r9 here");
}
