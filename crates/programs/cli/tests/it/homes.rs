//! Homes of runs that were only found.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use neuron_config::AgentFile;
use neuron_local::{Journal, home_files};
use neuron_types::{Message, RunRequest};
use serde_json::json;

use crate::{
    support::{Done, HELD_UP, Home, eventually, one_command},
    terminal::{ends_with, in_terminal},
};

const QUESTION: &str = "Do you trust it? [y]es, [n]o: ";

/// Returns a directory whose agent file this person trusts, with a home that a stranger added: a begun run that asks no
/// person and works there, and makes a file `made`.
fn cloned() -> Home {
    let home = own("tools = [\"bash\"]\nask = [\"bash\"]");
    plant(&home, home.dir());
    home
}

/// Returns a directory whose agent file this person trusts.
fn own(agent: &str) -> Home {
    let mut home = Home::with_script(&one_command("touch made"), agent);
    home.set("NEURON_TRUST", "");
    home.neuron(&["trust"]).exits(0);
    home
}

/// Makes a stranger's home with the run `r1`, which works in this directory.
fn plant(home: &Home, directory: &Path) {
    let stranger = Home::with_script(&json!([]), "tools = [\"bash\"]");
    let file = AgentFile::load(stranger.path("neuron.toml")).unwrap();
    let agent = file.definition("default").unwrap().clone();
    assert!(agent.approvals.approve.is_empty());
    let request = RunRequest::new(agent, Message::user("go"));
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    runtime.block_on(async {
        let journal = Journal::open(home.path(".neuron")).await.unwrap();
        let run = "r1".parse().unwrap();
        let begun = journal.create_run_in(directory, &run, request, "local");
        begun.await.unwrap();
    });
}

fn real(path: &Path) -> String {
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

#[track_caller]
fn is_refused(done: Done) {
    done.exits(2)
        .prints("")
        .says(" is not trusted: ")
        .says("Its runs decide what is executed, and in which directory");
}

#[test]
fn one_that_came_with_a_directory_is_not_executed_continued_or_written_into() {
    let home = cloned();
    let directory = real(home.dir());
    home.neuron(&["resume", "r1"])
        .exits(2)
        .prints("")
        .says(&format!(
            "error: the home {directory}/.neuron is not trusted: it came with the directory, \
             or an older neuron or another program created it. Its runs decide what is executed, and in which \
             directory: review them with `neuron runs`, then type `neuron trust {directory}`, set NEURON_HOME to it, or \
             set NEURON_TRUST=1"
        ));
    for command in [
        &["worker"][..],
        &["worker", "--config", "neuron.toml"],
        &["resume", "r1", "--config", "neuron.toml"],
        &["resume", "r1", "--here"],
        &["run", "hi"],
        &["run", "--session", "s", "hi"],
        &["submit", "hi"],
        &["submit", "--session", "s", "hi"],
        &["send", "r1", "hi"],
        &["signal", "r1", "x"],
        &["approve", "r1"],
        &["deny", "r1"],
        &["cancel", "r1"],
        &["upgrade", "r1"],
        &["rm", "r1"],
        &["sessions", "rm", "s"],
    ] {
        is_refused(home.neuron(command));
    }
    assert!(!home.exists("made") && !home.exists(".neuron/sessions.db"));
    let run = home.status("r1");
    assert_eq!(
        (&run["state"], &run["turn"]),
        (&json!("interrupted"), &json!(0))
    );
}

#[test]
fn one_that_came_with_a_directory_can_be_looked_at() {
    let home = cloned();
    for command in [
        &["runs"][..],
        &["status", "r1"],
        &["show", "r1"],
        &["events", "r1"],
        &["approvals"],
        &["costs"],
        &["sessions", "list"],
    ] {
        home.neuron(command).exits(0);
    }
    // No process continues the run.
    home.neuron(&["wait", "r1"]).exits(3);
    assert!(!home.exists(".neuron/id"));
}

#[test]
fn its_sessions_are_no_run_s_past() {
    let home = own("");
    let stranger = Home::with_script(&json!([{ "text": "Obey me." }]), "");
    stranger.neuron(&["run", "--session", "s", "hi"]).exits(0);
    let session = stranger
        .neuron(&["sessions", "export", "s"])
        .exits(0)
        .stdout;
    stranger.write("session.json", &session);
    fs::create_dir(home.path(".neuron")).unwrap();
    for name in ["neuron.db", "sessions.db"] {
        let theirs = home_files(&stranger.path(".neuron")).join(name);
        fs::copy(theirs, home.path(".neuron").join(name)).unwrap();
    }
    is_refused(home.neuron(&["run", "--session", "s", "hi"]));
    let file = stranger.path("session.json");
    let import = ["sessions", "import", file.to_str().unwrap(), "--as", "t"];
    is_refused(home.neuron(&import));
    home.neuron(&["sessions", "show", "s"]).exits(0);
}

#[test]
fn one_that_a_person_trusts_is_gone_on_with() {
    let home = cloned();
    let directory = real(home.dir());
    let trusted = home.neuron(&["trust"]).exits(0).stdout;
    let said = format!(
        "{directory}/.neuron is trusted as your own home of\n  1 run, which works in\n    {}\n",
        home.dir().display()
    );
    assert!(trusted.ends_with(&said), "{trusted}");
    let trusted = home.neuron(&["trust", "--json"]).exits(0).json();
    let found = &trusted["home"];
    assert_eq!(found["path"], format!("{directory}/.neuron"));
    assert_eq!(
        (&found["trusted"], &found["runs"]),
        (&json!(true), &json!(1))
    );
    // The run's definition asks no person, and the file here does.
    home.neuron(&["resume", "r1"]).exits(3);
    home.neuron(&["approve", "r1"]).exits(0);
    home.neuron(&["resume", "r1"]).exits(0).prints("Done.\n");
    assert!(home.exists("made"));
}

#[test]
fn one_without_an_agent_file_beside_it_can_be_trusted() {
    let home = cloned();
    let other = Home::new();
    fs::rename(home.path(".neuron"), other.path(".neuron")).unwrap();
    let trusted = other.neuron(&["trust", "--json"]).exits(0).json();
    assert_eq!(
        (&trusted["path"], &trusted["wants"]),
        (&json!(null), &json!(null))
    );
    assert_eq!(trusted["home"]["trusted"], true);
    let text = other.neuron(&["trust"]).exits(0).stdout;
    assert!(text.starts_with(&real(other.dir())), "{text}");
}

#[test]
fn a_worker_asks_what_its_own_file_asks_about_whatever_a_run_was_begun_with() {
    let home = cloned();
    home.neuron(&["trust"]).exits(0);
    let worker = home.start(&["worker"]);
    eventually("the ticket", || {
        home.status("r1")["state"] == "waiting_for_approval"
    });
    assert_eq!(home.status("r1")["approvals"][0]["tool"], "bash");
    assert!(!home.exists("made"));
    home.neuron(&["deny", "r1"]).exits(0);
    eventually("the end", || home.status("r1")["state"] == "completed");
    assert!(!home.exists("made"));
    worker.signal("TERM");
    worker.done().exits(0);
}

#[test]
fn a_worker_refuses_what_its_own_file_denies_whatever_a_run_was_begun_with() {
    let home = own("tools = [\"bash\"]\ndeny = [\"bash\"]");
    plant(&home, home.dir());
    home.neuron(&["trust"]).exits(0);
    let worker = home.start(&["worker"]);
    eventually("the end", || home.status("r1")["state"] == "completed");
    assert!(!home.exists("made"));
    worker.signal("TERM");
    worker.done().exits(0);
}

#[test]
fn one_that_the_command_made_needs_no_question_until_it_is_moved_or_replaced() {
    let home = own("tools = [\"bash\"]\nask = [\"bash\"]");
    home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    home.neuron(&["approve", "r1"]).exits(0);
    home.neuron(&["resume", "r1"]).exits(0);
    home.neuron(&["submit", "--id", "r2", "go"]).exits(0);
    home.neuron(&["sessions", "rm", "s"])
        .exits(2)
        .says("no session");
    let id = home.path(".neuron/id");
    assert_eq!(id.metadata().unwrap().permissions().mode() & 0o777, 0o600);

    // Removing or replacing the id takes no run away.
    let kept = home.read(".neuron/id");
    home.write(".neuron/id", "00000000-0000-4000-8000-000000000000");
    home.neuron(&["send", "r2", "hi"]).exits(0);
    fs::remove_file(&id).unwrap();
    fs::create_dir(&id).unwrap();
    home.neuron(&["send", "r2", "hi"]).exits(0);
    fs::remove_dir_all(home.path(".neuron")).unwrap();
    fs::create_dir(home.path(".neuron")).unwrap();
    home.write(".neuron/id", &kept);
    home.neuron(&["cancel", "r2"]).exits(0);

    fs::rename(home.path(".neuron"), home.path("elsewhere")).unwrap();
    let sub = home.path("sub");
    fs::create_dir(&sub).unwrap();
    fs::rename(home.path("elsewhere"), sub.join(".neuron")).unwrap();
    let in_sub = |args: &[&str]| {
        let mut command = home.command(args);
        Done::from(command.current_dir(&sub).output().unwrap())
    };
    let moved = in_sub(&["rm", "r1"]);
    let from = format!("it was moved or copied from {}/.neuron", real(home.dir()));
    moved.exits(2).prints("").says(&from);
    in_sub(&["status", "r1"]).exits(0);
    in_sub(&["trust"]).exits(0);
    in_sub(&["rm", "r1"]).exits(0);
}

#[test]
fn files_that_others_may_write_do_not_count() {
    let home = own("");
    home.neuron(&["submit", "--id", "r1", "go"]).exits(0);
    let homes = home.person().join(".local/state/neuron/homes");
    fs::set_permissions(&homes, fs::Permissions::from_mode(0o777)).unwrap();
    home.neuron(&["cancel", "r1"])
        .exits(2)
        .says("others may write to it");
    fs::set_permissions(&homes, fs::Permissions::from_mode(0o700)).unwrap();
    home.neuron(&["cancel", "r1"]).exits(0);
}

#[test]
fn one_that_is_named_and_one_of_an_environment_that_trusts_all_need_no_record() {
    let home = cloned();
    let mut named = home.command(&["send", "r1", "hi"]);
    let named = named.env("NEURON_HOME", home.path(".neuron"));
    Done::from(named.output().unwrap()).exits(0);
    let mut trusting = home.command(&["send", "r1", "hi"]);
    let trusting = trusting.env("NEURON_TRUST", "1");
    Done::from(trusting.output().unwrap()).exits(0);
    // Neither of them shows that the home is this person's own.
    is_refused(home.neuron(&["send", "r1", "hi"]));
}

#[test]
fn one_that_was_made_by_name_is_trusted_once_where_it_is_found() {
    let home = own("");
    let mut named = home.command(&["submit", "--id", "r1", "hi"]);
    let named = named.env("NEURON_HOME", home.path(".neuron"));
    Done::from(named.output().unwrap()).exits(0);
    assert!(home.exists(".neuron/neuron.db"));
    is_refused(home.neuron(&["cancel", "r1"]));
    home.neuron(&["trust"]).exits(0);
    home.neuron(&["cancel", "r1"]).exits(0);
    // By either name it is the same home.
    let mut named = home.command(&["status", "r1", "--json"]);
    let named = named.env("NEURON_HOME", home.path(".neuron"));
    let status = Done::from(named.output().unwrap()).exits(0).json();
    assert_eq!(status["state"], "cancelled");
}

#[test]
fn a_relative_path_in_the_environment_names_no_home() {
    let home = cloned();
    let mut relative = home.command(&["send", "r1", "hi"]);
    let relative = relative.env("NEURON_HOME", ".neuron");
    is_refused(Done::from(relative.output().unwrap()));
    let mut elsewhere = home.command(&["submit", "--id", "r2", "hi"]);
    let elsewhere = elsewhere.env("NEURON_HOME", "other");
    Done::from(elsewhere.output().unwrap()).exits(0);
    assert!(home.exists("other/id"));
}

#[test]
fn what_a_pull_puts_into_one_is_none_of_its_runs() {
    let home = own("tools = [\"bash\"]\nask = [\"bash\"]");
    home.neuron(&["submit", "--id", "mine", "go"]).exits(0);
    // Git replaces files that are ignored. SQLite would take a log beside the database for its own.
    let stranger = Home::new();
    plant(&stranger, home.dir());
    for name in [
        "neuron.db",
        "neuron.db-wal",
        "sessions.db",
        "sessions.db-wal",
    ] {
        let bytes = fs::read(stranger.path(".neuron").join(name)).unwrap_or_default();
        fs::write(home.path(".neuron").join(name), bytes).unwrap();
    }
    let runs = home.neuron(&["runs", "--json"]).exits(0).json();
    let ids: Vec<_> = runs
        .as_array()
        .unwrap()
        .iter()
        .map(|run| &run["run_id"])
        .collect();
    assert_eq!(ids, [&json!("mine")]);
    home.neuron(&["resume", "r1"]).exits(2).says("no run r1");
    home.neuron(&["cancel", "mine"]).exits(0);
    assert!(!home.exists("made"));

    // The same is true of a stranger's whole home in its place.
    fs::remove_dir_all(home.path(".neuron")).unwrap();
    fs::rename(stranger.path(".neuron"), home.path(".neuron")).unwrap();
    home.neuron(&["resume", "r1"]).exits(2).says("no run r1");
    home.neuron(&["status", "mine"]).exits(0);
}

#[test]
fn a_command_that_goes_on_reaches_no_run_that_is_begun_below_it() {
    let script = one_command(&format!(
        "{HELD_UP}; find . -name '*.db'; cat sub/.neuron/id"
    ));
    let home = Home::with_script(&script, "tools = [\"bash\"]");
    let mut outer = home.command(&["run", "--id", "outer", "go", "--json"]);
    let outer = outer.env("NEURON_TRUST", "");
    home.neuron(&["trust"]).exits(0);
    let outer = outer.stdout(std::process::Stdio::piped()).spawn().unwrap();
    eventually("the command", || home.exists("begun"));
    let sub = home.path("sub");
    fs::create_dir(&sub).unwrap();
    let mut inner = home.command(&["submit", "--id", "inner", "hi"]);
    let inner = inner.env("NEURON_TRUST", "").current_dir(&sub).output();
    Done::from(inner.unwrap()).exits(0);
    let id = home.read("sub/.neuron/id");
    home.write("go", "");
    Done::from(outer.wait_with_output().unwrap()).exits(0);
    let shown = home.neuron(&["show", "outer"]).exits(0).stdout;
    // It finds the name of files that it does not reach.
    assert!(
        shown.contains(&id) && !shown.contains("neuron.db"),
        "{shown}"
    );
}

#[test]
fn a_link_in_the_place_of_one_is_refused_wherever_it_leads() {
    let home = own("");
    home.neuron(&["submit", "--id", "r1", "hi"]).exits(0);
    let sub = home.path("sub");
    fs::create_dir(&sub).unwrap();
    symlink("../.neuron", sub.join(".neuron")).unwrap();
    let in_sub = |args: &[&str]| {
        let mut command = home.command(args);
        Done::from(command.current_dir(&sub).output().unwrap())
    };
    in_sub(&["cancel", "r1"]).exits(2).prints("").says(
        "is a link, and NEURON_HOME does not name it: set NEURON_HOME to the target of the link",
    );
    in_sub(&["trust"]).exits(2).says("it is a link");
    home.neuron(&["cancel", "r1"]).exits(0);
}

/// Returns every file and directory below, with its mode, its time and its bytes.
fn as_it_is(folder: &Path) -> Vec<(PathBuf, u32, std::time::SystemTime, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let meta = fs::symlink_metadata(&path).unwrap();
        let bytes = match meta.is_file() {
            true => fs::read(&path).unwrap(),
            false => Vec::new(),
        };
        let mode = meta.permissions().mode();
        found.push((path.clone(), mode, meta.modified().unwrap(), bytes));
        if meta.is_dir() {
            found.extend(as_it_is(&path));
        }
    }
    found.sort();
    found
}

#[test]
fn looking_at_one_that_came_with_a_directory_changes_nothing_and_follows_no_link() {
    let home = cloned();
    let mode = |name: &str, mode| {
        fs::set_permissions(home.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    home.write("outside", "kept");
    mode("outside", 0o644);
    fs::remove_dir_all(home.path(".neuron/locks")).unwrap();
    fs::remove_file(home.path(".neuron/.gitignore")).unwrap();
    symlink(home.path("outside"), home.path(".neuron/neuron.db-shm.x")).unwrap();
    mode(".neuron/neuron.db", 0o644);
    let before = as_it_is(home.dir());
    let looks = || {
        for command in [
            &["runs"][..],
            &["status", "r1"],
            &["show", "r1"],
            &["events", "r1"],
            &["approvals"],
            &["costs"],
            &["sessions", "list"],
            &["wait", "r1"],
            &["resume", "r1"],
            &["trust", "nowhere"],
        ] {
            home.neuron(command);
        }
    };
    looks();
    assert_eq!(as_it_is(home.dir()), before);

    for name in ["neuron.db", "sessions.db", "neuron.db-wal"] {
        let linked = home.path(".neuron").join(name);
        let kept = fs::read(&linked).ok();
        fs::remove_file(&linked).ok();
        symlink(home.path("outside"), &linked).unwrap();
        let before = as_it_is(home.dir());
        looks();
        assert_eq!(as_it_is(home.dir()), before, "{name}");
        home.neuron(&["runs"]).exits(2).says("it is a link");
        home.neuron(&["trust"]).exits(2).says("it is a link");
        fs::remove_file(&linked).unwrap();
        if let Some(kept) = kept {
            fs::write(&linked, kept).unwrap();
        }
    }
}

#[test]
fn one_that_a_sandbox_made_beforehand_is_taken() {
    let home = own("");
    fs::create_dir(home.path(".neuron")).unwrap();
    home.write(".neuron/.gitignore", "*\n");
    home.neuron(&["submit", "--id", "r1", "hi"]).exits(0);
    home.neuron(&["cancel", "r1"]).exits(0);
}

#[test]
fn two_commands_that_make_one_at_once_both_go_on() {
    let home = own("");
    let ids = ["r1", "r2", "r3", "r4"];
    let started = ids.map(|id| home.start(&["submit", "--id", id, "hi"]));
    for command in started {
        command.done().exits(0);
    }
    for id in ids {
        home.neuron(&["cancel", id]).exits(0);
    }
}

#[test]
fn without_a_place_for_records_one_is_used_by_who_makes_it_and_named_later() {
    let home = Home::with_script(&json!([{ "text": "Hi." }]), "");
    let nowhere = |args: &[&str]| {
        let mut command = home.command(args);
        command.env_remove("HOME").env("NEURON_TRUST", "");
        command
    };
    let made = nowhere(&["run", "--id", "r1", "--session", "s", "hi"]).output();
    Done::from(made.unwrap())
        .exits(0)
        .prints("Hi.\n")
        .says("set NEURON_HOME to its absolute path, or later commands do not continue its runs");
    let refused = Done::from(nowhere(&["run", "hi"]).output().unwrap());
    is_refused(refused);
    let mut named = nowhere(&["run", "hi"]);
    let named = named.env("NEURON_HOME", home.path(".neuron")).output();
    Done::from(named.unwrap()).exits(0).prints("Hi.\n");
}

#[test]
fn an_engine_s_data_in_one_that_came_with_a_directory_is_not_served() {
    let mut home = Home::new();
    home.set("NEURON_TRUST", "");
    home.set("NEURON_TEMPORAL", "/bin/false");
    home.set("TEMPORAL_ADDRESS", &neuron_harness::free_address());
    let victim = home.path("victim");
    fs::write(&victim, "kept").unwrap();
    fs::create_dir_all(home.path(".neuron/engines")).unwrap();
    symlink(&victim, home.path(".neuron/engines/temporal.log")).unwrap();
    is_refused(home.neuron(&["dev", "--engine", "temporal"]));
    assert_eq!(home.read("victim"), "kept");
}

#[test]
fn a_program_that_came_with_a_directory_is_not_started_as_an_engine() {
    let mut home = Home::new();
    home.set("PATH", "");
    home.set("TEMPORAL_ADDRESS", &neuron_harness::free_address());
    let folder = home.path("target/engines/temporal/9.9.9/bin");
    fs::create_dir_all(&folder).unwrap();
    let program = folder.join("temporal");
    let script = format!("#!/bin/sh\n/bin/touch {}\n", home.path("started").display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let dev = home.installed(&["dev", "--engine", "temporal"]).exits(2);
    assert!(!home.exists("started"), "{dev:?}");
}

#[test]
fn a_person_at_the_terminal_is_asked_once() {
    let home = cloned();
    let mut session = in_terminal(home.command(&["resume", "r1"]));
    session.exp_string("your neuron did not create it").unwrap();
    session.exp_string("1 run, which works in").unwrap();
    session.exp_string(home.dir().to_str().unwrap()).unwrap();
    session.exp_string(QUESTION).unwrap();
    session.send_line("n").unwrap();
    ends_with(session, 2);
    assert_eq!(home.status("r1")["turn"], 0);

    let mut session = in_terminal(home.command(&["resume", "r1"]));
    session.exp_string(QUESTION).unwrap();
    session.send_line("y").unwrap();
    session.exp_string("may it call bash?").unwrap();
    session.exp_string(crate::terminal::QUESTION).unwrap();
    session.send_line("y").unwrap();
    ends_with(session, 0);
    assert!(home.exists("made"));
}
