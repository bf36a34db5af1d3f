//! The errors that keep the worker from serving, in a sentence.

use std::{net::TcpListener, process::Output};

use neuron_harness::Program;

use crate::{identity::OTHER_KEY, place::command};

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn refused(args: &[&str], variables: &[(&str, &str)]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path());
    let output = command.args(args).envs(variables.iter().copied()).output();
    output.unwrap()
}

#[test]
fn a_missing_agent_file_is_named() {
    let output = refused(&["--config", "nowhere.toml"], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output).contains("there is no agent file nowhere.toml"),
        "{}",
        text(&output)
    );
}

#[test]
fn an_agent_file_that_nobody_named_needs_trust() {
    let folder = tempfile::tempdir().unwrap();
    let file = "[agents.default]\nmodel = \"demo/demo\"\ntools = [\"bash\"]\n";
    std::fs::write(folder.path().join("neuron.toml"), file).unwrap();
    let worker = || {
        let mut worker = command(folder.path());
        worker.args(["--listen", "127.0.0.1:0"]);
        worker.env("NEURON_TRUST", "0");
        worker
    };
    let output = worker().output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output);
    assert!(
        said.contains("its current content is not trusted"),
        "{said}"
    );

    let named = Program::start(worker().args(["--config", "neuron.toml"])).unwrap();
    assert!(named.line.starts_with("serving default"), "{}", named.line);
}

#[test]
fn an_address_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = refused(&["--listen", &address], &[]);
    assert_eq!(output.status.code(), Some(2));
    let wanted = format!("cannot listen at {address}: choose another address");
    assert!(text(&output).contains(&wanted), "{}", text(&output));
}

#[test]
fn an_address_that_others_reach_is_refused_before_anything_is_said() {
    for address in ["0.0.0.0:0", "[::]:0"] {
        let output = refused(&["--listen", address], &[]);
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output);
        let reason = format!("{address} can be reached from other machines");
        assert!(said.contains(&reason), "{said}");
        for way in ["RESTATE_IDENTITY_KEYS", "--insecure-listen"] {
            assert!(said.contains(way), "{said}");
        }
        assert!(output.stdout.is_empty(), "{output:?}");
    }
}

#[test]
fn an_address_that_others_reach_is_served_with_a_key_or_on_purpose() {
    let folder = tempfile::tempdir().unwrap();
    let mut signed = command(folder.path());
    signed.args(["--listen", "0.0.0.0:0"]);
    signed.env("RESTATE_IDENTITY_KEYS", OTHER_KEY);
    let signed = Program::start(&mut signed).unwrap();
    assert!(signed.line.starts_with("serving"), "{}", signed.line);

    let mut insecure = command(folder.path());
    insecure.args(["--listen", "0.0.0.0:0", "--insecure-listen"]);
    let insecure = Program::start(&mut insecure).unwrap();
    assert!(insecure.line.starts_with("serving"), "{}", insecure.line);
}

#[test]
fn a_prefix_that_restate_would_not_take_is_refused() {
    let output = refused(&["--task-queue", "a/b"], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output).contains("\"a/b\" is no name for services"),
        "{}",
        text(&output)
    );
}

#[test]
fn an_identity_key_that_cannot_be_read_is_refused_and_not_shown() {
    let variables = [("RESTATE_IDENTITY_KEYS", "publickeyv2_secretlooking")];
    let output = refused(&["--listen", "127.0.0.1:0"], &variables);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output).contains("an identity key cannot be used"),
        "{}",
        text(&output)
    );
}
