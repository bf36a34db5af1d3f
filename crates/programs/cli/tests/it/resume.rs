//! `neuron resume`

use neuron_local::Journal;
use neuron_types::{Message, RunRequest};
use serde_json::json;
use tempfile::TempDir;

use crate::support::{HELD_UP, Home, Started, eventually, one_call, one_command};

/// Returns a directory with an agent that writes `out.txt` if it is allowed to, and keeps its runs in `runs`.
fn place(runs: &TempDir) -> Home {
    let write = json!({ "path": "out.txt", "content": "made" });
    let agent = "tools = [\"write_file\"]\nask = [\"write_file\"]";
    let mut place = Home::with_script(&one_call("write_file", &write), agent);
    place.set("NEURON_HOME", runs.path().to_str().unwrap());
    place
}

#[test]
fn works_in_the_directory_of_the_run_wherever_it_is_typed() {
    let runs = tempfile::tempdir().unwrap();
    let (own, other) = (place(&runs), place(&runs));
    other.write("out.txt", "of another project");
    own.neuron(&["run", "--id", "r1", "go"]).exits(3);
    other.neuron(&["approve", "r1"]).exits(0);
    let directory = own.dir().canonicalize().unwrap();
    other
        .neuron(&["resume", "r1"])
        .exits(0)
        .prints("Done.\n")
        .says(&format!("run r1 works in {}", directory.display()));
    assert_eq!(own.read("out.txt"), "made");
    assert_eq!(other.read("out.txt"), "of another project");
}

#[test]
fn what_is_named_is_where_the_command_is_typed() {
    let runs = tempfile::tempdir().unwrap();
    let (own, mut other) = (place(&runs), place(&runs));
    own.neuron(&["run", "--id", "r1", "go"]).exits(3);
    std::fs::remove_file(own.path("neuron.toml")).unwrap();
    std::fs::rename(other.path("neuron.toml"), other.path("mine.toml")).unwrap();
    std::os::unix::fs::symlink(runs.path(), other.path("runs")).unwrap();
    other.set("NEURON_HOME", "runs");
    other.neuron(&["approve", "r1"]).exits(0);
    other
        .neuron(&["resume", "r1", "--config", "mine.toml"])
        .exits(0);
    assert_eq!(own.read("out.txt"), "made");
}

#[test]
fn goes_on_elsewhere_on_purpose_only() {
    let runs = tempfile::tempdir().unwrap();
    let (own, other) = (place(&runs), place(&runs));
    own.neuron(&["run", "--id", "r1", "go"]).exits(3);
    other.neuron(&["approve", "r1"]).exits(0);
    std::fs::remove_dir_all(own.dir()).unwrap();
    other
        .neuron(&["resume", "r1"])
        .exits(2)
        .says("restore the directory, or continue in this one with `neuron resume r1 --here`");
    assert!(!other.exists("out.txt"));
    other.neuron(&["resume", "r1", "--here"]).exits(0);
    assert_eq!(other.read("out.txt"), "made");
}

#[test]
fn a_run_that_says_no_directory_is_resumed_on_purpose_only() {
    let home = Home::with_script(&json!([{ "text": "Hi." }]), "");
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    runtime.block_on(async {
        let journal = Journal::open(home.path(".neuron")).await.unwrap();
        let request = RunRequest::new("default", Message::user("go"));
        let run = "r1".parse().unwrap();
        journal.create_run(&run, request, "local").await.unwrap();
    });
    home.neuron(&["resume", "r1"])
        .exits(2)
        .says("`neuron resume r1 --here`");
    home.neuron(&["resume", "r1", "--here"])
        .exits(0)
        .prints("Hi.\n");
}

#[test]
fn prints_the_output_of_a_finished_run_again() {
    let home = Home::with_script(&json!([{ "text": "Hi." }]), "");
    let first = home.neuron(&["run", "--id", "r1", "--json", "hi"]).exits(0);
    let again = home.neuron(&["resume", "r1", "--json"]).exits(0);
    assert_eq!(first.stdout, again.stdout);
    home.neuron(&["resume", "r1"]).exits(0).prints("Hi.\n");

    let failing = json!([{ "fail": [{ "kind": "invalid_request" }] }]);
    home.script(&failing);
    home.neuron(&["run", "--id", "r2", "hi"]).exits(1);
    home.neuron(&["resume", "r2"])
        .exits(1)
        .says("run r2 failed");
}

#[test]
fn stays_parked_without_a_decision() {
    let home = Home::with_script(
        &one_command("touch made"),
        "tools = [\"bash\"]\nask = [\"bash\"]",
    );
    home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    let before = home.status("r1");
    home.neuron(&["resume", "r1"])
        .exits(3)
        .prints("")
        .says("neuron approve r1 t1-1");
    assert_eq!(home.status("r1"), before);
    assert!(!home.exists("made"));
}

#[test]
fn refuses_a_run_that_another_process_executes_and_loses_nothing() {
    let home = Home::with_script(&one_command(HELD_UP), "tools = [\"bash\"]");
    let run = home.start(&["run", "--id", "r1", "go"]);
    home.await_file("begun");
    home.neuron(&["resume", "r1", "--json"])
        .exits(2)
        .prints("")
        .says("error: another process is executing run r1: wait for it with `neuron wait r1`");
    home.write("go", "");
    run.done().exits(0).prints("Done.\n");
    home.neuron(&["resume", "r1"]).exits(0).prints("Done.\n");
}

#[test]
fn goes_on_with_the_definition_that_the_run_was_started_with() {
    let home = Home::with_script(
        &one_command("echo made >> made"),
        "tools = [\"bash\"]\nask = [\"bash\"]",
    );
    home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    home.neuron(&["approve", "r1"]).exits(0);
    home.write(
        "neuron.toml",
        "[providers.script]\nkind = \"script\"\nfile = \"script.json\"\n\
         [agents.other]\nmodel = \"script/test\"\n",
    );
    home.neuron(&["resume", "r1"]).exits(0).prints("Done.\n");
    assert_eq!(home.read("made"), "made\n");
}

#[test]
fn does_not_know_a_run_of_another_home() {
    let home = Home::new();
    home.neuron(&["resume", "r1"])
        .exits(2)
        .says("error: there is no run r1 here: `neuron runs` lists the runs");
    assert!(!home.exists(".neuron"), "looking makes nothing");
}

#[test]
fn of_two_at_once_one_goes_on_and_the_other_is_refused() {
    let home = Home::with_script(
        &one_command(&format!("echo x >> made; {HELD_UP}")),
        "tools = [\"bash\"]\nask = [\"bash\"]",
    );
    home.neuron(&["run", "--id", "r1", "go"]).exits(3);
    home.neuron(&["approve", "r1"]).exits(0);
    let mut both = [home.start(&["resume", "r1"]), home.start(&["resume", "r1"])];
    eventually("a refusal", || both.iter_mut().any(Started::is_over));
    let [first, mut second] = both;
    let (refused, going_on) = if second.is_over() {
        (second, first)
    } else {
        (first, second)
    };
    refused
        .done()
        .exits(2)
        .prints("")
        .says("another process is executing run r1");
    home.await_file("begun");
    home.write("go", "");
    going_on.done().exits(0).prints("Done.\n");
    assert_eq!(home.read("made"), "x\n");
}
