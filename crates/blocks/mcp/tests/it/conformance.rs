//! Our client under the protocol's own conformance tests: all of their scenarios but those of OAuth, which it does not speak.

use std::{env, path::PathBuf, process::Stdio};

use neuron_patience::patience;
use serde_json::Value;
use tokio::{process::Command, time};

use crate::programs::program;

const GLOBBING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/globbing.mjs");

/// What depends on how fast this machine is, and is no more than noted by it.
const BY_THE_CLOCK: &str = "client-sse-retry-timing";

/// The example, which cargo builds with the tests, into the folder beside theirs.
fn client() -> PathBuf {
    let test = env::current_exe().unwrap();
    let client = test.ancestors().nth(2).unwrap();
    let client = client.join("examples/conformance_client");
    assert!(
        client.exists(),
        "{} is missing: build it with `cargo build -p neuron-mcp --examples`",
        client.display()
    );
    client
}

async fn conformance(args: &[&str]) -> (String, String) {
    let tests = program("conformance");
    let run = Command::new("node")
        .args(["--import", GLOBBING, &tests])
        .args(args)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let ran = time::timeout(patience(), run).await.unwrap().unwrap();
    let [said, told] = [ran.stdout, ran.stderr].map(|it| String::from_utf8(it).unwrap());
    (said, told)
}

async fn passes(scenario: &str) {
    let client = client();
    let longest = patience().as_millis().to_string();
    let args = ["client", "--verbose", "--timeout", &longest];
    let args = [
        &args[..],
        &[
            "--scenario",
            scenario,
            "--command",
            client.to_str().unwrap(),
        ],
    ];
    let (said, told) = conformance(&args.concat()).await;
    let ended_well = !told.contains("CLIENT EXITED") && !told.contains("CLIENT TIMED OUT");
    assert!(ended_well, "{scenario}: {told}");
    let checks: Vec<Value> = serde_json::from_str(&said)
        .unwrap_or_else(|error| panic!("{scenario}: {error}: {said}{told}"));
    let of = |status: &str| checks.iter().filter(|it| it["status"] == status).count();
    assert!(of("SUCCESS") > 0, "{scenario}: {said}");
    let refused = checks.iter().filter(|check| {
        let is_wrong = check["status"] == "FAILURE" || check["status"] == "WARNING";
        is_wrong && !(check["id"] == BY_THE_CLOCK && check["details"]["tooEarly"] == false)
    });
    let refused: Vec<_> = refused.collect();
    assert!(refused.is_empty(), "{scenario}: {refused:#?}");
}

#[tokio::test]
async fn every_scenario_that_needs_no_authorisation_is_one_of_those_tested_here() {
    let (said, told) = conformance(&["list", "--client"]).await;
    let named = said.lines().filter_map(|line| {
        let (name, _) = line.trim().strip_prefix("- ")?.split_once(' ')?;
        (!name.starts_with("auth/")).then_some(name)
    });
    let named: Vec<_> = named.collect();
    let tested = [
        "initialize",
        "tools_call",
        "elicitation-sep1034-client-defaults",
        "sse-retry",
    ];
    assert_eq!(named, tested, "{told}");
}

#[tokio::test]
async fn initialises_as_the_conformance_tests_ask() {
    passes("initialize").await;
}

#[tokio::test]
async fn calls_tools_as_the_conformance_tests_ask() {
    passes("tools_call").await;
}

#[tokio::test]
async fn answers_questions_as_the_conformance_tests_ask() {
    passes("elicitation-sep1034-client-defaults").await;
}

#[tokio::test]
async fn takes_up_a_stream_that_ended_as_the_conformance_tests_ask() {
    passes("sse-retry").await;
}
