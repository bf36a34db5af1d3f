//! Links that commands put where the sandbox looks.

use std::{env, fs, os::unix::fs::symlink, path::PathBuf};

use neuron_sandbox::{Sandbox, SandboxRules};

use crate::place::{Place, places};

fn is_unharmed(place: &Place) {
    let key = fs::read_to_string(place.home().join(".ssh/id")).unwrap();
    assert_eq!(key, "the key", "{:?}", place.backend());
}

#[test]
fn a_command_does_not_lead_the_next_one_elsewhere() {
    for place in places() {
        place.write("out/old", "");
        let writes = ["out", "in/../out", "./out"]
            .map(|out| SandboxRules::new().write([PathBuf::from("."), PathBuf::from(out)]));
        for rules in writes.into_iter().chain([SandboxRules::new().read("out")]) {
            place.write("out/old", "");
            place.write("in/old", "");
            place
                .with(rules.clone(), "mv out moved && ln -s ../.ssh out; true")
                .ok();
            let done = place.with(rules, "cat out/id; echo x > out/id");
            assert!(!done.text.contains("the key"), "{}", done.text);
            is_unharmed(&place);
            drop(fs::remove_file(place.work().join("out")));
            drop(fs::remove_dir_all(place.work().join("moved")));
        }
    }
}

#[test]
fn a_link_that_commands_may_replace_is_an_error() {
    for place in places() {
        fs::create_dir(place.home().join("data")).unwrap();
        fs::write(place.home().join("data/in"), "text").unwrap();
        symlink("../data", place.work().join("data")).unwrap();
        // It is on the way, although the first link is out of reach.
        symlink("work/data", place.home().join("link")).unwrap();
        for path in ["data", "data/in", "~/link"] {
            let done = place.with(SandboxRules::new().read(path), "true");
            assert!(
                done.fails().contains("name what it leads to"),
                "{}",
                done.text
            );
        }
        let reads = SandboxRules::new().read("data").write([]);
        assert_eq!(place.with(reads, "cat data/in").ok(), "text");
        let reads = SandboxRules::new().read("shell");
        symlink("/bin/sh", place.work().join("shell")).unwrap();
        place.with(reads, "./shell -c true").ok();
        let reads = SandboxRules::new().read("~/data");
        assert_eq!(place.with(reads, "cat data/in").ok(), "text");
    }
}

#[test]
fn a_folder_on_path_that_a_command_made_a_link_is_not_read() {
    for place in places() {
        symlink("../.ssh", place.work().join("tools")).unwrap();
        let before = env::var_os("PATH").unwrap();
        let path = [place.work().join("tools")].into_iter();
        let path = env::join_paths(path.chain(env::split_paths(&before))).unwrap();
        let mut worker = place.worker(&Sandbox::Workspace, "cat tools/id ../.ssh/id");
        let output = worker.env("PATH", path).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "");
        is_unharmed(&place);
    }
}

#[test]
fn a_link_grants_nothing_of_what_is_hidden() {
    for place in places() {
        place.write(".ssh/id", "the key");
        place.write(".neuron/neuron.db", "the journal");
        for target in [".ssh", ".ssh/id", ".neuron", ".neuron/neuron.db"] {
            symlink(target, place.work().join("out")).unwrap();
            let rules = Sandbox::Custom(SandboxRules::new().read("out"));
            let script = "cat out out/*; cat .ssh/id .neuron/neuron.db";
            let mut worker = place.worker(&rules, script);
            let output = worker.env("HOME", place.work()).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{target}");
            fs::remove_file(place.work().join("out")).unwrap();
        }
    }
}

#[test]
fn a_hard_link_that_was_there_before_is_written_through() {
    for place in places() {
        let store = place.home().join("store");
        fs::write(&store, "mine").unwrap();
        fs::hard_link(&store, place.work().join("linked")).unwrap();
        // The book states this; a command makes no such link itself.
        place.run("echo x > linked").ok();
        assert_eq!(fs::read_to_string(&store).unwrap(), "x\n");
        place.run("ln ../store again").fails();
    }
}
