//! What the file tools reject, whatever confines commands.

use std::os::unix::fs::symlink;

use neuron_sandbox::{Sandbox, SandboxRules};
use serde_json::{Value, json};

use crate::person::Person;

/// All calls of file tools that name a path.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": path})),
        ("write_file", json!({"path": path, "content": "x"})),
        (
            "edit_file",
            json!({"path": path, "old_string": "secret", "new_string": "x"}),
        ),
        ("list_files", json!({"path": path})),
        ("glob", json!({"path": path, "pattern": "**"})),
        ("grep", json!({"path": path, "pattern": "secret"})),
    ]
}

fn is_denied(answer: &Value) -> bool {
    let error = answer.get("error").and_then(Value::as_str);
    error.is_some_and(|error| error.starts_with("PermissionDenied"))
}

fn home() -> Person {
    let person = Person::new("");
    for path in [
        ".ssh/id_ed25519",
        ".config/gcloud/creds.json",
        ".cargo/credentials.toml.bak",
        ".local/state/neuron/trust/x.json",
        "dotfiles/keys/id",
        "miniconda3/settings/token",
        "project/seen",
    ] {
        person.write(path, "secret\n");
    }
    symlink("dotfiles/keys", person.home().join(".keys")).unwrap();
    symlink("../.ssh", person.home().join("project/link")).unwrap();
    person
}

#[test]
fn every_file_tool_refuses_what_is_hidden() {
    let person = home();
    let paths = [
        ".ssh/id_ed25519",
        ".ssh",
        ".config/gcloud/creds.json",
        ".cargo/credentials.toml.bak",
        ".local/state/neuron/trust",
        "dotfiles/keys",
        ".keys/id",
        "miniconda3/settings",
        "project/link",
        "project/link/id_ed25519",
        "project/../.ssh/id_ed25519",
    ];
    let asked: Vec<_> = paths.into_iter().flat_map(calls).collect();
    for sandbox in [Sandbox::Workspace, Sandbox::ReadOnly, Sandbox::Off] {
        let answers = person.call(&sandbox, &asked);
        for (call, answer) in asked.iter().zip(answers) {
            assert!(is_denied(&answer), "{call:?}: {answer}");
        }
    }
}

#[test]
fn a_search_finds_nothing_in_what_is_hidden() {
    let person = home();
    let asked = [
        ("glob", json!({"pattern": "**"})),
        ("grep", json!({"pattern": "secret"})),
    ];
    for sandbox in [Sandbox::Workspace, Sandbox::Off] {
        for answer in person.call(&sandbox, &asked) {
            let text = answer.to_string();
            assert!(text.contains("project/seen"), "{text}");
            assert!(!text.contains("keys") && !text.contains("token"), "{text}");
        }
    }
}

#[test]
fn what_the_rules_of_the_sandbox_name_is_read_by_file_tools_too() {
    let person = home();
    let asked = [
        ("read_file", json!({"path": ".config/gcloud/creds.json"})),
        ("read_file", json!({"path": ".ssh/id_ed25519"})),
        (
            "write_file",
            json!({"path": ".config/gcloud/new", "content": "x"}),
        ),
    ];
    let rules = SandboxRules::new().read("~/.config/gcloud");
    let answers = person.call(&Sandbox::Custom(rules), &asked);
    let denied: Vec<_> = answers.iter().map(is_denied).collect();
    assert_eq!(denied, [false, true, true]);
}

#[test]
fn the_home_directory_stays_hidden_from_tools_that_go_anywhere() {
    let mut person = Person::new("project");
    person.variable("PROBE_GOES_ANYWHERE", "");
    person.write(".ssh/id", "secret");
    person.write("other/seen", "secret");
    person.write("main/.git/config", "[core]");
    let asked = [
        ("read_file", json!({"path": "../.ssh/id"})),
        ("write_file", json!({"path": "../.bashrc", "content": "x"})),
        (
            "write_file",
            json!({"path": "../main/.git/config", "content": "x"}),
        ),
        ("read_file", json!({"path": "../other/seen"})),
        (
            "write_file",
            json!({"path": "../other/new", "content": "x"}),
        ),
    ];
    let answers = person.call(&Sandbox::Workspace, &asked);
    let denied: Vec<_> = answers.iter().map(is_denied).collect();
    assert_eq!(denied, [true, true, true, false, false], "{answers:?}");
}
