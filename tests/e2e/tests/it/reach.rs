//! Signals and decisions for a run that another process executes.

use neuron_harness::{FakeModel, Gate, PipeGate, Reply, Running, World, chat, eventually, is_open};
use serde_json::json;

/// Cancels a run that would outlast the test, and checks that it ends as a cancelled one.
fn cancelled(world: &World, run: Running) {
    world.does(0, &["cancel", "long", "--reason", "it takes too long"]);
    let output = run.finish().exits(1).json();
    assert_eq!(output["state"], "cancelled");
    assert_eq!(output["exit_reason"], "cancelled");
    assert!(
        output["error"]["message"]
            .as_str()
            .unwrap()
            .contains("it takes too long"),
        "{output}"
    );
    assert_eq!(world.status("long")["state"], "cancelled");
    // The run stays cancelled.
    let again = world.neuron(&["resume", "long"]);
    assert_ne!(again.code, Some(0), "{again:#?}");
    assert_eq!(world.status("long")["state"], "cancelled");
}

#[test]
fn cancelling_reaches_a_model_call_in_flight() {
    let model = FakeModel::start(|_| Reply::Hang);
    let world = World::new();
    world.write("neuron.toml", &model.agent_file("tools = []\n"));
    let run = world.start(&["run", "Go.", "--id", "long", "--json"]);
    model.reached(1);

    cancelled(&world, run);

    eventually("end of the request", || (model.left() == 1).then_some(()));
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn cancelling_reaches_a_run_that_waits_for_the_next_attempt() {
    let model = FakeModel::start(|_| {
        let body = chat::error("rate_limit_exceeded", "Slow down.");
        Reply::status(429, body).header("retry-after", "43200")
    });
    let world = World::new();
    world.write("neuron.toml", &model.agent_file("tools = []\n"));
    let run = world.start(&["run", "Go.", "--id", "long", "--json"]);
    eventually("notice", || {
        run.stderr().contains("attempt 1 failed").then_some(())
    });

    cancelled(&world, run);

    assert_eq!(model.requests().len(), 1);
}

#[test]
fn cancelling_kills_a_command_in_flight_and_what_it_started() {
    let model = FakeModel::start(|_| {
        let command = "(trap '' TERM; exec 9> alive; echo begun >&9; \
                       while [ -e hold ]; do sleep 0.02; done) & wait"; // Between two looks.
        Reply::ok(chat::calls(&[(
            "call_1",
            "bash",
            json!({"command": command, "timeout_seconds": 540}),
        )]))
    });
    let world = World::new();
    world.write("hold", "");
    world.write("neuron.toml", &model.agent_file("tools = [\"bash\"]\n"));
    let run = world.start(&["run", "Go.", "--id", "long", "--json"]);
    eventually("begin of the command", || {
        (world.read("alive") == "begun\n").then_some(())
    });

    cancelled(&world, run);

    eventually("end of all that the command started", || {
        (!is_open(&world.file("alive"))).then_some(())
    });
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn cancelling_ends_a_run_whose_file_tool_is_stuck() {
    let model = FakeModel::start(|_| {
        let args = json!({"pattern": "x", "path": "slow"});
        Reply::ok(chat::calls(&[("call_1", "grep", args)]))
    });
    let world = World::new();
    world.write("slow/file", "x\n");
    let gate = PipeGate::at(&world.file("slow/.ignore"));
    world.write("neuron.toml", &model.agent_file("tools = [\"grep\"]\n"));
    let run = world.start(&["run", "Go.", "--id", "long", "--json"]);
    let reader = gate.reader();

    cancelled(&world, run);

    drop(reader);
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn cancelling_a_parked_run_ends_it_without_an_executor() {
    let model = FakeModel::start(|_| {
        Reply::ok(chat::calls(&[(
            "call_1",
            "bash",
            json!({"command": "echo made > made"}),
        )]))
    });
    let world = World::new();
    let keys = "tools = [\"bash\"]\nask = [\"*\"]\n";
    world.write("neuron.toml", &model.agent_file(keys));
    world.does(3, &["run", "Go.", "--id", "long"]);

    world.does(0, &["cancel", "long"]);

    // The run ends now or when it is resumed: in both cases there is nothing left to decide.
    drop(world.neuron(&["resume", "long", "--json"]));
    assert_eq!(world.status("long")["state"], "cancelled");
    assert_eq!(world.status("long")["approvals"], json!([]));
    assert_eq!(world.read("made"), "");
}

#[test]
fn a_message_that_is_sent_to_a_run_is_taken_up_at_the_next_turn() {
    let gate = Gate::shut();
    let held = gate.clone();
    let model = FakeModel::start(move |request| {
        if request.number == 1 {
            held.pass();
        }
        Reply::ok(chat::text(&format!("Answer {}.", request.number)))
    });
    let world = World::new();
    world.write("neuron.toml", &model.agent_file("tools = []\n"));
    let run = world.start(&["run", "Go.", "--id", "long", "--json"]);
    gate.reached();

    world.does(0, &["send", "long", "And mind the gap."]);
    gate.open();
    let output = run.finish().exits(0).json();

    assert_eq!(output["output"], "Answer 2.");
    let requests = model.bodies();
    assert_eq!(requests.len(), 2);
    let said: Vec<(String, String)> = chat::messages(&requests[1])
        .iter()
        .filter(|message| message["role"] != "system")
        .map(|message| {
            (
                message["role"].as_str().unwrap().to_owned(),
                chat::content(message),
            )
        })
        .collect();
    let expected = [
        ("user", "Go."),
        ("assistant", "Answer 1."),
        ("user", "And mind the gap."),
    ];
    let expected = expected.map(|(role, text)| (role.to_owned(), text.to_owned()));
    assert_eq!(said, expected);
    assert_eq!(world.events_of("long", "message_received").len(), 1);
}

#[test]
fn a_message_to_a_parked_run_is_kept_and_one_to_a_run_that_is_over_is_refused() {
    let model = FakeModel::start(|request| {
        Reply::ok(match chat::turn(&request.body) {
            1 => chat::calls(&[("call_1", "bash", json!({"command": "echo made > made"}))]),
            _ => chat::text("Done."),
        })
    });
    let world = World::new();
    let keys = "tools = [\"bash\"]\nask = [\"bash\"]\n";
    world.write("neuron.toml", &model.agent_file(keys));
    world.does(3, &["run", "Go.", "--id", "long"]);

    world.does(0, &["send", "long", "Never mind."]);
    world.does(0, &["deny", "long"]);
    world.does(0, &["resume", "long"]);

    let last = model.bodies().pop().unwrap();
    let said = chat::messages(&last).last().unwrap();
    assert_eq!(
        (said["role"].as_str(), chat::content(said)),
        (Some("user"), "Never mind.".into())
    );
    for args in [&["send", "long", "Too late."][..], &["cancel", "long"]] {
        let late = world.neuron(args);
        assert_eq!(late.code, Some(2), "{late:#?}");
        late.says(&["run long is over", "completed"]);
    }
    assert_eq!(world.status("long")["state"], "completed");
}

#[test]
fn wait_follows_a_run_of_another_process_to_its_end() {
    let gate = Gate::shut();
    let held = gate.clone();
    let model = FakeModel::start(move |_| {
        held.pass();
        Reply::ok(chat::text("Here it is."))
    });
    let world = World::new();
    world.write("neuron.toml", &model.agent_file("tools = []\n"));
    let run = world.start(&["run", "Go.", "--id", "long", "--json"]);
    gate.reached();
    let wait = world.start(&["wait", "long", "--json"]);
    let follow = world.start(&["events", "long", "--follow", "--json"]);
    eventually("first events", || {
        follow.stdout().contains("turn_started").then_some(())
    });

    gate.open();

    let output = run.finish().exits(0).json();
    assert_eq!(wait.finish().exits(0).json(), output);
    assert_eq!(follow.finish().exits(0).json_lines(), world.events("long"));
}
