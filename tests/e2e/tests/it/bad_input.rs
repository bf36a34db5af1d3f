//! Wrong files, wrong arguments, a place that cannot be written: a sentence, the right exit code, and
//! nothing lost.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use neuron_harness::{FakeModel, Gate, Reply, World, chat};
use rusqlite::Connection;
use serde_json::{Value, json};

fn refused(agent_file: &str, parts: &[&str]) {
    let world = World::new();
    world.write("neuron.toml", agent_file);
    for args in [&["run", "Go."][..], &["agents"]] {
        let command = world.neuron(args).exits(2);
        command.says(&["neuron.toml"]);
        command.says(parts);
        assert_eq!(command.stdout, "");
    }
    let runs = world.neuron(&["runs", "--json"]).exits(0).json();
    assert_eq!(runs, json!([]), "no run was started");
}

#[test]
fn an_unknown_key_is_named_with_its_file_and_line() {
    refused(
        "[agents.default]\nmodel = \"demo/demo\"\ninstrutcions = \"Be kind.\"\n",
        &["neuron.toml:3", "instrutcions", "instructions"],
    );
}

#[test]
fn an_unknown_tool_is_named_with_its_line() {
    refused(
        "[agents.default]\nmodel = \"demo/demo\"\ntools = [\n  \"raed_file\",\n]\n",
        &["neuron.toml:4", "raed_file", "read_file"],
    );
}

#[test]
fn an_unknown_provider_is_named_with_its_line() {
    refused(
        "[agents.default]\nmodel = \"opneai/gpt\"\n",
        &["neuron.toml:2", "opneai", "openai"],
    );
}

#[test]
fn a_value_of_the_wrong_kind_is_named_with_its_line() {
    refused(
        "[agents.default]\nmodel = \"demo/demo\"\n\n[agents.default.limits]\nturns = \"many\"\n",
        &["neuron.toml:5", "turns", "many", "whole number"],
    );
}

#[test]
fn a_file_that_is_no_toml_is_refused_with_its_line() {
    refused("[agents.default]\nmodel = \n", &["neuron.toml:2"]);
}

#[test]
fn every_problem_of_a_file_is_told() {
    refused(
        "[agents.default]\nmodel = \"demo/demo\"\ntols = []\n\n[agents.other]\nmodel = \"x\"\n",
        &["tols", "provider/model"],
    );
}

#[test]
fn an_agent_file_or_an_agent_that_is_not_there_is_named() {
    let world = World::new();
    let run = world
        .neuron(&["run", "Go.", "--config", "none.toml"])
        .exits(2);
    run.says(&["none.toml"]);
    world.write("neuron.toml", "[agents.default]\nmodel = \"demo/demo\"\n");
    let run = world
        .neuron(&["run", "Go.", "--agent", "reviewer"])
        .exits(2);
    run.says(&["reviewer", "default"]);
}

#[test]
fn a_provider_without_its_key_is_refused_with_the_variable() {
    let world = World::new();
    world.write(
        "neuron.toml",
        "[agents.default]\nmodel = \"openai/gpt-6.1-terra\"\n",
    );
    let run = world.neuron(&["run", "Go."]).exits(2);
    run.says(&["OPENAI_API_KEY"]);
}

#[test]
fn usage_errors_exit_with_2() {
    let world = World::new();
    for args in [
        &["run"][..],
        &["run", "Go.", "--engine", "steam"],
        &["run", "Go.", "--id", "no/slash"],
        &["frobnicate"],
        &["resume", "nothing-of-this-name"],
        &["status", "nothing-of-this-name"],
        &["cancel", "nothing-of-this-name"],
        &["send", "nothing-of-this-name", "hello"],
        &["events", "nothing-of-this-name"],
    ] {
        let command = world.neuron(args).exits(2);
        assert_eq!(command.stdout, "", "{command:#?}");
        assert!(!command.stderr.is_empty());
        command.says(&[]);
    }
}

#[test]
fn arguments_that_do_not_fit_go_back_to_the_model() {
    let model = FakeModel::start(|request| {
        Reply::ok(match chat::turn(&request.body) {
            1 => {
                let mut answer = chat::calls(&[
                    ("call_1", "bash", json!({"comand": "echo made > made"})),
                    ("call_2", "no_such_tool", json!({})),
                    ("call_3", "bash", Value::Null),
                ]);
                let calls = &mut answer["choices"][0]["message"]["tool_calls"];
                calls[2]["function"]["arguments"] = json!("{\"command\": \"echo made");
                answer
            }
            _ => chat::text("I see."),
        })
    });
    let world = World::new();
    world.write("neuron.toml", &model.agent_file("tools = [\"bash\"]\n"));

    let output = world
        .neuron(&["run", "Go.", "--id", "bad", "--json"])
        .exits(0)
        .json();

    assert_eq!(output["output"], "I see.");
    assert_eq!(world.read("made"), "");
    let results = chat::tool_results(&model.requests()[1].body);
    let ids: Vec<&str> = results.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["call_1", "call_2", "call_3"]);
    for ((_, text), part) in results.iter().zip(["comand", "no_such_tool", "JSON"]) {
        assert!(text.contains(part), "no {part:?} in {text:?}");
    }
    let finished = world.events_of("bad", "tool_finished");
    assert!(
        finished.iter().all(|event| event["is_error"] == true),
        "{finished:?}"
    );
}

#[test]
fn a_missing_home_is_made_with_its_parents_and_is_private() {
    let mut world = World::new();
    let home = world.work().join("a/b/c");
    world.set("NEURON_HOME", home.display().to_string());

    world.does(0, &["run", "list the files here", "--id", "made"]);

    assert!(home.join("neuron.db").is_file());
    let mode = fs::metadata(&home).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
}

#[test]
fn a_home_that_cannot_be_made_is_named() {
    let mut world = World::new();
    world.write("file", "not a directory");
    world.set("NEURON_HOME", world.file("file/home").display().to_string());

    for args in [&["run", "list the files here"][..], &["runs"]] {
        let command = world.neuron(args).exits(2);
        command.says(&["file/home", "NEURON_HOME"]);
    }
}

#[test]
fn a_database_that_cannot_be_opened_is_named() {
    let world = World::new();
    fs::create_dir_all(world.home().join("neuron.db")).unwrap();
    let run = world.neuron(&["run", "list the files here"]).exits(2);
    run.says(&["neuron.db", "NEURON_HOME"]);
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    let world = World::new();
    fs::create_dir_all(world.home()).unwrap();
    let place = world.home().join("neuron.db");
    let text = "These are my notes, and no database.\n".repeat(100);
    fs::write(&place, &text).unwrap();

    let run = world.neuron(&["run", "list the files here"]).exits(2);

    run.says(&["neuron.db"]);
    assert_eq!(fs::read_to_string(&place).unwrap(), text);
}

fn set_version(home: &Path, change: i64) {
    let journal = Connection::open(home.join("neuron.db")).unwrap();
    let version: i64 = journal
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    journal
        .pragma_update(None, "user_version", version + change)
        .unwrap();
}

#[test]
fn a_journal_of_a_newer_version_is_refused_and_left_alone() {
    let model = FakeModel::start(|request| {
        Reply::ok(match chat::turn(&request.body) {
            1 => chat::calls(&[("call_1", "bash", json!({"command": "echo made >> made"}))]),
            _ => chat::text("Done."),
        })
    });
    let world = World::new();
    let keys = "tools = [\"bash\"]\nask = [\"bash\"]\n";
    world.write("neuron.toml", &model.agent_file(keys));
    world.does(3, &["run", "Go.", "--id", "old"]);
    set_version(&world.home(), 1);
    let before = fs::read(world.database()).unwrap();

    for args in [
        &["run", "Go."][..],
        &["resume", "old"],
        &["status", "old"],
        &["approve", "old", "t1-1"],
        &["runs"],
    ] {
        let command = world.neuron(args).exits(2);
        command.says(&["neuron.db", "newer"]);
        assert_eq!(command.stdout, "");
    }

    assert!(
        before == fs::read(world.database()).unwrap(),
        "it was written to"
    );
    // The neuron that wrote the file finds everything as it was.
    set_version(&world.home(), -1);
    world.does(0, &["approve", "old"]);
    world.does(0, &["resume", "old"]);
    assert_eq!(world.read("made"), "made\n");
}

#[test]
fn a_run_that_the_disk_has_no_room_for_stops_with_a_sentence_and_goes_on_when_there_is() {
    const ANSWER: &str = "All five are read.";
    let model = FakeModel::start(|request| {
        Reply::ok(match chat::turn(&request.body) {
            turn @ 1..=5 => {
                let id = format!("call_{turn}");
                chat::calls(&[(&id, "read_file", json!({"path": format!("{turn}.txt")}))])
            }
            _ => chat::text(ANSWER),
        })
    });
    let world = World::new();
    world.write(
        "neuron.toml",
        &model.agent_file("tools = [\"read_file\"]\n"),
    );
    for file in 1..=5 {
        world.write(
            &format!("{file}.txt"),
            &format!("line of {file}\n").repeat(4000),
        );
    }
    // No file of the process may be larger than this: SQLite cannot write, as on a full disk.
    let mut limited = world.plain("bash");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 150; exec \"$@\"", "limited"]);
    let command = world.command(&["run", "Read them.", "--id", "big"]);
    limited.arg(command.get_program()).args(command.get_args());

    let stopped = world.launch(limited).finish().exits(2);

    stopped.says(&["neuron.db", "disk", "neuron resume big"]);
    let asked = model.requests().len();
    assert!(
        (2..=5).contains(&asked),
        "stopped in the middle: {asked} requests"
    );
    assert_eq!(world.status("big")["state"], "interrupted");

    let output = world.neuron(&["resume", "big", "--json"]).exits(0).json();

    assert_eq!(output["output"], ANSWER);
    let bodies = model.bodies();
    // At most the answer that could not be stored was asked for again.
    assert!(bodies.len() <= 7, "{} requests", bodies.len());
    let results = chat::tool_results(bodies.last().unwrap());
    assert_eq!(results.len(), 5);
    for (index, (_, text)) in results.iter().enumerate() {
        assert!(text.starts_with(&format!("line of {}\n", index + 1)));
    }
}

#[test]
fn of_two_executors_of_a_run_one_goes_on_and_the_other_is_told() {
    let gate = Gate::shut();
    let held = gate.clone();
    let model = FakeModel::start(move |request| {
        if request.number > 1 {
            held.pass();
        }
        Reply::ok(match chat::turn(&request.body) {
            1 => chat::calls(&[("call_1", "bash", json!({"command": "echo made >> made"}))]),
            _ => chat::text("Done."),
        })
    });
    let world = World::new();
    let keys = "tools = [\"bash\"]\nask = [\"bash\"]\n";
    world.write("neuron.toml", &model.agent_file(keys));
    world.does(3, &["run", "Go.", "--id", "one"]);
    world.does(0, &["approve", "one"]);

    let mut both = vec![
        world.start(&["resume", "one"]),
        world.start(&["resume", "one"]),
    ];
    gate.reached();
    let late = world.neuron(&["resume", "one"]).exits(2);
    late.says(&["another process", "neuron wait one"]);
    let first_over = neuron_harness::eventually("end of one of two", || {
        both.iter_mut().position(|resume| !resume.is_running())
    });
    let refused = both.remove(first_over).finish().exits(2);
    refused.says(&["another process", "neuron wait one"]);
    gate.open();
    drop(both.remove(0).finish().exits(0));

    assert_eq!(world.read("made"), "made\n");
    assert_eq!(model.requests().len(), 2);
    assert_eq!(world.status("one")["state"], "completed");
}

#[test]
fn resuming_a_run_that_is_over_makes_no_step() {
    let model = FakeModel::start(|_| Reply::ok(chat::text("Done.")));
    let world = World::new();
    world.write("neuron.toml", &model.agent_file("tools = []\n"));
    let first = world
        .neuron(&["run", "Go.", "--id", "over", "--json"])
        .exits(0)
        .json();

    let again = world.neuron(&["resume", "over", "--json"]);

    assert_eq!(model.requests().len(), 1);
    assert_eq!(
        world.neuron(&["wait", "over", "--json"]).exits(0).json(),
        first
    );
    match again.code {
        Some(0) => assert_eq!(again.json(), first),
        _ => again.exits(2).says(&["over"]),
    }
    let twice = world.neuron(&["run", "Go.", "--id", "over"]).exits(2);
    twice.says(&["over", "another id"]);
}
