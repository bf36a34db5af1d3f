//! `concurrency` and `rate_limit` of a tool: calls wait for each other, in one run and in all runs of a worker.

use std::time::{Duration, Instant};

use neuron_harness::Engine;
use serde_json::{Value, json};

use crate::{
    engine_place::Place,
    support::{Home, one_command, with_time_enough},
};

/// Returns a command that notes whether another one like it is running at the same time, or whether it was alone for
/// this many looks around.
fn meet(looks: u32) -> String {
    let pause = "sleep 0.02"; // Between two looks.
    format!(
        "mine=$(mktemp going-XXXXXX); for look in $(seq {looks}); do \
         if [ $(ls going-* | wc -l) -gt 1 ]; then echo together >> seen; exit; fi; {pause}; done; \
         rm $mine; echo alone >> seen"
    )
}

/// More looks than any test takes.
const UNTIL_ANOTHER_COMES: u32 = 50_000;
/// Long enough for another command to start, if nothing prevents it. If the time is too short, a defect is missed, and
/// nothing fails.
const FOR_A_WHILE: u32 = 75;

fn calls(count: usize, command: &str) -> Value {
    let call = json!({"name": "bash", "input": {"command": command}});
    json!([{"tool_calls": vec![call; count]}, {"text": "Done."}])
}

fn bash_with(limit: &str) -> String {
    format!("tools = [\"bash\"]\nparallel_writes = true\n[agents.default.tool.bash]\n{limit}")
}

#[test]
fn calls_of_one_turn_go_on_together_unless_the_tool_has_a_limit() {
    for lines in [
        "tools = [\"bash\"]\nparallel_writes = true",
        "tools = [\"bash\"]\n[agents.default.tool.bash]\nparallel_writes = true",
    ] {
        let free = Home::with_script(&calls(2, &meet(UNTIL_ANOTHER_COMES)), lines);
        free.neuron(&["run", "go"]).exits(0);
        assert_eq!(free.read("seen"), "together\ntogether\n");
    }
    let ordered = Home::with_script(&calls(2, &meet(FOR_A_WHILE)), "tools = [\"bash\"]");
    ordered.neuron(&["run", "go"]).exits(0);
    assert_eq!(ordered.read("seen"), "alone\nalone\n");

    let limited = Home::with_script(&calls(2, &meet(FOR_A_WHILE)), &bash_with("concurrency = 1"));
    limited.neuron(&["run", "go"]).exits(0);
    assert_eq!(limited.read("seen"), "alone\nalone\n");
}

#[test]
fn commands_of_one_turn_find_what_those_before_them_did() {
    let call = |command: &str| json!({"name": "bash", "input": {"command": command}});
    let commands = [
        "sleep 0.3; mkdir -p src && echo one > src/a", // Too short a time only misses a defect.
        "sleep 0.2; git init -q . && git add -A src",  // Too short a time only misses a defect.
        "git -c user.name=a -c user.email=a@b commit -qm one && git log --oneline > log",
    ];
    let turns = json!([
        {"tool_calls": [
            call(commands[0]),
            call(commands[1]),
            call(commands[2]),
            {"name": "read_file", "input": {"path": "src/a"}},
            {"name": "edit_file", "input": {"path": "src/a", "old_string": "one", "new_string": "two"}},
            {"name": "read_file", "input": {"path": "src/a"}},
        ]},
        {"text": "Done."},
    ]);
    let lines = "tools = [\"bash\", \"edit_file\", \"read_file\"]\nsandbox = \"off\"";
    let home = Home::with_script(&turns, lines);
    home.neuron(&["run", "--id", "r1", "go"]).exits(0);
    let events = home.neuron(&["events", "r1", "--json"]).exits(0);
    let finished = events.json_lines();
    let mut finished = finished
        .iter()
        .filter(|event| event["type"] == "tool_finished");
    assert!(
        finished.all(|event| event["is_error"] == false),
        "{}",
        events.stdout
    );
    assert!(home.read("log").ends_with(" one\n"));
    assert_eq!(home.read("src/a"), "two\n");
}

#[test]
fn calls_of_one_turn_begin_no_faster_than_the_tool_lets_them() {
    const APART: Duration = Duration::from_millis(1500); // They may be further apart.
    let rate = format!(
        "rate_limit = {{ calls = 1, per = \"{}ms\" }}",
        APART.as_millis()
    );
    let home = Home::with_script(&calls(3, "echo made >> made"), &bash_with(&rate));
    let start = Instant::now();
    home.neuron(&["run", "go"]).exits(0);
    assert!(start.elapsed() >= 2 * APART);
    assert_eq!(home.read("made").lines().count(), 3);
}

#[test]
fn a_write_that_waits_too_long_is_not_made_and_the_run_goes_on() {
    let (home, events) = with_time_enough(|time| {
        let limits = format!(
            "timeout = \"{}ms\"\nrate_limit = {{ calls = 1, per = \"1day\" }}",
            time.as_millis()
        );
        let home = Home::with_script(&calls(2, "echo made >> made"), &bash_with(&limits));
        home.neuron(&["run", "--id", "r1", "go"]).exits(0);
        let events = home.neuron(&["events", "r1", "--json"]).exits(0);
        let events = events.json_lines();
        // The first run has to be over in time.
        let is_made = events.iter().any(|event| event["is_error"] == false);
        is_made.then_some((home, events))
    });
    assert_eq!(home.read("made"), "made\n");
    let count = |key: &str, value: &str| events.iter().filter(|event| event[key] == value).count();
    assert_eq!(count("type", "tool_finished"), 2);
    assert_eq!(count("failure", "unavailable"), 1);
}

#[test]
fn a_limit_that_is_none_is_refused_before_anything_runs() {
    let home = Home::with_script(&one_command("true"), &bash_with("rate_limit = \"10/m\""));
    home.neuron(&["run", "go"]).exits(2).prints("").says(
        "rate_limit in [agents.default.tool.bash] is not a table: write { calls = 10, per = \"1m\" }", // Only said, never waited for.
    );
}

/// Starts two runs of an agent, and returns how long it takes until both are over.
fn two_runs(home: &Home, agent: &str) -> Duration {
    let start = Instant::now();
    let ids = [1, 2].map(|run| format!("{agent}-{run}"));
    for id in &ids {
        let args = ["submit", "--id", id, "--agent", agent, "go"];
        home.neuron(&args).exits(0);
    }
    for id in &ids {
        home.neuron(&["wait", id]).exits(0).prints("Done.\n");
    }
    start.elapsed()
}

fn all_runs_of_a_worker_share_the_limits(engine: Engine) {
    const APART: Duration = Duration::from_secs(5); // They may be further apart.
    let other = |name: &str, limit: &str| {
        format!(
            "\n[providers.{name}]\nkind = \"script\"\nfile = \"{name}.json\"\n\
             [agents.{name}]\nmodel = \"{name}/test\"\ntools = [\"bash\"]\n{limit}\n"
        )
    };
    let mut agents = bash_with("concurrency = 1");
    agents += &other("free", "");
    let rate = format!(
        "[agents.slow.tool.bash]\nrate_limit = {{ calls = 1, per = \"{}s\" }}",
        APART.as_secs()
    );
    agents += &other("slow", &rate);
    let place = Place::new(engine, &one_command(&meet(FOR_A_WHILE)), &agents);
    let (home, script) = (&place.home, |command: &str| {
        json!({"turns": one_command(command)}).to_string()
    });
    home.write("free.json", &script(&meet(UNTIL_ANOTHER_COMES)));
    home.write("slow.json", &script("echo made >> made"));
    let _worker = place.worker();

    two_runs(home, "default");
    assert_eq!(home.read("seen"), "alone\nalone\n");
    two_runs(home, "free");
    assert_eq!(home.read("seen"), "alone\nalone\ntogether\ntogether\n");
    assert!(two_runs(home, "slow") >= APART);
    assert_eq!(home.read("made"), "made\nmade\n");
}

#[test]
fn on_temporal_all_runs_of_a_worker_share_the_limits() {
    all_runs_of_a_worker_share_the_limits(Engine::Temporal);
}

#[test]
fn on_restate_all_runs_of_a_worker_share_the_limits() {
    all_runs_of_a_worker_share_the_limits(Engine::Restate);
}
