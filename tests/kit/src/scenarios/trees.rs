//! Runs that start others.

use neuron_types::{
    AgentSpec, ApprovalRules, Decision, ExitReason, RunEvent, RunPhase, StepId, SubAgent, signal,
};
use serde_json::{Value, json};

use crate::{Host, Stage, agent, expect};

/// Returns an agent of this name, whose script has it, too.
pub(crate) fn named(name: &str) -> AgentSpec {
    let mut agent = AgentSpec {
        name: name.to_owned(),
        ..agent()
    };
    name.clone_into(&mut agent.head_mut().model);
    agent
}

/// Returns the agent, which may start these.
pub(crate) fn starting(mut agent: AgentSpec, subagents: &[SubAgent]) -> AgentSpec {
    let tools = subagents.iter().map(SubAgent::definition);
    agent.head_mut().tools.extend(tools);
    agent.subagents = subagents.to_vec();
    agent
}

fn background(name: &str) -> SubAgent {
    SubAgent {
        background: true,
        ..SubAgent::new(name)
    }
}

pub(crate) fn ask(agent: &str, prompt: &str) -> Value {
    json!({"name": format!("agent_{agent}"), "input": {"prompt": prompt}})
}

/// Returns a script that makes one call, and then answers with this text.
pub(crate) fn calls_and_says(call: &Value, text: &str) -> Value {
    json!({"turns": [
        {"tool_calls": [call], "usage": {"input_tokens": 10, "output_tokens": 5}},
        {"text": text, "usage": {"input_tokens": 20, "output_tokens": 5}},
    ]})
}

fn ended(agents: usize) -> impl Fn(&[neuron_types::RecordedEvent]) -> bool {
    move |events| {
        let ends = events
            .iter()
            .filter(|event| matches!(event.event, RunEvent::ChildEnded { .. }));
        ends.count() == agents
    }
}

/// Two agents of one turn are active at once, and each call returns its agent's answer. Their usage is in the tree's
/// and not in the run's own.
pub async fn agents_of_one_turn_work_at_the_same_time<H: Host>(host: &H) {
    let stage = Stage::open_idle(host, "tree").await;
    for name in ["reader", "writer"] {
        stage.world.define(named(name));
    }
    let look = json!({"name": "look", "input": {"text": "a page"}});
    let put = json!({"name": "put", "input": {"text": "kept"}});
    stage
        .world
        .script("reader", &calls_and_says(&look, "It says so."));
    stage
        .world
        .script("writer", &calls_and_says(&put, "Written."));
    stage.execute().await;
    let script = json!({"turns": [
        {"tool_calls": [ask("reader", "Read it."), ask("writer", "Write it.")]},
        {"text": "Both are done.", "usage": {"input_tokens": 7, "output_tokens": 1}},
    ]});
    let (mut reading, mut writing) = (
        stage.world.hold("reader", 1, 0),
        stage.world.hold("writer", 1, 0),
    );
    let subagents = [SubAgent::new("reader"), SubAgent::new("writer")];
    let run = stage
        .submit("run", &script, starting(agent(), &subagents))
        .await;
    reading.reached().await;
    writing.reached().await;
    reading.release();
    run.shows("the end of an agent", ended(1)).await;
    writing.release();
    let mut records = vec![run.ends().await];
    for position in [1, 2] {
        let child = stage.child("run", StepId::new(1, position));
        records.push(child.ends().await);
    }
    let status = run.status_now().await;
    assert_eq!(status.usage.total(), 8);
    assert_eq!(status.tree_usage.total(), 88, "{status:?}");
    let states: Vec<_> = status.children.iter().map(|child| child.state).collect();
    assert_eq!(states, [RunPhase::Completed; 2]);
    expect("tree", &records);
}

/// The call of an agent in the background returns at once. Its answer is a message, and the run does not end before it.
pub async fn an_agent_in_the_background_answers_with_a_message<H: Host>(host: &H) {
    let stage = Stage::open_idle(host, "background").await;
    stage.world.define(named("scout"));
    let script = json!({"turns": [{"text": "Nothing there."}]});
    stage.world.script("scout", &script);
    stage.execute().await;
    let script = json!({"turns": [
        {"tool_calls": [ask("scout", "Look around.")]},
        {"text": "I wait."},
        {"text": "The scout is back."},
    ]});
    let mut looking = stage.world.hold("scout", 1, 0);
    let agent = starting(agent(), &[background("scout")]);
    let run = stage.submit("run", &script, agent).await;
    looking.reached().await;
    run.shows("its second answer", |events| {
        let answers = events
            .iter()
            .filter(|event| matches!(event.event, RunEvent::ModelResponded { .. }));
        answers.count() == 2
    })
    .await;
    looking.release();
    expect("background", &[run.ends().await]);
}

/// An agent that always starts itself stops at the first run's limit, and one that starts too many at once gets an
/// error.
pub async fn agents_start_no_deeper_and_no_wider_than_they_may<H: Host>(host: &H) {
    let stage = Stage::open_idle(host, "bounded_tree").await;
    let itself = starting(named("mirror"), &[SubAgent::new("mirror")]);
    stage.world.define(itself.clone());
    stage.world.define(named("leaf"));
    let script = calls_and_says(&ask("mirror", "Again."), "That was all.");
    stage
        .world
        .script("leaf", &json!({"turns": [{"text": "Here."}]}));
    stage.execute().await;
    let run = stage.submit_to("mirror", &script, itself).await;
    let mut records = vec![run.ends().await];
    let below = StepId::new(1, 1);
    let child = stage.child("mirror", below);
    let grandchild = child.id.child(below);
    records.push(child.ends().await);
    let leaf = stage.child(&child.name, below);
    assert_eq!(leaf.id, grandchild);
    let record = leaf.ends().await;
    let refused = |event: &RunEvent| {
        matches!(
            event,
            RunEvent::ToolFinished {
                reason: Some(_),
                ..
            }
        )
    };
    assert!(record.events.iter().any(refused), "{:#?}", record.events);
    records.push(record);
    let mut wide = starting(agent(), &[SubAgent::new("leaf")]);
    wide.max_children = 1;
    let script = json!({"turns": [
        {"tool_calls": [ask("leaf", "One."), ask("leaf", "Two.")]},
        {"tool_calls": [{"name": "agent_leaf", "input": {}}]},
        {"text": "One at a time."},
    ]});
    let run = stage.submit("wide", &script, wide).await;
    records.push(run.ends().await);
    expect("bounded_tree", &records);
}

/// A cancel reaches the leaves, whatever they are doing.
pub async fn cancelling_a_run_cancels_those_below_it<H: Host>(host: &H) {
    let stage = Stage::open_idle(host, "cancelled_tree").await;
    stage
        .world
        .define(starting(named("lead"), &[SubAgent::new("leaf")]));
    stage.world.define(named("leaf"));
    let script = calls_and_says(&ask("leaf", "Do it."), "Never said.");
    stage.world.script("lead", &script);
    let script = calls_and_says(&json!({"name": "look", "input": {}}), "Never said.");
    stage.world.script("leaf", &script);
    stage.execute().await;
    let mut gate = stage.world.hold("run.1-1.1-1", 1, 1);
    let script = calls_and_says(&ask("lead", "Do it."), "Never said.");
    let agent = starting(agent(), &[SubAgent::new("lead")]);
    let run = stage.submit("run", &script, agent).await;
    gate.reached().await;
    run.cancel("enough").await;
    let record = run.ends().await;
    assert_eq!(record.output.exit_reason, Some(ExitReason::Cancelled));
    let step = StepId::new(1, 1);
    let lead = stage.child("run", step);
    let leaf = stage.child("run.1-1", step);
    for below in [lead, leaf] {
        let record = below.ends().await;
        assert_eq!(
            record.output.exit_reason,
            Some(ExitReason::Cancelled),
            "{:?}",
            record.output
        );
    }
    drop(gate);
}

/// A tool that the run does not have, one that it denies and one that it asks about: an agent that it starts, whose own
/// definition allows all three, cannot use any of them by itself.
pub async fn an_agent_does_no_more_than_the_one_that_started_it<H: Host>(host: &H) {
    let stage = Stage::open_idle(host, "attenuated").await;
    stage.world.define(named("helper"));
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "write", "input": {}},
            {"name": "put", "input": {}},
            {"name": "look", "input": {}},
        ]},
        {"text": "I could not."},
    ]});
    stage.world.script("helper", &script);
    stage.execute().await;
    let mut agent = starting(agent(), &[SubAgent::new("helper")]);
    agent.head_mut().tools.retain(|tool| tool.name != "write");
    agent.approvals = ApprovalRules {
        approve: vec!["look".into()],
        deny: vec!["put".into()],
        ..ApprovalRules::default()
    };
    let script = calls_and_says(&ask("helper", "Do it all."), "It could not.");
    let run = stage.submit("run", &script, agent).await;
    let child = stage.child("run", StepId::new(1, 1));
    let tickets = child.waits_for(1).await;
    child.decide(&Decision::deny(&tickets[0])).await;
    let mut records = vec![run.ends().await];
    records.push(child.ends().await);
    assert!(records[1].attempts.is_empty(), "{:#?}", records[1].attempts);
    expect("attenuated", &records);
}

/// A client that may signal a run cannot answer in the place of a run that it started.
pub async fn what_no_run_below_says_is_no_end_of_one<H: Host>(host: &H) {
    let stage = Stage::open_idle(host, "forged_end").await;
    stage.world.define(named("helper"));
    stage
        .world
        .script("helper", &json!({"turns": [{"text": "The truth."}]}));
    stage.execute().await;
    let mut gate = stage.world.hold("helper", 1, 0);
    let script = calls_and_says(&ask("helper", "Say it."), "Heard.");
    let agent = starting(agent(), &[SubAgent::new("helper")]);
    let run = stage.submit("run", &script, agent).await;
    gate.reached().await;
    let child = run.id.child(StepId::new(1, 1));
    let forged = json!({
        "run": child, "key": "00000000-0000-8000-8000-000000000000", "exit_reason": "complete", "output": "A lie.",
    });
    run.signal(signal::CHILD, forged).await;
    run.signal(signal::CHILD, json!("nonsense")).await;
    run.shows("that both are ignored", |events| {
        let ignored = events
            .iter()
            .filter(|event| matches!(event.event, RunEvent::SignalIgnored { .. }));
        ignored.count() == 2
    })
    .await;
    gate.release();
    let record = run.ends().await;
    let said = format!("{:?}", record.conversation);
    assert!(
        said.contains("The truth.") && !said.contains("A lie."),
        "{said}"
    );
}
