//! What is protected in the working directory.

use std::{fs, os::unix::fs::symlink, process::Command};

use neuron_sandbox::{Backend, Protected, Sandbox};

use crate::place::{Place, eventually, places};

fn project(place: &Place) {
    place.write(".git/HEAD", "ref: refs/heads/main\n");
    place.write(".git/config", "config");
    place.write(".git/hooks/pre-commit", "hook");
    place.write(".neuron/neuron.db", "journal");
    place.write("neuron.toml", "agents");
    place.write("src/main.rs", "main");
}

fn is_as_before(place: &Place, script: &str) {
    for (name, text) in [
        (".git/config", "config"),
        (".git/commondir", ".\n"),
        (".git/hooks/pre-commit", "hook"),
        (".neuron/neuron.db", "journal"),
        ("neuron.toml", "agents"),
    ] {
        let found = fs::symlink_metadata(place.work().join(name)).unwrap();
        assert!(found.is_file(), "{name} after {script}");
        assert_eq!(place.read(name), text, "{name} after {script}");
    }
    let hooks = fs::read_dir(place.work().join(".git/hooks"))
        .unwrap()
        .count();
    assert_eq!(hooks, 1, "{script}");
    assert!(!place.work().join(".git").is_symlink());
}

#[test]
fn what_is_protected_is_neither_written_nor_replaced() {
    for place in places() {
        project(&place);
        for script in [
            "echo x > neuron.toml",
            "echo x > .git/config",
            "echo x > .git/hooks/pre-commit",
            "echo x > .git/hooks/post-checkout",
            "mkdir -p src/evil && echo ../src/evil > .git/commondir",
            "echo ../src > .git/other && mv .git/other .git/commondir",
            "echo x > .neuron/neuron.db",
            "truncate -s 0 .git/config",
            "rm neuron.toml",
            "rm -rf .git",
            "mv .git moved && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
            "mv .git/hooks .git/old && mkdir .git/hooks",
            "mv .neuron other",
            "echo x > new; mv new neuron.toml",
            "echo x > src/new; mv src/new .git/config",
            "ln -sf src/main.rs neuron.toml",
            "ln -sfn ../src .git/hooks",
            "ln neuron.toml src/hard && echo x > src/hard",
            "ln .git/config src/hard2 && echo x > src/hard2",
            "umount .git/hooks; umount -l .git/config; unshare -Urm umount .git/hooks; echo x > .git/hooks/new",
            "unshare -Urm bash -c 'mount --bind src .git/hooks; echo x > .git/hooks/new'",
        ] {
            let done = place.run(script);
            assert_eq!(done.code.map(|_| ()), Some(()), "{script}");
            is_as_before(&place, script);
        }
        let found = place.run("cat neuron.toml .git/config").ok().to_owned();
        assert_eq!(found, "agentsconfig");
    }
}

#[test]
fn the_journal_is_not_read() {
    for place in places() {
        project(&place);
        for script in [
            "cat .neuron/neuron.db",
            "cp -r .neuron src/copy; cat src/copy/*",
            "ln .neuron/neuron.db src/j; cat src/j",
        ] {
            assert!(!place.run(script).fails().contains("journal"));
        }
    }
}

#[test]
fn what_a_process_hides_is_hidden_from_all_its_commands() {
    for place in places() {
        place.write("state/neuron.db", "journal");
        place.write("free", "text");
        let run = |path: &str, script: &str| {
            let mut worker = place.worker(&Sandbox::Workspace, script);
            let output = worker.env("PROBE_HIDES", path).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let script = "cat free state/neuron.db; echo x > state/neuron.db; rm -rf state; mv state other; true";
        assert_eq!(run("state", script), "text");
        assert_eq!(place.read("state/neuron.db"), "journal");
        // What works in it needs it.
        assert_eq!(run("..", "cat free"), "text");
    }
}

#[test]
fn homes_of_runs_are_out_of_reach_whatever_is_made_while_a_command_runs() {
    for place in places() {
        let homes = place.home().join(".local/state/neuron/homes");
        let script = format!(
            "touch begun; until [ -e go ]; do sleep 0.01; done; cat {0}/*/neuron.db; echo x > {0}/one/neuron.db", // Between two looks.
            homes.display()
        );
        let mut worker = place.worker(&Sandbox::Workspace, &script);
        let mut worker = worker.stdout(std::process::Stdio::piped()).spawn().unwrap();
        eventually("it begins", || place.work().join("begun").exists());
        fs::create_dir_all(homes.join("one")).unwrap();
        fs::write(homes.join("one/neuron.db"), "journal").unwrap();
        place.write("go", "");
        let mut said = String::new();
        std::io::Read::read_to_string(worker.stdout.as_mut().unwrap(), &mut said).unwrap();
        worker.wait().unwrap();
        assert_eq!(said, "");
        let kept = fs::read_to_string(homes.join("one/neuron.db")).unwrap();
        assert_eq!(kept, "journal");
    }
}

#[test]
fn no_command_makes_a_journal_where_there_is_none() {
    for place in places() {
        // Landlock lets nothing be made beside what is protected.
        place.write("neuron.toml", "agents");
        place
            .run("mkdir -p .neuron; echo x > .neuron/neuron.db; mv .neuron other; true")
            .ok();
        assert!(!place.work().join(".neuron/neuron.db").exists());
        assert!(!place.work().join("other").exists());
        if place.backend() == Backend::Bubblewrap {
            assert_eq!(place.read(".neuron/.gitignore"), "*\n");
        }
    }
}

#[test]
fn the_rest_is_written() {
    for place in places() {
        project(&place);
        place.run("echo new > src/main.rs && mkdir src/new && echo x > src/new/file && echo x > .git/HEAD").ok();
        assert_eq!(place.read("src/main.rs"), "new\n");
    }
}

#[test]
fn git_commits_in_a_sandbox_of_bubblewrap() {
    let place = Place::new(Backend::Bubblewrap);
    let git = |args: &[&str]| {
        let status = Command::new("git")
            .args(args)
            .current_dir(place.work())
            .output()
            .unwrap();
        assert!(status.status.success(), "{status:?}");
    };
    git(&["init", "--quiet"]);
    git(&["config", "user.email", "a@example.org"]);
    git(&["config", "user.name", "a"]);
    place.run("echo x > file && git add file && git commit --quiet -m one && git checkout --quiet -b other").ok();
    place.run("git config core.fsmonitor ./evil").fails();
}

#[test]
fn a_worktree_reaches_its_repository_and_another_one_does_not() {
    let place = Place::new(Backend::Bubblewrap);
    let main = place.home().join("main");
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command
            .args(["-c", "user.email=a@example.org", "-c", "user.name=a", "-C"])
            .arg(&main);
        let done = command.args(args).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    fs::create_dir(&main).unwrap();
    git(&["init", "--quiet"]);
    git(&["config", "user.email", "a@example.org"]);
    git(&["config", "user.name", "a"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "one"]);
    git(&[
        "worktree",
        "add",
        "--quiet",
        place.work().to_str().unwrap(),
        "-b",
        "other",
    ]);
    place
        .run("echo x > file && git add file && git commit --quiet -m two")
        .ok();
    place
        .run(&format!(
            "echo x > {}/.git/hooks/pre-commit",
            main.display()
        ))
        .fails();
    for part in [
        "commondir",
        "worktrees/work/commondir",
        "worktrees/work/gitdir",
    ] {
        place
            .run(&format!("echo ../work > {}/.git/{part}", main.display()))
            .fails();
    }
    place.run("echo 'gitdir: ../.ssh' > .git").fails();
    // One that the repository does not know is not believed.
    fs::write(
        place.work().join(".git"),
        format!("gitdir: {}/.ssh", place.home().display()),
    )
    .unwrap();
    place.run("cat ../.ssh/id").fails();
}

#[test]
fn a_protected_link_is_an_error() {
    for place in places() {
        place.write("elsewhere/config", "");
        symlink("elsewhere", place.work().join(".git")).unwrap();
        let done = place.run("true");
        assert!(done.fails().contains("symbolic link"), "{}", done.text);
    }
}

#[test]
fn named_paths_are_protected_from_file_tools_too() {
    let place = Place::new(Backend::Bubblewrap);
    project(&place);
    let protected = Protected::new()
        .read_only("src/main.rs")
        .hidden(place.home().join("trust"));
    let refuses = |name: &str| protected.refuses_write(&place.work(), &place.work().join(name));
    assert!(refuses("src/main.rs") && refuses(".neuron/x") && !refuses("src/lib.rs"));
    assert!(protected.refuses_read(&place.work(), &place.home().join("trust/known")));
}
