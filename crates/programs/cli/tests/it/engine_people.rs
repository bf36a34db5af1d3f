//! Decisions without the command, while no worker runs, as the book describes.

use neuron_harness::Engine;
use serde_json::{Value, json};

use crate::engine_place::Place;

const ASKS: &str = "tools = [\"bash\"]\nask = [\"bash\"]";

fn two_calls() -> Value {
    let call = |text: &str| json!({ "name": "bash", "input": { "command": format!("echo {text} >> made") } });
    json!([
        { "tool_calls": [call("one"), call("two")] },
        { "text": "Done." },
    ])
}

/// Returns a run whose two tickets are open, and whose worker was killed; with the fields that a decision about each
/// needs.
fn asked(engine: Engine) -> (Place, [Value; 2]) {
    let place = Place::new(engine, &two_calls(), ASKS);
    let worker = place.worker();
    place.home.neuron(&["submit", "--id", "r1", "go"]).exits(0);
    let status = place.await_state("r1", "waiting_for_approval");
    drop(worker);
    let named = |n: usize| {
        let ticket = &status["approvals"][n];
        json!({ "ticket": ticket["ticket"], "digest": ticket["digest"] })
    };
    let tickets = [named(0), named(1)];
    (place, tickets)
}

/// Checks that the first call was denied and the second approved.
fn ends_as_decided(place: &Place) {
    let home = &place.home;
    home.neuron(&["wait", "r1"]).exits(0).prints("Done.\n");
    assert_eq!(home.read("made"), "two\n");
    let events = home.neuron(&["events", "r1", "--json"]).json_lines();
    let decided = events
        .iter()
        .filter(|event| event["type"] == "approval_decided");
    let mut decided: Vec<_> = decided
        .map(|event| (event["ticket"].as_str(), event["verdict"].as_str()))
        .collect();
    decided.sort_unstable();
    let expected = [("t1-1", "deny"), ("t1-2", "approve")];
    assert_eq!(decided, expected.map(|(t, v)| (Some(t), Some(v))));
}

#[test]
fn temporals_own_command_decides_by_signal_without_a_worker_and_by_update() {
    let (place, [first, second]) = asked(Engine::Temporal);
    let mut denial = first;
    denial["verdict"] = "deny".into();
    denial["comment"] = "not on a Friday".into();
    let run = ["--workflow-id", "r1"];
    let signal = ["workflow", "signal", "--name", "decision", "--input"];
    place.temporal(&[&signal[..], &[&denial.to_string()], &run].concat());
    let _worker = place.worker();
    let update = ["workflow", "update", "execute", "--name", "approve"];
    place.temporal(&[&update[..], &["--input", &second.to_string()], &run].concat());
    ends_as_decided(&place);
}

#[test]
fn curl_decides_at_restates_ingress_without_a_worker_and_with_one() {
    let (place, [first, second]) = asked(Engine::Restate);
    let url = format!("{}/neuron/r1", place.ingress());
    place.curl(&format!("{url}/deny/send"), &first);
    let _worker = place.worker();
    place.curl(&format!("{url}/approve"), &second);
    ends_as_decided(&place);
}
