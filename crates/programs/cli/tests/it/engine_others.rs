//! Runs that are started without the command, as the book describes.

use neuron_harness::Engine;
use serde_json::{Value, json};

use crate::{
    engine_place::Place,
    support::{eventually, one_command},
};

/// Starts a run with Temporal's own command, or with curl at Restate's ingress.
fn start(place: &Place, engine: Engine, run: &str, request: &Value) {
    match engine {
        Engine::Temporal => {
            let start = ["workflow", "start", "--type", "agent"];
            let queue = ["--task-queue", "neuron", "--workflow-id", run];
            let request = request.to_string();
            let input = ["--input", request.as_str()];
            place.temporal(&[&start[..], &queue, &input].concat());
        }
        Engine::Restate => {
            let url = format!("{}/neuron/{run}/run/send", place.ingress());
            place.curl(&url, request);
        }
    }
}

/// Returns the values of this field in a list, sorted.
fn sorted(list: &Value, field: &str) -> Vec<String> {
    let list = list.as_array().unwrap().iter();
    let mut texts: Vec<_> = list
        .map(|it| it[field].as_str().unwrap().to_owned())
        .collect();
    texts.sort_unstable();
    texts
}

fn the_worker_decides_what_a_run_of_others_does(engine: Engine) {
    let agent = "tools = [\"bash\"]";
    let place = Place::new(engine, &one_command("echo made >> made"), agent);
    let (home, _worker) = (&place.home, place.worker());
    let start = |run: &str, request: &Value| start(&place, engine, run, request);

    start(
        "narrowed",
        &json!({
            "agent": "default",
            "prompt": "go",
            "tenant": "acme",
            "owner": "ann",
            "labels": {"report": "q3"},
            "overrides": {"limits": {"turns": 5}, "deny": ["bash(command=echo*)"]},
        }),
    );
    home.neuron(&["wait", "narrowed"])
        .exits(0)
        .prints("Done.\n");
    assert!(!home.exists("made"));
    start("plain", &json!({"agent": "default", "prompt": "go"}));
    home.neuron(&["wait", "plain"]).exits(0).prints("Done.\n");
    assert_eq!(home.read("made"), "made\n");

    start(
        "widened",
        &json!({
            "agent": "default",
            "prompt": "go",
            "tenant": "acme",
            "overrides": {"model": "demo/demo"},
        }),
    );
    let widened = home.neuron(&["wait", "widened", "--json"]).exits(1).json();
    let error = widened["error"]["message"].as_str().unwrap();
    let said = "the agent default does not let callers set model";
    assert!(error.contains(said), "{error}");

    let runs = |filter: &[&str]| {
        let runs = home.neuron(&[&["runs", "--json"][..], filter].concat());
        sorted(&runs.exits(0).json(), "run_id")
    };
    eventually("three runs in the list", || {
        runs(&["--agent", "default"]).len() == 3
    });
    assert_eq!(runs(&["--tenant", "acme"]), ["narrowed", "widened"]);
    assert_eq!(runs(&["--owner", "ann"]), ["narrowed"]);
    assert_eq!(runs(&["--label", "report=q3"]), ["narrowed"]);
    assert!(runs(&["--tenant", "globex"]).is_empty());
    let costs = home.neuron(&["costs", "--by", "tenant", "--json"]).exits(0);
    let groups = &costs.json()["groups"];
    assert_eq!(groups[0]["name"], Value::Null);
    assert_eq!(groups[0]["cost_usd"], "0.0022");
    // One of the runs failed before its first step.
    assert_eq!(groups[1]["name"], "acme");
    assert_eq!(groups[1]["runs"], 2);
    assert_eq!(groups[1]["turns"], 2);
    assert_eq!(groups[1]["cost_usd"], "0.0022");
}

#[test]
fn temporals_own_command_starts_what_the_worker_has() {
    the_worker_decides_what_a_run_of_others_does(Engine::Temporal);
}

#[test]
fn curl_starts_what_the_worker_has() {
    the_worker_decides_what_a_run_of_others_does(Engine::Restate);
}

/// The script's answer is the one after those that the conversation has.
fn runs_of_others_go_on_with_sessions(engine: Engine) {
    let ask = json!([{"name": "bash", "input": {"command": "echo asked"}}]);
    let turns = json!([
        {"text": "One."},
        {"text": "Two."},
        {"tool_calls": ask},
        {"text": "Four."},
    ]);
    let agent = "tools = [\"bash\"]\nask = [\"bash\"]\n\n[sessions]\nto = \"kept.db\"";
    let place = Place::new(engine, &turns, agent);
    let (home, worker) = (&place.home, place.worker());
    let start = |run: &str, tenant: Option<&str>| {
        let mut request = json!({"agent": "default", "prompt": "go", "session": "notes"});
        if let Some(tenant) = tenant {
            request["tenant"] = tenant.into();
        }
        start(&place, engine, run, &request);
    };
    let says = |run: &str, text: &str| {
        home.neuron(&["wait", run]).exits(0).prints(text);
    };
    start("first", None);
    says("first", "One.\n");
    start("second", None);
    says("second", "Two.\n");
    start("of-a-tenant", Some("acme & co"));
    says("of-a-tenant", "One.\n");

    start("third", None);
    eventually("a run that waits for a person", || {
        let status = home.neuron(&["status", "third", "--json"]);
        status.code == Some(0) && status.json()["state"] == "waiting_for_approval"
    });
    start("too-early", None);
    let early = home.neuron(&["wait", "too-early", "--json"]).exits(1);
    let error = early.json()["error"]["message"]
        .as_str()
        .unwrap()
        .to_owned();
    let taken = "session notes is taken by run third on";
    assert!(error.contains(taken), "{error}");

    // A run that was cancelled is taken in by another worker, too.
    home.neuron(&["cancel", "third"]).exits(0);
    home.neuron(&["wait", "third"]).exits(1);
    drop(worker);
    let _worker = place.worker();
    start("last", None);
    says("last", "Four.\n");

    let listed = home.neuron(&["sessions", "list", "--at", "kept.db", "--json"]);
    let names = sorted(&listed.exits(0).json(), "id");
    assert_eq!(names, ["notes", "tenant-acme_20_26_20co..notes"]);
    home.neuron(&["sessions", "show", "notes", "--at", "kept.db"])
        .exits(0)
        .prints("user: go\nagent: One.\nuser: go\nagent: Two.\nuser: go\nagent calls bash {\"command\":\"echo asked\"}\nbash failed\n");
}

#[test]
fn runs_of_others_go_on_with_sessions_on_temporal() {
    runs_of_others_go_on_with_sessions(Engine::Temporal);
}

#[test]
fn runs_of_others_go_on_with_sessions_on_restate() {
    runs_of_others_go_on_with_sessions(Engine::Restate);
}
