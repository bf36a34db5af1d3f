//! The commands about runs, against real engines: their output is the same as for local runs.

use neuron_harness::Engine;
use serde_json::{Value, json};

use crate::{
    engine_place::Place,
    support::{HELD_UP, Home, eventually, of_no_run, one_command},
    terminal::{QUESTION, ends_with, in_terminal},
};

/// Makes a test of each scenario for each engine.
macro_rules! on_each_engine {
    ($($scenario:ident)*) => {
        mod temporal {
            $(#[test] fn $scenario() { super::$scenario(super::Engine::Temporal); })*
        }
        mod restate {
            $(#[test] fn $scenario() { super::$scenario(super::Engine::Restate); })*
        }
    };
}

on_each_engine! {
    a_run_prints_and_shows_what_a_local_one_does
    a_caller_changes_of_an_agent_what_it_lets_callers_set
    tickets_are_decided_one_by_one_and_refused_as_locally
    a_run_without_a_worker_is_waited_for_until_there_is_one
    a_cancelled_run_ends_its_call_and_says_so
    tickets_are_asked_about_in_the_terminal_and_can_be_put_off
    a_ticket_is_decided_right_after_the_worker_was_killed
}

const ASKS: &str = "tools = [\"bash\"]\nask = [\"bash\"]";

fn a_caller_changes_of_an_agent_what_it_lets_callers_set(engine: Engine) {
    let agent = "tools = [\"bash\"]\nask = [\"bash\"]\ncallers_may_set = [\"allow\"]";
    let place = Place::new(engine, &one_command("echo made >> made"), agent);
    let (home, _worker) = (&place.home, place.worker());
    let submit = |id: &str, changes: &[&str]| {
        let submit = ["submit", "--id", id, "--wait", "--json"];
        home.neuron(&[&submit[..], changes, &["go"]].concat())
    };
    let denied = submit(
        "denied",
        &["--allow", "bash", "--deny", "bash(command=echo*)"],
    );
    assert_eq!(denied.exits(0).json()["state"], "completed");
    assert!(!home.exists("made"));
    submit("allowed", &["--allow", "bash"]).exits(0);
    assert_eq!(home.read("made"), "made\n");

    let rejected = submit("rejected", &["--model", "demo/demo"]).exits(1);
    let error = &rejected.json()["error"]["message"];
    let said = "the agent default does not let callers set model";
    assert!(error.as_str().unwrap().contains(said), "{error}");
    // If the agent file is named, nothing is started.
    let named = ["submit", "--config", "neuron.toml", "--id", "unstarted"];
    home.neuron(&[&named[..], &["--model", "demo/demo", "go"]].concat())
        .exits(2)
        .says(said);
    home.neuron(&["status", "unstarted"]).exits(2);
}

/// Returns the part that must be the same whatever the engine.
fn comparable(mut value: Value) -> Value {
    of_no_run(&mut value);
    for key in ["engine", "started_at", "updated_at"] {
        if value.get(key).is_some() {
            value[key] = "…".into();
        }
    }
    value
}

fn types(events: &[Value]) -> Vec<&Value> {
    events.iter().map(|event| &event["type"]).collect()
}

fn a_run_prints_and_shows_what_a_local_one_does(engine: Engine) {
    let script = one_command("true");
    let local = Home::with_script(&script, "tools = [\"bash\"]");
    let place = Place::new(engine, &script, "tools = [\"bash\"]");
    let (home, _worker) = (&place.home, place.worker());

    let here = local
        .neuron(&["run", "--id", "r1", "--json", "go"])
        .exits(0);
    let there = home
        .neuron(&["submit", "--id", "r1", "--wait", "--json", "go"])
        .exits(0);
    assert_eq!(comparable(there.json()), comparable(here.json()));
    // A local run knows before it begins which model that is.
    let (submitted, shown_there) = there.stderr.split_once('\n').unwrap();
    let (begun, shown_here) = here.stderr.split_once('\n').unwrap();
    assert_eq!(submitted, "run r1: agent default");
    assert_eq!(begun, "run r1: agent default, model script/test");
    assert_eq!(shown_there, shown_here);

    home.neuron(&["submit", "--id", "r2", "go"])
        .exits(0)
        .prints("r2\n");
    home.neuron(&["wait", "r2"]).exits(0).prints("Done.\n");
    let submitted = home
        .neuron(&["submit", "--id", "r3", "--json", "go"])
        .exits(0)
        .json();
    assert_eq!(submitted["run_id"], "r3");
    assert_eq!(submitted["state"], "running");
    home.neuron(&["submit", "--id", "r3", "go"])
        .exits(2)
        .prints("")
        .says("error: there is a run r3 already: choose another id");

    assert_eq!(
        comparable(home.status("r1")),
        comparable(local.status("r1"))
    );
    let here = local.neuron(&["events", "r1", "--json"]).json_lines();
    let there = home
        .neuron(&["events", "r1", "--follow", "--json"])
        .exits(0)
        .json_lines();
    assert_eq!(types(&there), types(&here));
    eventually("three runs in the list", || {
        let runs = home.neuron(&["runs", "--json"]).exits(0).json();
        runs.as_array().unwrap().len() == 3
    });
    for args in [
        &["status", "r9"][..],
        &["wait", "r9"],
        &["events", "r9"],
        &["approvals", "r9"],
        &["approve", "r9", "t1-1"],
        &["send", "r9", "hello"],
        &["signal", "r9", "weather"],
        &["cancel", "r9"],
    ] {
        home.neuron(args)
            .exits(2)
            .prints("")
            .says("error: there is no run r9 here");
    }
}

fn tickets_are_decided_one_by_one_and_refused_as_locally(engine: Engine) {
    let call = |text: &str| json!({ "name": "bash", "input": { "command": format!("echo {text} >> made") } });
    let script = json!([
        { "tool_calls": [call("one"), call("two")] },
        { "text": "Done." },
    ]);
    let local = Home::with_script(&script, ASKS);
    local.neuron(&["run", "--id", "r1", "go"]).exits(3);
    let place = Place::new(engine, &script, ASKS);
    let (home, worker) = (&place.home, place.worker());
    home.neuron(&["submit", "--id", "r1", "go"]).exits(0);
    let status = place.await_state("r1", "waiting_for_approval");
    assert_eq!(comparable(status), comparable(local.status("r1")));
    let open = home.neuron(&["approvals", "r1", "--json"]).exits(0);
    assert_eq!(
        comparable(open.json()),
        comparable(local.neuron(&["approvals", "r1", "--json"]).json())
    );
    let listed = home.neuron(&["approvals"]).exits(0);
    assert_eq!(listed.stdout, local.neuron(&["approvals"]).stdout);

    for (args, why) in [
        (&["approve", "r1", "t9-9"][..], "run r1 has no ticket t9-9"),
        (
            &["approve", "r1", "t1-1", "--digest", "abc"],
            "the digest is not that of ticket t1-1",
        ),
        (&["approve", "r1"], "run r1 has 2 open tickets, t1-1, t1-2"),
        (
            &["signal", "r1", "decision", "{\"ticket\":1}"],
            "the payload does not fit the signal decision",
        ),
    ] {
        home.neuron(args).exits(2).prints("").says(why);
    }

    // The command shows a ticket while it is open.
    let wait = ["wait", "r1", "--json"];
    let mut follower = home.start_until_it_says(&wait, "waited", "neuron approve r1 t1-1");
    drop(worker);
    let _worker = place.worker();
    assert!(!follower.is_over(), "it waits for the person");
    let approved = home
        .neuron(&[
            "approve", "r1", "t1-2", "--as", "ann", "--within", "10m", "--json",
        ])
        .exits(0);
    let approved = approved.json();
    assert_eq!(approved["accepted"], true);
    assert_eq!(approved["executing"], true);
    home.await_event("r1", "approval_decided");
    home.neuron(&["approve", "r1", "t1-2"])
        .exits(2)
        .says("ticket t1-2 of run r1 is decided already");
    home.neuron(&["send", "r1", "and say why"])
        .exits(0)
        .prints("the message is queued for run r1\n");
    home.neuron(&["deny", "r1", "--within", "10m"])
        .exits(0)
        .prints("ticket t1-1 of run r1 is denied: bash {\"command\":\"echo one >> made\"}\n");
    let waited = follower.done().exits(0);
    assert_eq!(waited.json()["output"], "Done.");
    assert_eq!(home.read("made"), "two\n");
    home.await_event("r1", "message_received");

    for args in [
        &["deny", "r1", "t1-1"][..],
        &["send", "r1", "too late"],
        &["cancel", "r1"],
    ] {
        home.neuron(args)
            .exits(2)
            .prints("")
            .says("run r1 is over (completed)");
    }
}

fn a_run_without_a_worker_is_waited_for_until_there_is_one(engine: Engine) {
    let place = Place::new(engine, &one_command("true"), "tools = [\"bash\"]");
    // The engine has to know where its worker will be.
    drop(place.worker());
    let home = &place.home;
    home.neuron(&["submit", "--id", "r1", "go"]).exits(0);
    let mut waiting = home.start(&["wait", "r1"]);
    let events = home.neuron(&["events", "r1"]).prints("");
    assert!(!waiting.is_over(), "nobody executes it");
    let _worker = place.worker();
    waiting.done().exits(0).prints("Done.\n");
    // The engine knows that nothing has happened yet.
    events.exits(0);
}

fn a_cancelled_run_ends_its_call_and_says_so(engine: Engine) {
    let place = Place::new(engine, &one_command(HELD_UP), "tools = [\"bash\"]");
    let (home, _worker) = (&place.home, place.worker());
    let submitted = home.start(&["submit", "--id", "r1", "--wait", "--json", "go"]);
    home.await_file("begun");
    let cancelled = home
        .neuron(&["cancel", "r1", "--reason", "no need", "--json"])
        .exits(0);
    let expected = json!({ "run_id": "r1", "accepted": true, "state": "running" });
    assert_eq!(cancelled.json(), expected);
    let output = submitted
        .done()
        .exits(1)
        .says("error: run r1 was cancelled: no need (")
        .json();
    assert_eq!(output["state"], "cancelled");
    assert_eq!(output["error"]["message"], "no need");
    home.neuron(&["cancel", "r1"])
        .exits(2)
        .says("run r1 is over (cancelled)");
}

fn tickets_are_asked_about_in_the_terminal_and_can_be_put_off(engine: Engine) {
    let place = Place::new(engine, &one_command("echo made > made"), ASKS);
    let (home, _worker) = (&place.home, place.worker());
    let mut submitted = in_terminal(home.command(&["submit", "--id", "r1", "--wait", "go"]));
    submitted.exp_string("may it call bash?").unwrap();
    submitted.exp_string(QUESTION).unwrap();
    submitted.send_line("l").unwrap();
    let rest = ends_with(submitted, 3);
    assert!(
        rest.contains("then continue it with: neuron wait r1"),
        "{rest}"
    );

    let mut waiting = in_terminal(home.command(&["wait", "r1"]));
    waiting.exp_string(QUESTION).unwrap();
    waiting.send_line("y").unwrap();
    let rest = ends_with(waiting, 0);
    assert!(rest.contains("✓ bash"), "{rest}");
    assert_eq!(home.read("made"), "made\n");
}

/// Decides on a ticket right after a kill. On Temporal the killed worker has the run for some seconds more.
fn a_ticket_is_decided_right_after_the_worker_was_killed(engine: Engine) {
    let place = Place::new(engine, &one_command("echo made > made"), ASKS);
    let (home, worker) = (&place.home, place.worker());
    home.neuron(&["submit", "--id", "r1", "go"]).exits(0);
    place.await_state("r1", "waiting_for_approval");
    drop(worker);
    let _next = place.worker();
    home.neuron(&["approve", "r1"]).exits(0);
    home.neuron(&["wait", "r1"]).exits(0).prints("Done.\n");
    assert_eq!(home.read("made"), "made\n");
}
