//! Tickets without a terminal.

use chrono::{DateTime, Utc};
use neuron_harness::{FakeModel, PipeGate, Reply, World, chat, eventually};
use serde_json::{Value, json};

const AGENT: &str = "tools = [\"bash\", \"read_file\", \"grep\"]\nask = [\"bash\"]\n";

/// Returns a model that asks for these calls and is content with all results.
fn model(calls: Vec<(&'static str, &'static str, Value)>) -> FakeModel {
    FakeModel::start(move |request| {
        Reply::ok(match chat::turn(&request.body) {
            1 => chat::calls(&calls),
            _ => chat::text("I am done."),
        })
    })
}

fn touch(file: &str) -> Value {
    json!({"command": format!("echo made >> {file}")})
}

/// Returns a world with a run called `parked`, which waits for a person.
fn parked(model: &FakeModel, keys: &str) -> World {
    let world = World::new();
    world.write("neuron.toml", &model.agent_file(keys));
    let run = world
        .neuron(&["run", "Go.", "--id", "parked", "--json"])
        .exits(3);
    let output = run.json();
    assert_eq!(output["state"], "waiting_for_approval");
    assert_eq!(output["exit_reason"], Value::Null);
    world
}

fn ticket(world: &World, number: usize) -> Value {
    world.status("parked")["approvals"][number].clone()
}

fn id(ticket: &Value) -> &str {
    ticket["ticket"].as_str().unwrap()
}

fn results(model: &FakeModel) -> Vec<(String, String)> {
    chat::tool_results(&model.requests().last().unwrap().body)
}

#[test]
fn a_ticket_parks_the_run_and_nothing_is_executed() {
    let model = model(vec![("call_1", "bash", touch("made"))]);
    let world = World::new();
    world.write("neuron.toml", &model.agent_file(AGENT));

    let run = world.neuron(&["run", "Go.", "--id", "parked"]).exits(3);

    run.says(&[
        "neuron approve parked",
        "neuron deny parked",
        "neuron resume parked",
    ]);
    run.says(&["echo made >> made"]);
    assert_eq!(world.read("made"), "");
    assert_eq!(model.requests().len(), 1);
    let ticket = ticket(&world, 0);
    assert_eq!(ticket["tool"], "bash");
    assert_eq!(ticket["args"], touch("made"));
    assert_eq!(ticket["digest"].as_str().unwrap().len(), 64);
    let listed = world
        .neuron(&["approvals", "parked", "--json"])
        .exits(0)
        .json();
    assert!(
        listed
            .to_string()
            .contains(ticket["digest"].as_str().unwrap()),
        "{listed}"
    );

    // The ticket is not decided, so the run still waits.
    let again = world
        .neuron(&["resume", "parked", "--json"])
        .exits(3)
        .json();
    assert_eq!(again["approvals"], json!([ticket]));
    assert_eq!(world.read("made"), "");
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn an_approved_call_is_made_once_when_the_run_is_resumed() {
    let model = model(vec![("call_1", "bash", touch("made"))]);
    let world = parked(&model, AGENT);
    let ticket = ticket(&world, 0);

    let approve = [
        "approve",
        "parked",
        id(&ticket),
        "--as",
        "Ada",
        "--comment",
        "fine",
    ];
    world.does(0, &approve);
    assert_eq!(world.read("made"), "", "a decision alone executes nothing");
    let output = world
        .neuron(&["resume", "parked", "--json"])
        .exits(0)
        .json();

    assert_eq!(output["output"], "I am done.");
    assert_eq!(world.read("made"), "made\n");
    let decided = &world.events_of("parked", "approval_decided")[0];
    assert_eq!(decided["verdict"], "approve");
    assert_eq!(decided["approver"], "Ada");
    assert_eq!(decided["comment"], "fine");
}

#[test]
fn a_denied_call_is_not_made_and_the_model_reads_why() {
    let model = model(vec![("call_1", "bash", touch("made"))]);
    let world = parked(&model, AGENT);

    // The ticket's name may be left out if only one is open.
    world.does(0, &["deny", "parked", "--comment", "not on a Friday"]);
    world.does(0, &["resume", "parked"]);

    assert_eq!(world.read("made"), "");
    let results = results(&model);
    assert!(results[0].1.contains("not on a Friday"), "{results:?}");
    assert_eq!(
        world.events_of("parked", "tool_finished")[0]["is_error"],
        true
    );
}

#[test]
fn an_approved_call_is_made_with_the_arguments_that_the_person_put_in() {
    let model = model(vec![("call_1", "bash", touch("made"))]);
    let world = parked(&model, AGENT);
    let ticket = ticket(&world, 0);

    let args = touch("elsewhere").to_string();
    world.does(0, &["approve", "parked", id(&ticket), "--args", &args]);
    world.does(0, &["resume", "parked"]);

    assert_eq!(world.read("made"), "");
    assert_eq!(world.read("elsewhere"), "made\n");
    let results = results(&model);
    assert!(
        results[0].1.contains("elsewhere"),
        "the model is told: {results:?}"
    );
}

#[test]
fn tickets_of_one_turn_are_decided_one_by_one_and_other_calls_run_at_once() {
    let model = model(vec![
        ("call_1", "bash", touch("first")),
        ("call_2", "read_file", json!({"path": "neuron.toml"})),
        ("call_3", "bash", touch("third")),
    ]);
    let world = parked(&model, AGENT);
    let finished = world.events_of("parked", "tool_finished");
    assert_eq!(finished.len(), 1, "{finished:?}");
    assert_eq!(finished[0]["call_id"], "call_2");
    let (first, third) = (ticket(&world, 0), ticket(&world, 1));

    let which = world.neuron(&["approve", "parked"]).exits(2);
    which.says(&[id(&first), id(&third)]);
    world.does(0, &["approve", "parked", id(&third)]);
    let half = world
        .neuron(&["resume", "parked", "--json"])
        .exits(3)
        .json();

    assert_eq!(half["approvals"], json!([first]));
    assert_eq!(
        (world.read("first"), world.read("third")),
        (String::new(), "made\n".to_owned())
    );
    assert_eq!(model.requests().len(), 1, "the turn is not over");

    world.does(0, &["deny", "parked", id(&first), "--comment", "no"]);
    world.does(0, &["resume", "parked"]);

    assert_eq!(
        (world.read("first"), world.read("third")),
        (String::new(), "made\n".to_owned())
    );
    assert_eq!(model.requests().len(), 2);
    let ids: Vec<String> = results(&model).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["call_1", "call_2", "call_3"]);
}

#[test]
fn a_decision_reaches_a_run_that_another_process_executes() {
    let model = model(vec![
        ("call_1", "bash", touch("made")),
        ("call_2", "grep", json!({"pattern": "x", "path": "slow"})),
    ]);
    let world = World::new();
    world.write("neuron.toml", &model.agent_file(AGENT));
    world.write("slow/file", "x\n");
    // `grep` reads this file to know what to leave out.
    let gate = PipeGate::at(&world.file("slow/.ignore"));
    let run = world.start(&["run", "Go.", "--id", "parked", "--json"]);
    let reader = gate.reader();
    eventually("ticket", || {
        let open = world.neuron(&["approvals", "parked", "--json"]).json();
        (open != json!([])).then_some(())
    });

    world.does(0, &["approve", "parked", "t1-1"]);
    drop(reader);

    drop(run.finish().exits(0));
    assert_eq!(world.read("made"), "made\n");
}

/// Runs a decision that must be rejected: with a sentence, and without a trace in the run.
fn refused(world: &World, args: &[&str], parts: &[&str]) {
    let before = world.status("parked");
    let refused = world.neuron(args);
    assert!(matches!(refused.code, Some(1 | 2)), "{refused:#?}");
    refused.says(parts);
    assert_eq!(refused.stdout, "");
    assert_eq!(world.status("parked"), before, "after {args:?}");
}

#[test]
fn decisions_that_fit_no_open_ticket_are_refused_and_the_run_is_none_the_worse() {
    let model = model(vec![
        ("call_1", "bash", touch("made")),
        ("call_2", "bash", touch("other")),
    ]);
    let world = parked(&model, AGENT);
    let (ticket, other) = (ticket(&world, 0), ticket(&world, 1));
    let (right, wrong) = (
        ticket["digest"].as_str().unwrap(),
        other["digest"].as_str().unwrap(),
    );
    let name = id(&ticket);

    refused(
        &world,
        &["approve", "parked", "t9-9"],
        &["no ticket t9-9", "neuron approvals"],
    );
    refused(&world, &["deny", "parked", "t9-9"], &["no ticket t9-9"]);
    refused(
        &world,
        &["approve", "parked", name, "--digest", wrong],
        &["digest", name],
    );
    refused(
        &world,
        &["approve", "parked", name, "--args", "{"],
        &["not JSON"],
    );
    refused(
        &world,
        &["approve", "parked", name, "--args", "[1]"],
        &["object"],
    );
    let decision = json!({"ticket": name, "digest": wrong, "verdict": "approve"}).to_string();
    refused(
        &world,
        &["signal", "parked", "decision", &decision],
        &["digest", name],
    );
    refused(
        &world,
        &["signal", "parked", "decision", "{\"verdict\": \"yes\"}"],
        &["decision"],
    );
    let nowhere = world.neuron(&["approve", "nowhere", name]).exits(2);
    nowhere.says(&["no run nowhere", "neuron runs"]);

    world.does(0, &["approve", "parked", name, "--digest", right]);
    // The ticket is decided, although the run has not received the decision yet.
    refused(
        &world,
        &["deny", "parked", name],
        &[name, "decided already"],
    );
    world.does(0, &["deny", "parked", id(&other)]);
    world.does(0, &["resume", "parked"]);

    assert_eq!(
        (world.read("made"), world.read("other")),
        ("made\n".to_owned(), String::new())
    );
    // The ticket is decided, and the run is over.
    let late = world.neuron(&["approve", "parked", name]);
    assert!(matches!(late.code, Some(1 | 2)), "{late:#?}");
    assert_eq!(world.read("made"), "made\n");
    assert!(world.events_of("parked", "approval_refused").is_empty());
}

#[test]
fn an_expired_ticket_is_refused_and_the_call_is_not_made() {
    // On a slow machine a ticket may expire before its run is parked. Then the run gets more time.
    let seconds = [1, 8, 64, 512];
    let (model, world) = seconds
        .into_iter()
        .find_map(|seconds| {
            let model = model(vec![("call_1", "bash", touch("made"))]);
            let keys = format!("{AGENT}approval_timeout = \"{seconds}s\"\n");
            let world = World::new();
            world.write("neuron.toml", &model.agent_file(&keys));
            let run = world.neuron(&["run", "Go.", "--id", "parked"]);
            (run.code == Some(3)).then_some((model, world))
        })
        .expect("a run that is parked in nine minutes");
    let ticket = ticket(&world, 0);
    let expires_at: DateTime<Utc> = ticket["expires_at"].as_str().unwrap().parse().unwrap();
    eventually("expiry", || (Utc::now() > expires_at).then_some(()));

    refused(
        &world,
        &["approve", "parked", id(&ticket)],
        &["expired", "not made"],
    );
    let output = world
        .neuron(&["resume", "parked", "--json"])
        .exits(0)
        .json();

    assert_eq!(output["state"], "completed");
    assert_eq!(world.read("made"), "");
    assert_eq!(world.events_of("parked", "approval_expired").len(), 1);
    let results = results(&model);
    assert!(results[0].1.contains("nobody decided"), "{results:?}");
}

#[test]
fn an_expired_ticket_fails_the_run_where_the_agent_file_says_so() {
    let model = model(vec![("call_1", "bash", touch("made"))]);
    let keys = format!("{AGENT}approval_timeout = \"1ms\"\non = {{ expiry = \"fail\" }}\n"); // It lapses, before or after the run is parked.
    let world = World::new();
    world.write("neuron.toml", &model.agent_file(&keys));
    let first = world.neuron(&["run", "Go.", "--id", "parked", "--json"]);
    // Whether the ticket expires before or after the run is parked is a matter of luck.
    let end = match first.code {
        Some(3) => world.neuron(&["resume", "parked", "--json"]),
        _ => first,
    };

    let output = end.exits(1).json();

    assert_eq!(output["state"], "failed");
    assert!(
        output["error"]["message"]
            .as_str()
            .unwrap()
            .contains("nobody decided"),
        "{output}"
    );
    assert_eq!(world.read("made"), "");
    assert_eq!(model.requests().len(), 1);
}
