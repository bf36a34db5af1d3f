//! Tickets: parked by one process, decided by another, resumed by a third.

use serde_json::json;

use crate::support::{HELD_UP, Home, eventually, of_no_run, one_command, with_time_enough};

const ASKS: &str = "tools = [\"bash\"]\nask = [\"bash\"]";

/// Returns a run `r1` that waits for a person to allow `echo made > made`.
fn parked() -> Home {
    let home = Home::with_script(&one_command("echo made > made"), ASKS);
    home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    home
}

#[test]
fn parks_without_a_terminal_and_says_what_to_type() {
    let home = Home::with_script(&one_command("echo made > made"), ASKS);
    let done = home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    let done = done.prints("");
    insta::assert_snapshot!(done.stderr);
    assert!(!home.exists("made"), "the call was not made");
    assert_eq!(home.status("r1")["state"], "waiting_for_approval");
}

#[test]
fn prints_the_parked_run_as_json() {
    let home = Home::with_script(&one_command("echo made > made"), ASKS);
    let done = home.neuron(&["run", "--json", "--id", "r1", "go"]);
    let mut printed = done.exits(3).json();
    of_no_run(&mut printed);
    insta::assert_json_snapshot!(printed);
}

#[test]
fn what_it_says_to_type_can_be_typed() {
    let home = Home::with_script(&one_command("echo made > made"), ASKS);
    let config = home.path("other file.toml");
    std::fs::rename(home.path("neuron.toml"), &config).unwrap();
    let parked = home.neuron(&["run", "--config", "other file.toml", "go"]);
    let parked = parked.exits(3);
    let typed = |start: &str| {
        let mut lines = parked.stderr.lines().map(str::trim);
        lines.find_map(|line| line.find(start).map(|at| line[at..].to_owned()))
    };
    for start in ["neuron approve", "neuron resume"] {
        let line = typed(start).unwrap();
        let shell = format!(
            "neuron() {{ '{}' \"$@\"; }}; {line}",
            env!("CARGO_BIN_EXE_neuron")
        );
        let typed = std::process::Command::new("sh")
            .args(["-c", &shell])
            .current_dir(home.dir())
            // The home was made while every home was trusted, and its runs are in it.
            .envs([
                ("HOME", home.person().to_str().unwrap()),
                ("NEURON_TRUST", "1"),
            ])
            .output()
            .unwrap();
        assert!(typed.status.success(), "{line}: {typed:?}");
    }
    assert_eq!(home.read("made"), "made\n");
}

#[test]
fn lists_open_tickets_of_one_run_and_of_all() {
    let home = parked();
    home.neuron(&["run", "--id", "r2", "go"]).exits(3);
    let all = home.neuron(&["approvals", "--json"]).exits(0).json();
    let runs: Vec<_> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|t| &t["run_id"])
        .collect();
    assert_eq!(runs, ["r1", "r2"]);
    let mut one = home.neuron(&["approvals", "r1", "--json"]).exits(0).json();
    of_no_run(&mut one);
    insta::assert_json_snapshot!(one);
    let text = home.neuron(&["approvals", "r1"]).exits(0).stdout;
    insta::assert_snapshot!(text);
}

#[test]
fn an_approved_call_is_made_on_resume() {
    let home = parked();
    let approve = ["approve", "r1", "t1-1", "--as", "ann", "--comment", "fine"];
    home.neuron(&approve)
        .exits(0)
        .prints(
            "ticket t1-1 of run r1: approve is sent, and the run applies it when it resumes: \
             bash {\"command\":\"echo made > made\"}\n",
        )
        .says("continue it with: neuron resume r1");
    assert!(!home.exists("made"), "nobody executes the run yet");
    home.neuron(&["resume", "r1"]).exits(0).prints("Done.\n");
    assert_eq!(home.read("made"), "made\n");
    let events = home.neuron(&["events", "r1", "--json"]).json_lines();
    let decided = events
        .iter()
        .find(|event| event["type"] == "approval_decided");
    let decided = decided.unwrap();
    assert_eq!(decided["approver"], "ann");
    assert_eq!(decided["comment"], "fine");
}

#[test]
fn who_decided_is_recorded_without_a_name_too() {
    let home = parked();
    home.neuron(&["approve", "r1"]).exits(0);
    home.neuron(&["resume", "r1"]).exits(0);
    let events = home.neuron(&["events", "r1", "--json"]).json_lines();
    let mut events = events.iter();
    let decided = events.find(|event| event["type"] == "approval_decided");
    let approver = decided.unwrap()["approver"].as_str().unwrap();
    let (user, host) = approver.split_once('@').unwrap();
    assert!(!user.is_empty() && !host.is_empty(), "{approver}");
}

#[test]
fn says_in_json_what_was_decided() {
    let home = parked();
    let done = home.neuron(&["deny", "r1", "t1-1", "--json"]).exits(0);
    insta::assert_json_snapshot!(done.json());
}

#[test]
fn a_denied_call_is_not_made() {
    let home = parked();
    home.neuron(&["deny", "r1", "t1-1", "--comment", "not on a Friday"])
        .exits(0);
    home.neuron(&["resume", "r1"]).exits(0).prints("Done.\n");
    assert!(!home.exists("made"));
}

#[test]
fn edited_arguments_replace_those_of_the_model() {
    let home = parked();
    let args = json!({ "command": "echo edited > made" }).to_string();
    home.neuron(&["approve", "r1", "t1-1", "--args", &args])
        .exits(0);
    home.neuron(&["resume", "r1"]).exits(0);
    assert_eq!(home.read("made"), "edited\n");
}

#[test]
fn arguments_that_are_no_object_are_refused_before_anything_is_sent() {
    let home = parked();
    for (args, why) in [
        ("{\"command\":", "the value of --args is not JSON"),
        ("[1]", "the arguments must be a JSON object, not an array"),
        (
            "\"ls\"",
            "the arguments must be a JSON object, not a string",
        ),
    ] {
        home.neuron(&["approve", "r1", "t1-1", "--args", args])
            .exits(2)
            .prints("")
            .says(why);
    }
    assert_eq!(home.status("r1")["approvals"][0]["ticket"], "t1-1");
    home.neuron(&["approve", "r1", "t1-1"]).exits(0);
}

#[test]
fn a_ticket_may_be_left_out_if_it_is_the_only_one() {
    let home = parked();
    home.neuron(&["approve", "r1"]).exits(0);
    home.neuron(&["resume", "r1"]).exits(0);
    home.neuron(&["approve", "r1"])
        .exits(2)
        .says("run r1 has no open ticket");
}

#[test]
fn a_ticket_must_be_named_if_there_are_several() {
    let two = json!([
        { "tool_calls": [
            { "name": "bash", "input": { "command": "echo one >> made" } },
            { "name": "bash", "input": { "command": "echo two >> made" } },
        ] },
        { "text": "Done." },
    ]);
    let home = Home::with_script(&two, ASKS);
    home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    home.neuron(&["approve", "r1"])
        .exits(2)
        .says("run r1 has 2 open tickets, t1-1, t1-2: name the one that you mean");
    home.neuron(&["approve", "r1", "t1-2"]).exits(0);
    // The other one is still open, so the run parks again.
    home.neuron(&["resume", "r1"]).exits(3).says("ticket t1-1");
    assert_eq!(home.read("made"), "two\n");
    home.neuron(&["deny", "r1"]).exits(0);
    home.neuron(&["resume", "r1"]).exits(0);
    assert_eq!(home.read("made"), "two\n");
}

#[test]
fn refuses_what_fits_no_open_ticket_and_the_run_is_none_the_worse() {
    let home = parked();
    let refused = |args: &[&str], why: &str| {
        home.neuron(args).exits(2).prints("").says(why);
        let mut as_json = args.to_vec();
        as_json.push("--json");
        home.neuron(&as_json).exits(2).prints("").says(why);
    };
    refused(&["approve", "r1", "t9-9"], "run r1 has no ticket t9-9");
    refused(
        &["approve", "r1", "t1-1", "--digest", "abc"],
        "the digest is not that of ticket t1-1",
    );
    refused(&["approve", "r9", "t1-1"], "there is no run r9 here");
    assert_eq!(home.status("r1")["approvals"][0]["ticket"], "t1-1");
    let digest = home.status("r1")["approvals"][0]["digest"].clone();
    home.neuron(&[
        "approve",
        "r1",
        "t1-1",
        "--digest",
        digest.as_str().unwrap(),
    ])
    .exits(0);
    // The ticket is decided, although no process has resumed the run.
    refused(&["deny", "r1", "t1-1"], "is decided already");
    home.neuron(&["resume", "r1"]).exits(0).prints("Done.\n");
    refused(&["deny", "r1", "t1-1"], "run r1 is over (completed)");
}

#[test]
fn refuses_an_expired_ticket() {
    let home = with_time_enough(|time| {
        let lapses = format!("{ASKS}\napproval_timeout = \"{}ms\"", time.as_millis());
        let home = Home::with_script(&one_command("echo made > made"), &lapses);
        let done = home.neuron(&["run", "--id", "r1", "go"]);
        // If the ticket expires before the run is parked, the run continues.
        (done.code != Some(0)).then(|| {
            done.exits(3);
            home
        })
    });
    let expires = home.status("r1")["approvals"][0]["expires_at"].clone();
    let expires: chrono::DateTime<chrono::Utc> = serde_json::from_value(expires).unwrap();
    eventually("the ticket's end", || chrono::Utc::now() > expires);
    home.neuron(&["approve", "r1", "t1-1"])
        .exits(2)
        .says("ticket t1-1 of run r1 has expired");
    home.neuron(&["resume", "r1"])
        .exits(0)
        .prints("Done.\n")
        .says("ticket t1-1 expired");
    assert!(!home.exists("made"));
}

#[test]
fn a_decision_that_comes_while_another_call_runs_is_taken_up() {
    let both = json!([
        { "tool_calls": [
            { "name": "bash", "input": { "command": HELD_UP } },
            { "name": "write_file", "input": { "path": "made", "content": "made" } },
        ] },
        { "text": "Done." },
    ]);
    let home = Home::with_script(
        &both,
        "tools = [\"bash\", \"write_file\"]\nask = [\"write_file\"]\nparallel_writes = true",
    );
    let run = home.start(&["run", "--id", "r1", "go"]);
    home.await_file("begun");
    home.await_event("r1", "approval_requested");
    let done = home.neuron(&["approve", "r1", "t1-2", "--json"]).exits(0);
    assert_eq!(done.json()["executing"], true);
    home.write("go", "");
    run.done().exits(0).prints("Done.\n");
    assert_eq!(home.read("made"), "made");
}
