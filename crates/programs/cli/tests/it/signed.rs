//! Decisions that have to be signed: with a key file, by `ssh-agent`, or not at all.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use crate::{
    support::{Home, one_command},
    terminal::{QUESTION, ends_with, in_terminal},
    tree_commands::three_levels,
};

/// Returns a run `r1` that waits for ada to allow `echo made > made`. Her key is the file `key`.
fn parked() -> Home {
    let home = Home::with_script(
        &one_command("echo made > made"),
        "tools = [\"bash\"]\nask = [\"bash\"]",
    );
    keygen(&home, "key");
    trust_key_of_ada(&home, "key");
    home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    home
}

/// Makes a key without a passphrase, with `ssh-keygen`.
fn keygen(home: &Home, name: &str) {
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "ada@laptop", "-f"])
        .arg(home.path(name))
        .stdin(Stdio::null())
        .status()
        .expect("ssh-keygen of the package openssh-client");
    assert!(made.success());
}

/// Writes an agent file with this as ada's key, and with no other approver.
fn trust_key_of_ada(home: &Home, key: &str) {
    let file = home.read("neuron.toml");
    let file = file.split("[approvers.").next().unwrap();
    let public = home.read(&format!("{key}.pub"));
    let approver = format!("[approvers.ada]\nkey = \"{}\"\n", public.trim());
    home.write("neuron.toml", &format!("{file}{approver}"));
}

fn fingerprint(home: &Home, key: &str) -> String {
    let listed = Command::new("ssh-keygen")
        .args(["-l", "-f"])
        .arg(home.path(&format!("{key}.pub")))
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    listed.split_whitespace().nth(1).unwrap().to_owned()
}

fn events_of_type(home: &Home, kind: &str) -> Vec<Value> {
    let mut events = home.neuron(&["events", "r1", "--json"]).json_lines();
    events.retain(|event| event["type"] == kind);
    events
}

#[test]
fn a_key_file_signs_and_the_record_says_whose_key_it_is() {
    let home = parked();
    home.neuron(&["approve", "r1", "--sign", "key"]).exits(0);
    home.neuron(&["resume", "r1"]).exits(0).prints("Done.\n");
    assert_eq!(home.read("made"), "made\n");
    let decided = events_of_type(&home, "approval_decided").remove(0);
    assert_eq!(decided["approver"], "ada");
    assert_eq!(decided["verified"], true);
    assert_eq!(decided["key"], fingerprint(&home, "key"));
    assert!(decided["decided_at"].is_string(), "{decided}");
}

#[test]
fn without_a_key_nothing_is_sent_and_it_says_what_to_do() {
    let home = parked();
    home.neuron(&["approve", "r1"])
        .exits(2)
        .says("signed by one of ada: name the key with --sign, or start ssh-agent");
    home.neuron(&["approve", "r1", "--sign", "nothing"])
        .exits(2)
        .says("nothing was decided: the key file");
    keygen(&home, "stranger");
    home.neuron(&["approve", "r1", "--sign", "stranger"])
        .exits(2)
        .says(&format!(
            "no approver has the key {}",
            fingerprint(&home, "stranger")
        ))
        .says("sign with one of ada");
    home.neuron(&["resume", "r1"]).exits(3);
    assert!(events_of_type(&home, "approval_refused").is_empty());
    assert!(!home.exists("made"));
}

#[test]
fn what_was_not_signed_is_not_taken_whoever_sends_it() {
    let home = parked();
    // This client does not know the agent file.
    home.write("other.toml", "[agents.default]\nmodel = \"demo/demo\"\n");
    let approve = ["approve", "r1", "--config", "other.toml"];
    home.neuron(&[&approve[..], &["--as", "ada"]].concat())
        .exits(1)
        .says("the decision is not signed");
    home.neuron(&["resume", "r1"]).exits(3);
    assert!(events_of_type(&home, "approval_refused").is_empty());
    keygen(&home, "stranger");
    home.neuron(&[&approve[..], &["--sign", "stranger"]].concat())
        .exits(0);
    let reason = format!("no approver has the key {}", fingerprint(&home, "stranger"));
    home.neuron(&["resume", "r1"]).exits(3).says(&reason);
    assert!(!home.exists("made"), "the call was not made");
    assert_eq!(home.status("r1")["state"], "waiting_for_approval");
    let refused = events_of_type(&home, "approval_refused").remove(0);
    assert_eq!(refused["reason"], reason);
    home.neuron(&["deny", "r1", "--sign", "key"]).exits(0);
    home.neuron(&["resume", "r1"]).exits(0).prints("Done.\n");
    assert!(!home.exists("made"));
}

#[test]
fn whoever_sends_what_is_not_taken_is_told_so() {
    let home = parked();
    home.write("other.toml", "[agents.default]\nmodel = \"demo/demo\"\n");
    let unsigned = |more: &[&str]| {
        let approve = ["approve", "r1", "--config", "other.toml", "--within", "10m"];
        home.neuron(&[&approve[..], more].concat())
    };
    keygen(&home, "stranger");
    let by_stranger = ["--sign", "stranger", "--json"];
    // No process executes the run: it rejects the decision when it resumes.
    let sent = unsigned(&by_stranger).exits(0).json();
    assert!(sent["accepted"].is_null(), "{sent}");

    let _worker = home.start(&["worker"]);
    let answer = unsigned(&by_stranger).exits(1).json();
    assert_eq!(answer["accepted"], false);
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.starts_with("no approver has the key"), "{reason}");
    let answer = unsigned(&["--as", "eve", "--json"]).exits(1);
    assert_eq!(answer.json()["accepted"], false);
    assert_eq!(answer.json()["reason"], "the decision is not signed");
    unsigned(&["--as", "mallory"])
        .exits(1)
        .prints("")
        .says("run r1 rejected the decision about ticket t1-1: the decision is not signed");
    assert_eq!(home.status("r1")["signed"], true);
    let signed = [
        "approve", "r1", "--sign", "key", "--within", "10m", "--json",
    ];
    let taken = home.neuron(&signed).exits(0).json();
    assert_eq!(taken["accepted"], true);
    home.neuron(&["wait", "r1"]).exits(0).prints("Done.\n");
    assert_eq!(home.read("made"), "made\n");
}

#[test]
fn a_worker_without_approvers_takes_no_decision_of_a_run_that_began_under_some() {
    let home = parked();
    let keyless = home.read("neuron.toml");
    let keyless = keyless.split("[approvers.").next().unwrap().to_owned();
    home.write("keyless.toml", &keyless);
    let keyless = ["--config", "keyless.toml"];
    // No key is needed to find that out.
    home.neuron(&[&["approve", "r1", "--as", "ada"], &keyless[..]].concat())
        .exits(1)
        .says("the decision is not signed");
    keygen(&home, "stranger");
    home.neuron(&[&["approve", "r1", "--sign", "stranger"], &keyless[..]].concat())
        .exits(0);
    home.neuron(&[&["resume", "r1"], &keyless[..]].concat())
        .exits(2)
        .says("this worker knows no approvers");
    assert!(!home.exists("made"));
    home.neuron(&["resume", "r1"])
        .exits(3)
        .says("no approver has the key");
    home.neuron(&["approve", "r1", "--sign", "key"]).exits(0);
    home.neuron(&["resume", "r1"]).exits(0).prints("Done.\n");
    assert_eq!(home.read("made"), "made\n");
}

#[test]
fn a_key_is_replaced_under_a_parked_run() {
    let home = parked();
    home.neuron(&["approve", "r1", "--sign", "key"]).exits(0);
    keygen(&home, "new");
    trust_key_of_ada(&home, "new");
    home.neuron(&["resume", "r1"]).exits(3).says(&format!(
        "no approver has the key {}",
        fingerprint(&home, "key")
    ));
    home.neuron(&["approve", "r1", "--sign", "new"]).exits(0);
    home.neuron(&["resume", "r1"]).exits(0).prints("Done.\n");
    assert_eq!(home.read("made"), "made\n");
}

/// A real `ssh-agent`, which ends with the test.
struct Agent(Child);

impl Agent {
    fn start(home: &mut Home) -> Self {
        let socket = home.path("agent").to_str().unwrap().to_owned();
        let mut child = Command::new("ssh-agent")
            .args(["-D", "-a", &socket])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("ssh-agent of the package openssh-client");
        // The agent prints its address once it listens.
        let mut said = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut said).unwrap();
        home.set("SSH_AUTH_SOCK", &socket);
        Self(child)
    }

    fn add(home: &Home, key: &str) {
        let (_, socket) = home
            .variables()
            .find(|(name, _)| *name == "SSH_AUTH_SOCK")
            .unwrap();
        let added = Command::new("ssh-add")
            .arg("-q")
            .arg(home.path(key))
            .env("SSH_AUTH_SOCK", socket)
            .stdin(Stdio::null())
            .status();
        assert!(added.unwrap().success());
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[test]
fn ssh_agent_signs_with_the_key_of_an_approver() {
    let mut home = parked();
    let _agent = Agent::start(&mut home);
    home.neuron(&["approve", "r1"])
        .exits(2)
        .says("ssh-agent has none of the 1 keys")
        .says("or name a key file with --sign");
    keygen(&home, "stranger");
    Agent::add(&home, "stranger");
    Agent::add(&home, "key");
    // The agent has the key: the file is not needed.
    fs::remove_file(home.path("key")).unwrap();
    home.neuron(&["approve", "r1"]).exits(0);
    home.neuron(&["resume", "r1"]).exits(0).prints("Done.\n");
    let decided = events_of_type(&home, "approval_decided").remove(0);
    assert_eq!(decided["approver"], "ada");
    assert_eq!(decided["key"], fingerprint(&home, "key"));
}

#[test]
fn an_answer_in_the_terminal_is_signed_too() {
    let home = parked();
    let mut session = in_terminal(home.command(&["resume", "r1", "--sign", "key"]));
    session.exp_string(QUESTION).unwrap();
    session.send_line("y").unwrap();
    ends_with(session, 0);
    assert_eq!(home.read("made"), "made\n");
    let decided = events_of_type(&home, "approval_decided").remove(0);
    assert_eq!(decided["key"], fingerprint(&home, "key"));
}

#[test]
fn a_decision_about_a_run_below_is_signed_for_that_run() {
    let home = three_levels("ask = [\"bash\"]", "echo made >> made");
    keygen(&home, "key");
    trust_key_of_ada(&home, "key");
    home.neuron(&["run", "--id", "r1", "Go."]).exits(3);
    for ticket in ["r1.1-1.1-1/t1-1", "r1.1-2.1-1/t1-1"] {
        home.neuron(&["approve", "r1", ticket, "--sign", "key"])
            .exits(0);
    }
    home.neuron(&["resume", "r1"]).exits(0).prints("All.\n");
    assert_eq!(home.read("made"), "made\nmade\n");
}
