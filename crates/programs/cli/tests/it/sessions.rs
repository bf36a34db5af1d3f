//! `neuron sessions`, and `--session`

use neuron_local::SessionRun;
use neuron_types::RunId;
use serde_json::{Value, json};

use crate::{
    stored_sessions::give,
    support::{HELD_UP, Home, eventually, one_command},
};

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
    // The next run of the session takes in the run before.
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

fn local(id: &str) -> SessionRun {
    SessionRun::new(RunId::new(id).unwrap(), "local")
}

/// Returns how many messages the session has, as `sessions list` prints it without reading the run that has the
/// session.
fn listed(home: &Home) -> Value {
    let listed = home.neuron(&["sessions", "list", "--json"]).json();
    json!([listed[0]["messages"], listed[0]["run"]["run_id"]])
}

#[test]
fn a_run_that_was_approved_and_resumed_is_added_to_its_session() {
    let turns = json!([
        {"tool_calls": [{"name": "bash", "input": {"command": "true"}}]},
        {"text": "Done."},
    ]);
    let home = Home::with_script(&turns, "tools = [\"bash\"]\nask = [\"bash\"]");
    home.neuron(&["run", "--session", "notes", "--id", "r1", "do it"])
        .exits(3);
    assert_eq!(listed(&home), json!([0, "r1"]));
    home.neuron(&["approve", "r1"]).exits(0);
    home.neuron(&["resume", "r1"]).exits(0);
    assert_eq!(listed(&home), json!([4, null]));
    home.neuron(&["sessions", "rm", "notes"]).exits(0);
}

#[test]
fn a_run_that_a_worker_ends_is_added_to_its_session() {
    let home = talking();
    home.neuron(&["submit", "--session", "notes", "--id", "r1", "hello"])
        .exits(0);
    let worker = home.start(&["worker"]);
    eventually("the session has the run", || {
        listed(&home) == json!([2, null])
    });
    worker.signal("TERM");
    worker.done();
}

#[test]
fn a_run_that_is_cancelled_leaves_its_session_free() {
    let home = talking();
    home.neuron(&["submit", "--session", "notes", "--id", "r1", "hello"])
        .exits(0);
    home.neuron(&["cancel", "r1"]).exits(0);
    assert_eq!(listed(&home)[1], Value::Null);
}

#[test]
fn a_run_that_is_forgotten_is_in_its_session_first() {
    let home = talking();
    home.neuron(&["run", "--session", "notes", "--id", "r1", "hello"])
        .exits(0);
    // The session looks as if its process had been killed before it took the run in.
    give(&home, local("r1"), Some(Vec::new()));
    home.neuron(&["rm", "r1"]).exits(0);
    assert_eq!(listed(&home), json!([2, null]));
}

#[test]
fn a_session_is_shown_with_the_run_that_ended_meanwhile() {
    let home = talking();
    home.neuron(&["run", "--session", "notes", "--id", "r1", "hello"])
        .exits(0);
    give(&home, local("r1"), Some(Vec::new()));
    home.neuron(&["sessions", "show", "notes"])
        .exits(0)
        .prints("user: hello\nagent: Noted.\n");
}

#[test]
fn a_turn_that_is_lost_is_said_and_given_up_on_purpose() {
    let home = talking();
    home.neuron(&["run", "--session", "notes", "hello"])
        .exits(0);
    give(&home, local("gone"), None);
    for _ in 0..2 {
        home.neuron(&["run", "--session", "notes", "and again"])
            .exits(2)
            .says("the turn of session notes that was run gone's is lost: local knows no such run");
    }
    // A run of the same name would hide it.
    home.neuron(&["run", "--session", "notes", "--id", "gone", "again"])
        .exits(2)
        .says("`neuron sessions release notes`");
    home.neuron(&["sessions", "show", "notes"])
        .exits(0)
        .says("the turn of session notes that was run gone's is lost");
    let released = home
        .neuron(&["sessions", "release", "notes", "--json"])
        .exits(0)
        .json();
    assert_eq!(released["lost"]["run_id"], "gone");
    home.neuron(&["run", "--session", "notes", "and again"])
        .exits(0);
    assert_eq!(listed(&home), json!([4, null]));
}

#[test]
fn a_session_whose_turn_is_lost_can_be_forgotten() {
    let home = talking();
    home.neuron(&["run", "--session", "notes", "hello"])
        .exits(0);
    give(&home, local("gone"), None);
    home.neuron(&["sessions", "rm", "notes"]).exits(0);
}

#[test]
fn a_run_that_is_not_over_keeps_its_session() {
    let home = talking();
    home.neuron(&["submit", "--session", "notes", "--id", "first", "hello"])
        .exits(0);
    home.neuron(&["sessions", "release", "notes"])
        .exits(2)
        .says("session notes is taken by run first on local");
    // The same run once more: the existing one still has the session.
    home.neuron(&["submit", "--session", "notes", "--id", "first", "hello"])
        .exits(2)
        .says("choose another id");
    assert_eq!(listed(&home), json!([0, "first"]));
    home.neuron(&["sessions", "release", "notes", "--force"])
        .exits(0)
        .prints("session notes is free, without the turn of run first on local\n");
}

#[test]
fn a_session_that_is_forgotten_during_a_run_is_missed_at_its_end() {
    let home = Home::with_script(
        &one_command(HELD_UP),
        "tools = [\"bash\"]\n[agents.default.tool.bash]\ntimeout = \"10m\"", // Ends what hangs and nothing else.
    );
    let run = home.start(&["run", "--session", "notes", "--id", "r1", "do it"]);
    eventually("it runs", || home.exists("begun"));
    home.neuron(&["sessions", "rm", "notes"])
        .exits(2)
        .says("session notes is taken by run r1 on local");
    home.neuron(&["sessions", "release", "--force", "notes"])
        .exits(0);
    home.neuron(&["sessions", "rm", "notes"]).exits(0);
    home.write("go", "");
    let done = run.done();
    done.prints("Done.\n")
        .says("there is no session notes any more: the turn of run r1 is lost")
        .exits(2);
}

#[test]
fn a_run_of_a_session_says_with_which_start_it_began() {
    let home = talking();
    let label = |id: &str| {
        let status = home.neuron(&["status", id, "--json"]).json();
        status["labels"]["neuron.start"].clone()
    };
    for id in ["r1", "r2"] {
        home.neuron(&["run", "--session", "notes", "--id", id, "hello"])
            .exits(0);
    }
    assert!(label("r1").is_string() && label("r1") != label("r2"));
    home.neuron(&["run", "--id", "r3", "hello"]).exits(0);
    assert!(label("r3").is_null(), "it has no session");
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
        .prints("session old-notes is imported, with 2 messages\n");
    elsewhere
        .neuron_with_input(&["sessions", "import", "-", "--as", "old-notes"], &exported)
        .exits(2);
    elsewhere
        .neuron(&["run", "--session", "old-notes", "and again"])
        .exits(0);
    elsewhere
        .neuron(&["sessions", "rm", "old-notes"])
        .exits(0)
        .prints("session old-notes is deleted\n");
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
        .says("the name of a session follows the rules of a run's id");
}
