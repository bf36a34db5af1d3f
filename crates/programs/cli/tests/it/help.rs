//! `--help` and `--version`

use crate::support::Home;

const COMMANDS: [&str; 27] = [
    "run",
    "resume",
    "submit",
    "wait",
    "status",
    "runs",
    "show",
    "costs",
    "events",
    "approvals",
    "approve",
    "deny",
    "answer",
    "complete",
    "decide",
    "send",
    "signal",
    "cancel",
    "upgrade",
    "worker",
    "rm",
    "agents",
    "doctor",
    "trust",
    "mcp",
    "replay",
    "dev",
];

#[test]
fn tells_what_there_is() {
    let help = Home::new().neuron(&["--help"]).exits(0).stdout;
    insta::assert_snapshot!(help);
}

#[test]
fn tells_of_each_command() {
    let home = Home::new();
    for command in COMMANDS {
        let help = home.neuron(&[command, "--help"]).exits(0).stdout;
        insta::assert_snapshot!(command, help);
    }
}

#[test]
fn tells_its_version() {
    let version = Home::new().neuron(&["--version"]).exits(0).stdout;
    assert_eq!(version, format!("neuron {}\n", env!("CARGO_PKG_VERSION")));
}
