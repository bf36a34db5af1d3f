//! What is read and written.

use std::{env, fs, path::PathBuf};

use neuron_sandbox::{Sandbox, SandboxRules};

use crate::place::places;

#[test]
fn the_working_directory_is_read_and_written() {
    for place in places() {
        place.write("src/in", "text");
        place
            .run("cat src/in > out && mkdir -p a/b && mv out a/b/out && ln -s in src/link")
            .ok();
        assert_eq!(place.read("a/b/out"), "text");
    }
}

#[test]
fn of_the_home_directory_nothing_else_is_read() {
    for place in places() {
        for script in [
            "cat ~/.ssh/id",
            "ls ~/.ssh",
            "cat ../.ssh/id",
            "cp -r ~/.ssh .",
        ] {
            let done = place.run(script);
            assert!(!done.fails().contains("the key"), "{}", done.text);
        }
        assert!(!place.work().join(".ssh/id").exists());
    }
}

#[test]
fn a_link_to_what_is_not_granted_leads_nowhere() {
    for place in places() {
        for script in ["ln -s ../.ssh link", "cat link/id"] {
            let done = place.run(script);
            assert!(!done.text.contains("the key"), "{}", done.text);
        }
        // Nor in the next command, which finds the link there, with what is protected or without.
        place.write("neuron.toml", "");
        place.run("cat link/id").fails();
    }
}

#[test]
fn nothing_outside_is_written() {
    for place in places() {
        for path in [
            "../outside",
            "~/outside",
            "/usr/outside",
            "/etc/outside",
            "/var/outside",
            "/outside",
        ] {
            place.run(&format!("echo x > {path}"));
        }
        place.run("echo x > ~/.ssh/id; rm ../.ssh/id; mv ../.ssh ../gone; ln ../.ssh/id hard");
        assert_eq!(
            fs::read_to_string(place.home().join(".ssh/id")).unwrap(),
            "the key"
        );
        let outside =
            ["/usr/outside", "/etc/outside", "/var/outside", "/outside"].map(PathBuf::from);
        for path in outside.into_iter().chain([place.home().join("outside")]) {
            assert!(!path.exists(), "{}", path.display());
        }
    }
}

#[test]
fn commands_have_a_temporary_directory_of_their_own() {
    for place in places() {
        place.run("echo x > $TMPDIR/f && mktemp && [ -w $TMPDIR ] && [ -z \"$(ls /tmp | grep ssh)\" ]").ok();
        let outside = tempfile::NamedTempFile::new().unwrap();
        place
            .run(&format!("cat {}", outside.path().display()))
            .fails();
    }
}

#[test]
fn read_only_writes_nothing_but_the_temporary_directory() {
    for place in places() {
        place.write("in", "text");
        let done = place.run_in(
            &Sandbox::ReadOnly,
            "cat in; echo x > $TMPDIR/f; cat $TMPDIR/f; echo x > new",
        );
        assert!(done.fails().starts_with("textx\n"), "{}", done.text);
        place.run_in(&Sandbox::ReadOnly, "echo x > in").fails();
        place.run_in(&Sandbox::ReadOnly, "rm in").fails();
        assert_eq!(place.read("in"), "text");
    }
}

#[test]
fn rules_add_what_is_read_and_replace_what_is_written() {
    for place in places() {
        fs::create_dir(place.home().join("data")).unwrap();
        fs::write(place.home().join("data/in"), "text").unwrap();
        place.write("out/old", "");
        let rules = SandboxRules::new()
            .read("~/data")
            .write([PathBuf::from("out")]);
        place.with(rules.clone(), "cat ~/data/in > out/new").ok();
        assert_eq!(place.read("out/new"), "text");
        place.with(rules.clone(), "echo x > ~/data/in").fails();
        place.with(rules, "echo x > here").fails();
    }
}

#[test]
fn a_home_directory_that_is_the_working_directory_keeps_what_begins_with_a_dot() {
    for place in places() {
        let mut command = place.worker(&Sandbox::Workspace, "cat .ssh/id; cat shown; cat .ssh/id");
        command.env("HOME", place.work());
        place.write(".ssh/id", "the key");
        place.write("shown", "text");
        let output = command.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "text");
    }
}

#[test]
fn a_home_directory_that_is_the_working_directory_gets_no_new_entries() {
    for place in places() {
        for hidden in [true, false] {
            if hidden {
                place.write(".bashrc", "mine");
            }
            place.write("bin/tool", "tool");
            place.write("own/programs/tool", "tool");
            place.write("project/in", "");
            place.write("notes", "");
            let script = "mkdir .config; echo x > .bash_profile; echo x > .profile; echo x > .bashrc; mkdir .local; \
                          ln -s project .ssh; mv project .bash_login; mkdir .neuron; mkdir -p bin; echo x > bin/new; \
                          echo x > bin/tool; echo x > own/programs/tool; mv own/programs own/other; \
                          echo x > project/in; echo x > notes; rm notes; mv project/in .zshenv; true";
            let mut worker = place.worker(&Sandbox::Workspace, script);
            let path = env::var_os("PATH").unwrap();
            let own = place.work().join("own/programs");
            let path = env::join_paths([own].into_iter().chain(env::split_paths(&path))).unwrap();
            let output = worker
                .env("HOME", place.work())
                .env("PATH", path)
                .output()
                .unwrap();
            assert!(output.status.success(), "{output:?}");
            let mut names: Vec<_> = fs::read_dir(place.work())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            let expected = [".bashrc", "bin", "notes", "own", "project"];
            let expected: Vec<_> = expected.into_iter().skip(usize::from(!hidden)).collect();
            assert_eq!(names, expected, "{:?}", place.backend());
            let texts = [
                ".bashrc",
                "bin/tool",
                "own/programs/tool",
                "project/in",
                "notes",
            ];
            let texts = texts.map(|name| place.read(name));
            let bashrc = if hidden { "mine" } else { "" };
            assert_eq!(texts, [bashrc, "tool", "tool", "x\n", "x\n"]);
            assert!(!place.work().join("bin/new").exists());
            drop(fs::remove_file(place.work().join(".bashrc")));
        }
    }
}

#[test]
fn a_home_directory_in_what_is_written_gets_no_new_entries() {
    for place in places() {
        place.write("in", "");
        let rules = SandboxRules::new().write([place.home().join("..")]);
        let script = "echo x > ../.bashrc; mkdir ../bin; mv ../../home ../../other; echo x > ../.ssh/id; echo x > in";
        place.with(rules, script).ok();
        assert_eq!(place.read("in"), "x\n", "{:?}", place.backend());
        let names = fs::read_dir(place.home()).unwrap();
        assert_eq!(names.count(), 2, "{:?}", place.backend());
        let key = fs::read_to_string(place.home().join(".ssh/id")).unwrap();
        assert_eq!(key, "the key");
    }
}

#[test]
fn devices_and_substitutions_work() {
    for place in places() {
        place.run("cat <(echo a) <(echo b) > /dev/null; head -c 4 /dev/urandom | wc -c; : > /dev/null; echo x > /dev/stdout").ok();
        place.run("cat /dev/tty").fails();
    }
}
