//! The errors that keep a worker from starting: one sentence and exit code 2.

use std::{fs, process::Output};

use neuron_harness::free_address;

use crate::place::command;

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn needs_an_agent_file_that_is_there_and_right() {
    let folder = tempfile::tempdir().unwrap();
    let mut without = command(folder.path());
    let output = without.args(["--config", "none.toml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        text(&output),
        "error: there is no agent file none.toml: write it, or leave --config and NEURON_CONFIG out\n"
    );
    fs::write(
        folder.path().join("neuron.toml"),
        "[agents.default]\nmodle = 1\n",
    )
    .unwrap();
    let output = command(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("modle"), "{}", text(&output));
}

#[test]
fn needs_trust_in_an_agent_file_that_nobody_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = "[agents.default]\nmodel = \"demo/demo\"\ntools = [\"bash\"]\n";
    fs::write(folder.path().join("neuron.toml"), file).unwrap();
    let mut found = command(folder.path());
    let output = found.env("NEURON_TRUST", "0").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output);
    for part in [
        "its current content is not trusted",
        "(agent default, bash)",
        "--config",
        "`neuron trust`",
        "NEURON_TRUST=1",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }

    let mut named = command(folder.path());
    named.args(["--config", "neuron.toml", "--wait-for-server", "0s"]);
    named.env("TEMPORAL_ADDRESS", free_address());
    let output = named.env("NEURON_TRUST", "0").output().unwrap();
    assert!(text(&output).contains("temporal cannot be reached"));
}

#[test]
fn says_where_it_looked_for_temporal() {
    let folder = tempfile::tempdir().unwrap();
    let address = free_address();
    let mut nowhere = command(folder.path());
    nowhere.args(["--wait-for-server", "0s"]);
    let output = nowhere.env("TEMPORAL_ADDRESS", &address).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output);
    let sentence = format!(
        "error: temporal cannot be reached at http://{address}/: start it, or set TEMPORAL_ADDRESS"
    );
    assert!(said.contains(&sentence), "{said}");
}

#[test]
fn a_build_needs_its_deployment() {
    let folder = tempfile::tempdir().unwrap();
    let mut half = command(folder.path());
    half.args(["--build-id", "b1"]);
    let output = half
        .env("TEMPORAL_ADDRESS", free_address())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let sentence = "error: a deployment and a build id belong together: set --deployment, too\n";
    let said = text(&output);
    assert!(said.ends_with(sentence), "{said}");
}
