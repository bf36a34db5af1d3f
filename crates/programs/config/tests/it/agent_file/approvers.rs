//! The approvers who may sign decisions: `[approvers.NAME]`.

use std::fs;

use neuron_config::{AgentFile, OpenOptions};
use neuron_testing::effects::{scope, verified_at};
use neuron_types::{AgentSpec, VerifyOutcome, VerifyRequest};
use serde_json::json;

use super::{open, parse, variables};

const AGENT: &str = "[agents.a]\nmodel = \"demo/demo\"\n";
const ADA: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti ada@laptop";
const PHONE: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB";

fn ada() -> String {
    format!("{AGENT}[approvers.ada]\nkey = \"{ADA}\"\ngroups = [\"ops\"]\n")
}

#[test]
fn are_those_of_the_file_and_of_the_files_that_it_includes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("neuron.toml");
    fs::write(&path, format!("include = [\"people.toml\"]\n{}", ada())).unwrap();
    let people = format!("[approvers.bob]\nkeys = [\"{PHONE}\"]\n");
    fs::write(folder.path().join("people.toml"), people).unwrap();

    let file = AgentFile::load(&path).unwrap();
    let approvers = file.approvers();
    assert_eq!(approvers.names().collect::<Vec<_>>(), ["ada", "bob"]);
    assert!(approvers.may_decide("ada", Some("ops")));
    assert!(!approvers.may_decide("bob", Some("ops")));
    let opened = futures::executor::block_on(file.clone().open(OpenOptions::new("."))).unwrap();
    assert_eq!(opened.approvers(), file.approvers());
}

#[test]
fn are_nobody_where_the_file_names_nobody() {
    assert!(parse(AGENT).unwrap().approvers().is_empty());
    let builtin = AgentFile::builtin(&|_: &str| None::<String>);
    assert!(builtin.approvers().is_empty());
}

#[test]
fn are_no_part_of_what_an_agent_is() {
    let (with, without) = (parse(&ada()).unwrap(), parse(AGENT).unwrap());
    assert_ne!(with, without);
    assert_eq!(
        with.definition("a").unwrap(),
        without.definition("a").unwrap()
    );
    assert!(with.wants().is_empty());
}

/// Returns the problems of a file whose agent is followed by these lines. The first of them is the third.
fn problems(lines: &str) -> String {
    let error = parse(&format!("{AGENT}{lines}")).unwrap_err().to_string();
    assert!(!error.contains("AAAAC3"), "it shows a key: {error}");
    error
}

#[test]
fn are_named_with_the_line_of_what_is_wrong() {
    let said = problems(&format!("[approvers.ada]\nkey = \"{ADA}\"\nkeyz = 1"));
    assert!(
        said.starts_with("neuron.toml:5: unknown key \"keyz\" in [approvers.ada]"),
        "{said}"
    );
    let said = problems("[approvers.ada]\ngroups = [\"ops\"]");
    assert!(
        said.starts_with("neuron.toml:3: [approvers.ada] lacks a key: add key = "),
        "{said}"
    );
    let said = problems(&format!("[approvers.ada]\nkey = \"{ADA}\"\nkeys = []"));
    assert_eq!(
        said,
        "neuron.toml:5: keys in [approvers.ada] is set beside key: keep one of them"
    );
    let said = problems("[approvers.ada]\nkeys = []");
    assert!(
        said.starts_with("neuron.toml:4: keys in [approvers.ada] names no key"),
        "{said}"
    );
    let said = problems("[approvers]\nada = 3");
    assert!(
        said.starts_with("neuron.toml:4: ada in [approvers]"),
        "{said}"
    );
}

#[test]
fn have_keys_that_can_be_used() {
    let second = format!("[approvers.ada]\nkeys = [\n\"{ADA}\",\n\"no-touch-required {PHONE}\"]");
    assert_eq!(
        problems(&second),
        "neuron.toml:6: keys in [approvers.ada] cannot be used: options before a key are not supported: remove what \
         stands before the key's type"
    );
    let private = "[approvers.ada]\nkey = \"\"\"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAAC3\"\"\"";
    assert!(problems(private).contains("this is a private key"));
    let number = problems("[approvers.ada]\nkeys = 3");
    assert_eq!(number.lines().count(), 1, "{number}");
}

#[test]
fn share_neither_keys_nor_names() {
    let two = format!("[approvers.ada]\nkey = \"{ADA}\"\n[approvers.bob]\nkey = \"{ADA} too\"");
    assert_eq!(
        problems(&two),
        "neuron.toml:6: key in [approvers.bob] has a key of ada too: a key has one owner"
    );
    let twice = format!("[approvers.ada]\nkeys = [\"{ADA}\",\n\"{ADA}\"]");
    assert_eq!(
        problems(&twice),
        "neuron.toml:5: keys in [approvers.ada] has a key twice: remove one of them"
    );
    let group = format!("[approvers.ada]\nkey = \"{ADA}\"\ngroups = [\"ada\"]");
    assert_eq!(
        problems(&group),
        "neuron.toml:5: groups in [approvers.ada] cannot be used: ada is the name of an approver and of a group: \
         rename one of them"
    );
    let invisible = format!("[approvers.\"ada\\u0007\"]\nkey = \"{ADA}\"");
    let said = problems(&invisible);
    assert!(
        said.starts_with("neuron.toml:3: \"ada\\u{7}\" names no approver"),
        "{said}"
    );
}

/// Returns the outcome of an unsigned decision where this agent is executed.
async fn unsigned(text: &str, agent: &AgentSpec) -> VerifyOutcome {
    let executor = open(text, ".", variables(&[])).executor(agent).unwrap();
    let request: VerifyRequest = serde_json::from_value(json!({
        "decision": {"ticket": "t1-1", "digest": "d", "verdict": "approve", "approver": "ada"},
        "ticket": "t1-1", "digest": "d", "definition": "sha256:0", "kind": "call", "needed": 1,
    }))
    .unwrap();
    verified_at(&executor, &scope(), &request).await.unwrap()
}

#[tokio::test]
async fn have_to_sign_what_any_agent_asks_that_is_executed_with_the_file() {
    let known = parse(AGENT).unwrap().definition("a").unwrap().clone();
    let unknown = AgentSpec {
        name: "of another file".into(),
        ..known.clone()
    };
    for agent in [&known, &unknown] {
        let signed = unsigned(&ada(), agent).await;
        let expected = VerifyOutcome::rejected("the decision is not signed");
        assert_eq!(signed, expected, "{}", agent.name);
        let free = unsigned(AGENT, agent).await;
        assert!(
            matches!(&free, VerifyOutcome::Taken(taken) if !taken.verified && taken.approver.as_deref() == Some("ada")),
            "{free:?}"
        );
    }
}

#[test]
fn bind_no_agent_whose_commands_could_use_their_keys() {
    let agents = "[agents.a]\nmodel = \"demo/demo\"\ntools = [\"read_file\"]\n\
                  [agents.b]\nmodel = \"demo/demo\"\ntools = [\"bash\"]\nsandbox = \"off\"\n\
                  [agents.c]\nmodel = \"demo/demo\"\ntools = [\"bash\"]\n";
    let unbound = |text: &str| {
        let agents = open(text, ".", variables(&[]));
        let names = agents.unbound_agents().map(ToOwned::to_owned);
        names.collect::<Vec<_>>()
    };
    let with_ada = format!("{agents}[approvers.ada]\nkey = \"{ADA}\"\n");
    assert_eq!(unbound(&with_ada), ["b"]);
    assert_eq!(unbound(agents), [""; 0]);
}
