//! `kill -9` while a run waits for another attempt, makes an approved call, or is half through a batch.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use neuron_harness::{FakeModel, PipeGate, Reply, World, chat, eventually};
use rusqlite::{Connection, OpenFlags};
use serde_json::json;

use crate::long_run::{LongRun, RUN, is_unknown};

#[test]
fn killed_between_two_attempts_the_run_goes_on_with_the_attempts_that_are_left() {
    let is_killed = Arc::new(AtomicBool::new(false));
    let knows = Arc::clone(&is_killed);
    let model = FakeModel::start(move |request| {
        if request.number == 3 && !knows.load(Ordering::SeqCst) {
            // The kill was late, and happens in this attempt.
            return Reply::Hang;
        }
        let broken = Reply::status(500, chat::error("server_error", "Broken."));
        broken.header("retry-after-ms", "800")
    });
    let world = World::new();
    let retry = "tools = []\n\n[agents.default.retry.model]\nattempts = 4\ninitial = \"80ms\"\nfactor = 1.0\n"; // Only so that it does not take long.
    world.write("neuron.toml", &model.agent_file(retry));
    let run = world.start(&["run", "Go.", "--id", "again"]);
    model.reached(2);
    // The second attempt is noted when it is reported.
    eventually("notice of the second attempt", || {
        run.stderr().contains("attempt 2 failed").then_some(())
    });

    drop(run.kill());
    is_killed.store(true, Ordering::SeqCst);
    let output = world.neuron(&["resume", "again", "--json"]).exits(1).json();

    assert_eq!(output["error"]["kind"], "unavailable");
    let requests = model.requests();
    let made = requests.len() - model.left();
    assert_eq!(made, 4, "attempts are counted across the crash");
    let gap = requests[2].at - requests[1].at;
    assert!(
        gap >= Duration::from_millis(800), // Not earlier, at any speed.
        "the delay is kept across the crash: {gap:?}"
    );
}

#[test]
fn killed_in_an_approved_write_the_run_does_not_call_it_again() {
    let model = FakeModel::start(|request| {
        let command = "echo made >> made; while [ -e hold ]; do sleep 0.02; done"; // Between two looks.
        Reply::ok(match chat::turn(&request.body) {
            1 => chat::calls(&[("call_1", "bash", json!({"command": command}))]),
            _ => chat::text("Done."),
        })
    });
    let world = World::new();
    let keys = "tools = [\"bash\"]\nask = [\"bash\"]\n";
    world.write("neuron.toml", &model.agent_file(keys));
    world.write("hold", "");
    world.does(3, &["run", "Go.", "--id", "asked"]);
    world.does(0, &["approve", "asked"]);
    let resume = world.start(&["resume", "asked"]);
    eventually("call of the command", || {
        (world.read("made") == "made\n").then_some(())
    });

    drop(resume.kill());
    world.does(0, &["resume", "asked"]);

    assert_eq!(world.read("made"), "made\n");
    let results = chat::tool_results(&model.bodies()[1]);
    assert!(is_unknown(&results[0].1), "{results:?}");
    assert_eq!(world.events_of("asked", "approval_requested").len(), 1);
}

/// Returns how many results of steps the journal contains.
fn journaled(world: &World) -> i64 {
    let path = world.database();
    let journal = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let count =
        "SELECT count(*) FROM entries WHERE result IS NOT NULL AND kind IN ('model', 'tool')";
    journal.query_row(count, [], |row| row.get(0)).unwrap()
}

#[test]
fn killed_in_one_of_two_parallel_calls_the_run_does_not_repeat_the_other() {
    let run = LongRun::new("parallel_writes = true\n", |_| None);
    run.hold(5);
    let process = run.start();
    // The journal has five model calls, and all tool calls up to the sixth except the fifth.
    eventually("result of the call beside it", || {
        (run.commands(5) == 1 && journaled(&run.world) == 10).then_some(())
    });

    drop(process.kill());
    // Any later search there blocks forever.
    let _gate: PipeGate = run.hold_grep(6);
    run.resume();

    assert_eq!(run.commands(5), 1);
    let results = chat::tool_results(&run.model.bodies()[5]);
    assert!(is_unknown(&results[4].1), "{results:?}");
    assert!(results[5].1.contains("needle 6"), "{results:?}");
    assert_eq!(run.world.status(RUN)["state"], "completed");
}
