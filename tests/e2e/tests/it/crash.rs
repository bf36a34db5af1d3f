//! `kill -9` at any moment of a run of twenty steps, then `resume`: the same end, nothing twice.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use neuron_harness::{Reply, chat, eventually};
use serde_json::json;

use crate::long_run::{ANSWER, CALLS, LAST_TURN, LongRun, RUN, Tool, check_output, is_unknown};

/// The run without any interruption.
#[test]
fn a_run_of_twenty_steps_ends_with_the_answer() {
    let run = LongRun::new("", |_| None);

    let output = run.start().finish().exits(0).json();

    check_output(&output);
    let requests = run.requests();
    assert_eq!(requests.len(), LAST_TURN);
    assert!(requests.values().all(|count| *count == 1), "{requests:?}");
    // The run is over: resuming it makes no step.
    run.resume();
    assert_eq!(run.requests(), requests);
}

/// Kills the run while its model call of this turn hangs.
fn killed_in_model_call(turn: usize) {
    let armed = AtomicBool::new(true);
    let run = LongRun::new("", move |request| {
        let hangs = chat::turn(&request.body) == turn && armed.swap(false, Ordering::SeqCst);
        hangs.then_some(Reply::Hang)
    });
    let process = run.start();
    run.model.reached(turn);

    let killed = process.kill();

    assert_eq!((killed.code, killed.stdout.as_str()), (None, ""));
    assert_eq!(run.world.status(RUN)["state"], "interrupted");
    run.resume();
    for (of, count) in run.requests() {
        assert_eq!(
            count,
            if of == turn { 2 } else { 1 },
            "requests of turn {of}"
        );
    }
    let bodies = run.model.bodies();
    assert_eq!(bodies[turn - 1], bodies[turn], "the same is asked again");
    for (number, _, tool) in CALLS {
        assert_eq!(
            run.commands(number),
            usize::from(tool == Tool::Bash),
            "call {number}"
        );
    }
    let results = chat::tool_results(bodies.last().unwrap());
    assert!(
        results.iter().all(|(_, result)| !is_unknown(result)),
        "{results:?}"
    );
}

#[test]
fn killed_in_any_model_call_the_run_asks_only_that_again() {
    for turn in 1..=LAST_TURN {
        killed_in_model_call(turn);
    }
}

/// Kills the run while the command of this call is in flight.
fn killed_in_write(number: usize, turn: usize) {
    let run = LongRun::new("", |_| None);
    run.hold(number);
    let process = run.start();
    eventually("call of the command", || {
        (run.commands(number) == 1).then_some(())
    });

    drop(process.kill());

    // The command itself lives on, but its end is not received by any process.
    run.resume();
    assert_eq!(run.commands(number), 1, "call {number} was made again");
    for (of, count) in run.requests() {
        assert_eq!(count, 1, "requests of turn {of}");
    }
    let bodies = run.model.bodies();
    let told = chat::tool_results(&bodies[turn]);
    let result = |number: usize| &told[number - 1].1;
    assert!(
        is_unknown(result(number)),
        "the model is not told: {told:?}"
    );
    for (other, of, _) in CALLS {
        if of <= turn && other != number {
            assert!(
                !is_unknown(result(other)),
                "call {other} is known: {told:?}"
            );
        }
    }
    let finished = run.world.events_of(RUN, "tool_finished");
    let event = finished
        .iter()
        .find(|event| event["call_id"] == json!(format!("call_{number}")))
        .unwrap();
    assert_eq!(event["failure"], "outcome_unknown");
    run.release(number);
}

#[test]
fn killed_in_any_write_the_run_does_not_call_it_again_and_the_model_is_told() {
    for (number, turn, tool) in CALLS {
        if tool == Tool::Bash {
            killed_in_write(number, turn);
        }
    }
}

/// Kills the run while the read-only call of this number is in flight.
fn killed_in_read(number: usize) {
    let run = LongRun::new("", |_| None);
    let gate = run.hold_grep(number);
    let process = run.start();
    let reader = gate.reader();
    // A call of the same turn may be in flight, too. This is about the other one.
    eventually("end of the command beside it", || {
        let beside = if number == 6 { run.commands(5) } else { 1 };
        (beside == 1).then_some(())
    });

    drop(process.kill());
    drop(reader);

    let resumed = run.world.start(&["resume", RUN, "--json"]);
    // The call is made again.
    drop(gate.reader());
    check_output(&resumed.finish().exits(0).json());
    for (of, count) in run.requests() {
        assert_eq!(count, 1, "requests of turn {of}");
    }
    run.resume();
}

#[test]
fn killed_in_any_read_the_run_calls_it_again() {
    for (number, _, tool) in CALLS {
        if tool == Tool::Grep {
            killed_in_read(number);
        }
    }
}

#[test]
fn where_the_agent_file_says_so_a_person_is_asked_about_an_unknown_outcome() {
    for (choice, calls) in [("retry", 2), ("happened", 1)] {
        let run = LongRun::new("on = { unknown_outcome = \"ask\" }\n", |_| None);
        run.hold(3);
        let process = run.start();
        eventually("call of the command", || {
            (run.commands(3) == 1).then_some(())
        });
        drop(process.kill());
        run.release(3);

        let parked = run.world.neuron(&["resume", RUN, "--json"]).exits(3).json();

        let ticket = &parked["approvals"][0];
        assert_eq!(ticket["tool"], "bash");
        assert_eq!(ticket["kind"], "unknown_outcome");
        assert!(is_unknown(ticket["text"].as_str().unwrap()), "{ticket}");
        let id = ticket["ticket"].as_str().unwrap();
        assert_eq!(run.commands(3), 1);
        assert_eq!(
            run.requests().keys().last(),
            Some(&3),
            "the model waits for the person"
        );

        let decide = ["decide", RUN, id, choice, "--comment", "I looked."];
        run.world.does(0, &decide);
        let output = run.world.neuron(&["resume", RUN, "--json"]).exits(0).json();

        assert_eq!(output["output"], ANSWER);
        assert_eq!(run.commands(3), calls, "{choice}");
        let keys = run.keys(3);
        assert_eq!(keys.len(), calls);
        assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
        assert!(!keys[0].contains(RUN), "a key shows no run: {keys:?}");
        let told = chat::tool_results(&run.model.bodies()[3]);
        let part = if choice == "retry" {
            "did 3"
        } else {
            "took effect"
        };
        assert!(told[2].1.contains(part), "{told:?}");
    }
}

#[test]
fn a_run_that_is_killed_again_and_again_still_ends() {
    let hung = Mutex::new(BTreeSet::new());
    let run = LongRun::new("", move |request| {
        let is_first = hung.lock().unwrap().insert(chat::turn(&request.body));
        is_first.then_some(Reply::Hang)
    });
    let mut process = run.start();
    for turn in 1..=LAST_TURN {
        eventually("request of the next turn", || {
            run.requests().contains_key(&turn).then_some(())
        });
        let killed = process.kill();
        assert_eq!(killed.code, None, "{killed:#?}");
        process = run.world.start(&["resume", RUN, "--json"]);
    }

    check_output(&process.finish().exits(0).json());
    let requests = run.requests();
    assert!(requests.values().all(|count| *count == 2), "{requests:?}");
    run.resume();
}
