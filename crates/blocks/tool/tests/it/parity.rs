//! Commands in a sandbox and file tools find the same protected.

use std::{fs, os::unix::fs::symlink};

use crate::person::{Person, callers};

/// What may be done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum May {
    Nothing,
    Read,
    Write,
    /// It is not there.
    Make,
}

use May::{Make, Nothing, Read, Write};

/// The text of all files.
const TEXT: &str = "it was read";

/// Checks the table for all callers. Files that are not made otherwise are made, but for those that may be made.
fn check(person: &Person, table: &[(&str, May)]) {
    let paths: Vec<&str> = table.iter().map(|(path, _)| *path).collect();
    for caller in callers() {
        let reads = person.reads(caller, &paths, TEXT);
        let writes = person.writes(caller, &paths);
        let found = paths.iter().zip(reads.into_iter().zip(writes));
        let found: Vec<_> = found
            .map(|(path, done)| {
                let may = match done {
                    (true, true) => Write,
                    (true, false) => Read,
                    (false, true) => Make,
                    (false, false) => Nothing,
                };
                (*path, may)
            })
            .collect();
        let differ = table
            .iter()
            .zip(&found)
            .filter(|(expected, found)| expected != found);
        let differ: Vec<_> = differ.collect();
        assert!(
            differ.is_empty(),
            "{caller:?}, expected and found: {differ:#?}"
        );
    }
}

/// Files that are in the home directory.
const HOME: &[(&str, May)] = &[
    (".ssh/id_ed25519", Nothing),
    (".ssh/authorized_keys", Nothing),
    (".aws/credentials", Nothing),
    (".config/gcloud/creds.json", Nothing),
    (".config/autostart/x.desktop", Nothing),
    (".netrc", Nothing),
    (".npmrc", Nothing),
    (".bashrc", Nothing),
    (".profile", Nothing),
    (".gitconfig", Nothing),
    (".local/state/neuron/trust/x.json", Nothing),
    (".local/share/keyrings/login.keyring", Nothing),
    (".neuron/neuron.db", Nothing),
    (".cargo/credentials.toml", Nothing),
    (".cargo/credentials.toml.bak", Nothing),
    (".cargo/bin/tool", Read),
    (".cargo/config.toml", Read),
    (".cargo/registry/src/lib.rs", Read),
    (".rustup/toolchains/stable/bin/rustc", Read),
    (".rustup/netrc", Nothing),
    (".pyenv/versions/3/bin/python", Read),
    (".pyenv/.git/config", Nothing),
    (".local/bin/tool", Read),
    (".local/lib/python3/module.py", Read),
    (".local/share/uv/python/bin/python", Read),
    (".local/share/uv/credentials/token", Nothing),
    ("miniconda3/.condarc", Nothing),
    ("miniconda3/bin/python", Read),
    ("go/bin/tool", Read),
    ("go/src/main.go", Write),
    ("bin/tool", Read),
    ("dotfiles/vimrc", Nothing),
    ("dotfiles/read-me", Write),
    ("neuron.toml", Read),
    ("notes", Write),
    ("project/main.rs", Write),
];

/// Ways to some of them, and what is not there.
const WAYS: &[(&str, May)] = &[
    ("project/../.ssh/id_ed25519", Nothing),
    ("project/keys/id_ed25519", Nothing),
    ("project/start", Nothing),
    ("project/tools/tool", Read),
    ("project/other", Write),
    (".vimrc", Nothing),
    (".bash_profile", Nothing),
    (".ssh/new", Nothing),
    (".zshenv", Nothing),
    ("fresh", Nothing),
    ("bin/new", Nothing),
    ("miniconda3/new", Nothing),
    (".local/state/neuron/trust/y.json", Nothing),
    ("project/new/file", Make),
];

#[test]
fn in_a_home_directory_commands_and_file_tools_reach_the_same() {
    let person = Person::new("");
    for (path, _) in HOME {
        person.write(path, TEXT);
    }
    let project = person.home().join("project");
    symlink("../.ssh", project.join("keys")).unwrap();
    symlink("../.bashrc", project.join("start")).unwrap();
    symlink("../bin", project.join("tools")).unwrap();
    symlink("main.rs", project.join("other")).unwrap();
    symlink("dotfiles/vimrc", person.home().join(".vimrc")).unwrap();
    check(&person, &[HOME, WAYS].concat());
}

#[test]
fn in_a_project_nothing_of_it_is_kept_as_the_home_directory_is() {
    let person = Person::new(".hidden/project");
    let files = [
        (".env", Write),
        (".git/config", Read),
        (".git/hooks/pre-commit", Read),
        (".git/description", Write),
        (".neuron/neuron.db", Nothing),
        ("neuron.toml", Read),
        ("src/main.rs", Write),
    ];
    person.write(".hidden/project/.git/HEAD", "ref: refs/heads/main\n");
    for (path, _) in files {
        person.write(&format!(".hidden/project/{path}"), TEXT);
    }
    let others = [(".git/hooks/new", Nothing), ("src/new", Make)];
    check(&person, &[&files[..], &others].concat());
}

#[test]
fn in_a_bare_repository_what_runs_programs_is_not_changed() {
    let person = Person::new("bare.git");
    let files = [
        ("config", Read),
        ("hooks/post-receive", Read),
        ("worktrees/one/commondir", Read),
        ("worktrees/one/gitdir", Read),
        ("description", Write),
        ("info/exclude", Write),
    ];
    person.write("bare.git/HEAD", "ref: refs/heads/main\n");
    person.write("bare.git/objects/pack/x", "");
    for (path, _) in files {
        person.write(&format!("bare.git/{path}"), TEXT);
    }
    check(&person, &[&files[..], &[("hooks/new", Nothing)]].concat());
}

#[test]
fn records_of_trust_are_out_of_reach_where_the_state_directory_was_moved() {
    for there in [true, false] {
        let mut person = Person::new("project");
        person.variable("XDG_STATE_HOME", "project/var/state");
        person.write("project/var/state/other", TEXT);
        if there {
            person.write("project/var/state/neuron/trust/x.json", TEXT);
        }
        let table = [
            ("var/state/neuron/trust/x.json", Nothing),
            ("var/state/neuron/trust/y.json", Nothing),
            ("var/state/other", Write),
        ];
        check(&person, &table);
    }
    // Records that the agent was made to work in are its files.
    let person = Person::new(".local/state/neuron");
    person.write(".local/state/neuron/trust/x.json", TEXT);
    assert!(fs::exists(person.cwd()).unwrap());
    check(&person, &[("trust/x.json", Write)]);
}

#[test]
fn what_links_of_the_home_directory_lead_to_is_worked_on_where_it_is_the_working_directory() {
    let person = Person::new("dotfiles");
    person.write("dotfiles/bashrc", TEXT);
    symlink("dotfiles/bashrc", person.home().join(".bashrc")).unwrap();
    check(&person, &[("bashrc", Write)]);
}
