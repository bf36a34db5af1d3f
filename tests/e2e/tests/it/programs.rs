//! Runs of a program on an engine, read with a command that cannot continue them.

use neuron_harness::{Engine, EngineServer, World, eventually, free_address};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::workers::{serves, worker};

const QUEUE: &str = "drafts";
const PROGRAM: &str = "start the program that serves its agent \"draft\"";

/// The program's own agent file, which the command does not have.
const DRAFTS: &str = "[agents.draft]\nmodel = \"demo/demo\"\n";

/// Returns what holds the run up, once the status names it.
fn blocked(world: &World) -> Value {
    eventually("a run that is held up for want of its program", || {
        let status = world.neuron(&["status", "d1", "--json"]).exits(0).json();
        let detail = status["blocked"]["detail"].as_str().unwrap_or_default();
        detail.contains(PROGRAM).then(|| status["blocked"].clone())
    })
}

/// Starts a run of the program's agent when no process of the program runs any more, and reads it.
fn a_run_is_left_to_its_program(engine: Engine, kinds: &[&str]) {
    let server = Runtime::new().unwrap().block_on(EngineServer::find(engine));
    let server = server.unwrap_or_else(|error| panic!("there is no server: {error}"));
    let addresses = server.addresses();
    let mut world = World::new();
    world.set("NEURON_TASK_QUEUE", QUEUE);
    let (name, ready) = match engine {
        Engine::Temporal => {
            world.set("NEURON_ENGINE", "temporal");
            world.set("TEMPORAL_ADDRESS", &addresses.main);
            ("neuron-temporal-worker", "serving ")
        }
        Engine::Restate => {
            world.set("NEURON_ENGINE", "restate");
            world.set("RESTATE_INGRESS_URL", &addresses.main);
            world.set("RESTATE_ADMIN_URL", &addresses.http);
            ("neuron-restate-worker", "registered")
        }
    };
    world.write("drafts.toml", DRAFTS);
    // The engine knows the program, which ends before the run begins.
    let mut program = world.plain(worker(name, &world));
    program.env("NEURON_CONFIG", "drafts.toml");
    if engine == Engine::Restate {
        program.args(["--register-force", "--listen", &free_address()]);
    }
    let mut program = world.launch(program);
    serves(&mut program, ready);
    drop(program.kill());
    world.does(
        0,
        &[
            "submit",
            "Go.",
            "--agent",
            "draft",
            "--id",
            "d1",
            "--config",
            "drafts.toml",
        ],
    );

    let kind = blocked(&world)["kind"].clone();
    assert!(kinds.iter().any(|wanted| kind == *wanted), "{kind}");
    let status = world.neuron(&["status", "d1"]).exits(0);
    assert!(status.stdout.contains(PROGRAM), "{status:#?}");
    // A line of the list has no room for the whole text.
    for shown in [status, world.neuron(&["runs"]).exits(0)] {
        for other in ["neuron resume", "neuron worker"] {
            assert!(!shown.stdout.contains(other), "{shown:#?}");
        }
    }
}

#[test]
fn a_run_on_temporal_is_left_to_its_program() {
    a_run_is_left_to_its_program(Engine::Temporal, &["no_worker"]);
}

#[test]
fn a_run_on_restate_is_left_to_its_program() {
    a_run_is_left_to_its_program(Engine::Restate, &["worker_unreachable", "no_worker"]);
}

/// Serves the agents of an agent file with the command, and has a run executed there.
fn the_command_serves_the_engine(engine: Engine, ready: &str, more: &[&str]) {
    let server = Runtime::new().unwrap().block_on(EngineServer::find(engine));
    let server = server.unwrap_or_else(|error| panic!("there is no server: {error}"));
    let addresses = server.addresses();
    let mut world = World::new();
    world.set("NEURON_TASK_QUEUE", "commands");
    let name = match engine {
        Engine::Temporal => {
            world.set("TEMPORAL_ADDRESS", &addresses.main);
            "temporal"
        }
        Engine::Restate => {
            world.set("RESTATE_INGRESS_URL", &addresses.main);
            world.set("RESTATE_ADMIN_URL", &addresses.http);
            "restate"
        }
    };
    world.write("drafts.toml", DRAFTS);
    let mut arguments = vec!["worker", "--engine", name, "--config", "drafts.toml"];
    arguments.extend(more);
    let mut worker = world.start(&arguments);
    serves(&mut worker, ready);
    let submit = [
        "submit", "Go.", "--agent", "draft", "--id", "c1", "--engine", name,
    ];
    world.does(
        0,
        &[submit.as_slice(), &["--wait", "--config", "drafts.toml"]].concat(),
    );
    let status = world.neuron(&["status", "c1", "--engine", name, "--json"]);
    assert_eq!(status.exits(0).json()["state"], "completed");
    drop(worker.kill());
    // The options are those of the engine's worker.
    let help = world
        .neuron(&["worker", "--engine", name, "--help"])
        .exits(0);
    assert!(
        help.stdout.contains(more.first().unwrap_or(&"--build-id")),
        "{help:#?}"
    );
}

#[test]
fn the_command_serves_temporal() {
    the_command_serves_the_engine(Engine::Temporal, "serving ", &[]);
}

#[test]
fn the_command_serves_restate() {
    let address = free_address();
    let more = ["--register-force", "--listen", &address];
    the_command_serves_the_engine(Engine::Restate, "registered", &more);
}
