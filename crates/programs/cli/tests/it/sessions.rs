//! `neuron sessions`, and `--session`

use serde_json::json;

use crate::support::Home;

fn talking() -> Home {
    // One answer for each run of a session.
    Home::with_script(&json!([{ "text": "Noted." }, { "text": "Noted." }]), "")
}

#[test]
fn a_run_goes_on_with_what_was_said_in_its_session() {
    let home = talking();
    home.neuron(&["run", "--session", "notes", "--id", "r1", "my name is Ada"])
        .exits(0);
    home.neuron(&[
        "run",
        "--session",
        "notes",
        "--id",
        "r2",
        "what is my name?",
    ])
    .exits(0);
    let session = home.neuron(&["sessions", "show", "notes", "--json"]).json();
    let roles: Vec<_> = session["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].clone())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant"]);
    assert!(session["run"].is_null(), "{session}");
    home.neuron(&["sessions", "show", "notes"])
        .exits(0)
        .prints("user: my name is Ada\nagent: Noted.\nuser: what is my name?\nagent: Noted.\n");
    let listed = home.neuron(&["sessions", "list", "--json"]).json();
    assert_eq!(listed[0]["messages"], 4);
}

#[test]
fn a_second_run_is_rejected_while_the_first_is_not_over_and_names_it() {
    let home = talking();
    home.neuron(&["submit", "--session", "notes", "--id", "first", "hello"])
        .exits(0);
    home.neuron(&["run", "--session", "notes", "hello again"])
        .exits(2)
        .says("session notes is taken by run first on local");
    home.neuron(&["sessions", "rm", "notes"]).exits(2);
    // Whoever takes up the session next takes in the run before.
    home.neuron(&["resume", "first"]).exits(0);
    home.neuron(&["run", "--session", "notes", "hello again"])
        .exits(0);
    let session = home.neuron(&["sessions", "show", "notes", "--json"]).json();
    assert_eq!(session["messages"].as_array().unwrap().len(), 4);
}

#[test]
fn a_run_that_is_not_started_leaves_its_session_free() {
    let home = talking();
    home.neuron(&["run", "--id", "r1", "hello"]).exits(0);
    home.neuron(&["run", "--session", "notes", "--id", "r1", "another"])
        .exits(2);
    home.neuron(&["run", "--session", "notes", "hello"])
        .exits(0);
}

#[test]
fn a_session_is_carried_elsewhere() {
    let home = talking();
    home.neuron(&["run", "--session", "notes", "hello"])
        .exits(0);
    let exported = home
        .neuron(&["sessions", "export", "notes"])
        .exits(0)
        .stdout;
    let elsewhere = talking();
    elsewhere
        .neuron_with_input(&["sessions", "import", "-", "--as", "old-notes"], &exported)
        .exits(0)
        .prints("session old-notes is here, with 2 messages\n");
    elsewhere
        .neuron_with_input(&["sessions", "import", "-", "--as", "old-notes"], &exported)
        .exits(2);
    elsewhere
        .neuron(&["run", "--session", "old-notes", "and again"])
        .exits(0);
    elsewhere
        .neuron(&["sessions", "rm", "old-notes"])
        .exits(0)
        .prints("session old-notes is forgotten\n");
    elsewhere
        .neuron(&["sessions", "list"])
        .exits(0)
        .says("there is no session");
}

#[test]
fn a_name_that_is_none_is_rejected() {
    let home = talking();
    home.neuron(&["run", "--session", "../notes", "hello"])
        .exits(2)
        .says("a session has a name as a run has");
}
