//! A world that is reached from another process.

use neuron_config::script;
use neuron_harness::Process;
use neuron_local::LocalDurableContext;
use neuron_testing::{Ending, World, agent, executor_at};
use neuron_types::{Message, RunInput, RunOutput, RunRequest};
use serde_json::{Value, json};

fn input(world: &World, name: &str, turns: &Value) -> RunInput {
    world.script(name, &json!({"turns": turns}));
    let mut agent = agent();
    agent.head_mut().model = name.to_owned();
    RunInput::new(agent, Message::user("Go."))
}

async fn run(world: &World, name: &str, turns: &Value) -> RunOutput {
    let executor = executor_at(world.address().await);
    let door = LocalDurableContext::new(executor, world.run_id(name));
    let input = input(world, name, turns);
    neuron_workflows::agent(&door, input).await.unwrap()
}

#[tokio::test]
async fn answers_failures_and_keys_pass_as_they_are() {
    let world = World::new("remote");
    let turns = json!([
        {
            "tool_calls": [
                {"name": "put", "input": {"fail": [{"with": "unavailable", "retry_after_ms": 30}]}}, // Only so that it does not take long.
                {"name": "look", "input": {"error": "not now"}},
            ],
            "fail": [{"kind": "overloaded", "status": 529, "retry_after_ms": 20}], // Only so that it does not take long.
        },
        {"text": "Never said.", "fail": [{"kind": "quota", "status": 429, "message": "no money"}]},
    ]);
    let output = run(&world, "run", &turns).await;
    assert_eq!(output.error.unwrap().message, "no money (HTTP 429)");
    let put = world.attempts_at("run", 1, 1);
    assert_eq!(put.len(), 2);
    assert!(put[0].was(Ending::Failed) && put[1].was(Ending::Answered));
    let key = put[0].key.as_ref().unwrap();
    assert_eq!(put[1].key.as_ref(), Some(key));
    assert!(!key.contains(world.run_id("run").as_str()), "{key}");
    let told = json!(world.conversation("run")).to_string();
    assert!(told.contains("not now"), "{told}");
}

#[tokio::test]
async fn a_dropped_call_is_noticed() {
    let world = World::new("dropped");
    let mut gate = world.hold("run", 1, 0);
    let turns = json!([{"text": "Never said."}]);
    let running = run(&world, "run", &turns);
    tokio::select! {
        _ = running => panic!("it is held"),
        () = gate.reached() => {}
    }
    let dropped =
        |attempts: &[neuron_testing::Attempt]| attempts[0].was(Ending::Dropped).then_some(());
    world.until("end of the call", dropped).await;
}

#[tokio::test]
async fn a_killed_process_drops_its_calls() {
    let world = World::new("killed");
    let mut gate = world.hold("run", 1, 1);
    let turns = json!([{"tool_calls": [{"name": "write", "input": {}}]}, {"text": "Done."}]);
    let input = serde_json::to_string(&RunRequest::from(input(&world, "run", &turns))).unwrap();
    let variables = [
        ("NEURON_TESTING_WORLD", world.address().await.to_string()),
        ("NEURON_TESTING_INPUT", input),
        ("NEURON_TESTING_RUN", world.run_id("run").to_string()),
    ];
    let mut worker = Process::start_example("plain_worker", &variables).unwrap();
    gate.reached().await;
    worker.kill().unwrap();
    let dropped =
        |attempts: &[neuron_testing::Attempt]| attempts[1].was(Ending::Dropped).then_some(());
    world.until("end of the call", dropped).await;
    assert_eq!(world.attempts().len(), 2);
}

#[test]
fn a_script_counts_its_turns_from_one() {
    assert_eq!(script::next_turn(&[Message::user("Go.")]), 1);
}
