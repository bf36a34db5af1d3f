//! The home directories that programs of MCP servers get.

use neuron_harness::HOSTILE_SERVER;
use tempfile::TempDir;

use crate::support::Home;

/// Says in the file `kept` what its home directory keeps, keeps what `neuron.toml` says, and is a server.
const KEEPER: &str =
    r#"cat "$HOME/note" > kept 2> /dev/null; echo "$1" > "$HOME/note"; exec node "$0" names"#;

/// A project with a server `github`, of a user whose caches are here.
fn project(caches: &TempDir, backend: &str, keeps: &str) -> Home {
    let mut home = Home::new();
    home.set("XDG_CACHE_HOME", caches.path().to_str().unwrap());
    home.write("kept", "");
    configure(&home, backend, keeps, "");
    home
}

fn configure(home: &Home, backend: &str, keeps: &str, more: &str) {
    let file = format!(
        "[mcp.github]\ncommand = [\"sh\", \"-c\", '''{KEEPER}''', {HOSTILE_SERVER:?}, {keeps:?}]\n\
         sandbox = {{ backend = {backend:?}, network = true }}\n{more}\n\
         [agents.default]\nmodel = \"demo/demo\"\ntools = [\"mcp:github\"]\n"
    );
    home.write("neuron.toml", &file);
}

/// Starts the server and returns what its home directory kept before.
fn kept(home: &Home) -> String {
    home.neuron(&["mcp", "list"]).exits(0);
    home.read("kept").trim().to_owned()
}

fn what_one_program_leaves_no_other_one_finds(backend: &str) {
    let caches = tempfile::tempdir().unwrap();
    // The command lines are the same: only the files are others.
    let clone = project(&caches, backend, "planted");
    let own = project(&caches, backend, "planted");
    assert_eq!(kept(&clone), "", "{backend}");
    assert_eq!(kept(&clone), "planted", "the same file keeps it: {backend}");
    assert_eq!(kept(&own), "", "another file has its own: {backend}");
    assert_eq!(kept(&own), "planted", "{backend}");

    let mut own = own;
    own.set("GITHUB_TOKEN", "secret");
    configure(&own, backend, "planted", "env = [\"GITHUB_TOKEN\"]\n");
    assert_eq!(kept(&own), "", "a server with a key begins anew: {backend}");
    assert_eq!(kept(&own), "planted", "{backend}");
    own.set("GITHUB_TOKEN", "renewed");
    assert_eq!(
        kept(&own),
        "planted",
        "a renewed key is the same: {backend}"
    );
}

#[test]
fn a_program_in_bubblewrap_finds_nothing_of_another_of_its_name() {
    what_one_program_leaves_no_other_one_finds("bubblewrap");
}

#[test]
fn a_program_in_landlock_finds_nothing_of_another_of_its_name() {
    what_one_program_leaves_no_other_one_finds("landlock");
}
