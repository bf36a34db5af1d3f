//! Where a worker keeps sessions: `[sessions]`.

use std::{fs, path::Path};

use neuron_config::AgentFile;

use super::parse;

const AGENT: &str = "[agents.a]\nmodel = \"demo/demo\"\n";

#[test]
fn are_kept_from_the_folder_of_the_file_on_and_nowhere_without_the_table() {
    let text = format!("{AGENT}[sessions]\nto = \"kept/sessions.db\"\n");
    let file = AgentFile::parse(&text, "agents/neuron.toml").unwrap();
    let to = file.sessions().unwrap();
    assert_eq!(to, Path::new("agents/kept/sessions.db"));
    assert_eq!(parse(AGENT).unwrap().sessions(), None);
    let builtin = AgentFile::builtin(&|_: &str| None::<String>);
    assert_eq!(builtin.sessions(), None);
}

#[test]
fn are_something_to_trust_the_file_with() {
    let file = parse(&format!("{AGENT}[sessions]\nto = \"kept.db\"\n")).unwrap();
    let lines = file.wants().lines();
    let said = "store conversations in kept.db, and continue the conversations there";
    assert_eq!(lines, [said]);
}

#[test]
fn are_named_with_the_line_of_what_is_wrong() {
    for (lines, said) in [
        ("[sessions]", "neuron.toml:3: [sessions]"),
        (
            "[sessions]\nto = \"\"",
            "neuron.toml:4: to in [sessions] names no file",
        ),
        ("[sessions]\nto = 1", "neuron.toml:4: to in [sessions]"),
        (
            "[sessions]\nto = \"a.db\"\nat = \"b.db\"",
            "neuron.toml:5: unknown key \"at\" in [sessions]",
        ),
    ] {
        let error = parse(&format!("{AGENT}{lines}\n")).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn are_said_by_the_file_that_includes_others_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("neuron.toml");
    fs::write(&path, format!("include = [\"more.toml\"]\n{AGENT}")).unwrap();
    let more = "[sessions]\nto = \"kept.db\"\n";
    fs::write(folder.path().join("more.toml"), more).unwrap();
    let error = AgentFile::load(&path).unwrap_err().to_string();
    assert!(error.contains("more.toml:1"), "{error}");
    assert!(
        error.contains("move it to the file that includes this one"),
        "{error}"
    );
}
