//! The home directories that programs of MCP servers get.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
};

use neuron_harness::HOSTILE_SERVER;
use tempfile::TempDir;

use crate::support::{Done, Home};

/// A server that writes to the file `kept` what its home directory contains, and then puts there what `neuron.toml`
/// names.
const KEEPER: &str =
    r#"cat "$HOME/note" > kept 2> /dev/null; echo "$1" > "$HOME/note"; exec node "$0" names"#;

/// Returns a project with a server `github`, of a user whose caches are here.
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

/// Starts the server and returns what its home directory contained before.
fn kept(home: &Home) -> String {
    home.neuron(&["mcp", "list"]).exits(0);
    home.read("kept").trim().to_owned()
}

fn what_one_program_leaves_no_other_one_finds(backend: &str) {
    let caches = tempfile::tempdir().unwrap();
    // The command lines are the same: only the files differ.
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

fn no_directory_finds_what_one_file_left_in_another(backend: &str) {
    let caches = tempfile::tempdir().unwrap();
    let home = project(&caches, backend, "planted");
    let file = home.path("neuron.toml");
    let kept_in = |name: &str| {
        let here = home.path(name);
        fs::create_dir_all(&here).unwrap();
        let mut command = home.command(&["mcp", "list", "--config", file.to_str().unwrap()]);
        Done::from(command.current_dir(&here).output().unwrap()).exits(0);
        let kept = fs::read_to_string(here.join("kept")).unwrap();
        kept.trim().to_owned()
    };
    assert_eq!(kept_in("hostile"), "", "{backend}");
    assert_eq!(kept_in("hostile"), "planted", "{backend}");
    assert_eq!(kept_in("own"), "", "{backend}");
    assert_eq!(kept_in("own"), "planted", "{backend}");
}

#[test]
fn a_program_in_bubblewrap_finds_nothing_of_itself_in_another_directory() {
    no_directory_finds_what_one_file_left_in_another("bubblewrap");
}

#[test]
fn a_program_in_landlock_finds_nothing_of_itself_in_another_directory() {
    no_directory_finds_what_one_file_left_in_another("landlock");
}

#[test]
fn it_is_its_users_alone_and_no_link() {
    let caches = tempfile::tempdir().unwrap();
    let home = project(&caches, "bubblewrap", "kept");
    home.neuron(&["mcp", "list"]).exits(0);
    let servers = caches.path().join("neuron/mcp");
    let own = fs::read_dir(&servers).unwrap().next().unwrap().unwrap();
    for path in [caches.path().join("neuron"), servers, own.path()] {
        let mode = fs::symlink_metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o700, "{}", path.display());
    }
    let elsewhere = caches.path().join("elsewhere");
    fs::rename(own.path(), &elsewhere).unwrap();
    symlink(&elsewhere, own.path()).unwrap();
    home.write("kept", "nothing");
    let name = own.path().display().to_string();
    let said = home.neuron(&["mcp", "list"]).exits(2).stdout;
    let refused = format!("{name} is a symbolic link");
    assert!(said.contains(&refused), "{said}");
    assert_eq!(home.read("kept"), "nothing", "the program was not started");
}
