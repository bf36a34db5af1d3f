//! Workflows that make turns and carry out what these ask for.

use neuron_turn::{Effect, EffectTool};
use neuron_types::{AgentSpec, ExitReason, ToolDyn as _};
use neuron_workflows::{Workflow as _, child_agent, from_text};
use serde_json::{Value, json};

use super::{
    held::{Held, killed_with_scripts},
    trees::named,
};
use crate::{Came, Desk, Ending, Host, Record, Session, Stage, expect};

/// The name of the model of an agent of this run, and of no other run.
fn model(agent: &str, run: &str) -> String {
    match agent {
        "lead" => run.to_owned(),
        _ => format!("{agent}-of-{run}"),
    }
}

/// What `lead` asks for in this run.
fn script<S: Session>(stage: &Stage<S>, run: &str) -> Value {
    let target = stage.world.run_id(run);
    json!({"turns": [
        {"tool_calls": [
            {"name": "look", "input": {"text": "seen"}},
            {"name": "delegate", "input": {"agent": model("scout", run), "input": "Look around."}},
            {"name": "delegate", "input": {"agent": "nobody", "input": "Hide."}},
            {"name": "write_memory", "input": {"scope": "desk", "key": "seen", "value": true}},
            {"name": "signal", "input": {"target": target, "payload": {"n": 1}}},
        ]},
        {"text": "It is under way."},
    ]})
}

/// The definition of a desk of this run. From now on the world has the scripts of its agents but `lead`, and knows the agent
/// that it delegates to.
fn desk<S: Session>(stage: &Stage<S>, run: &str) -> AgentSpec {
    let scout = json!({"turns": [
        {"tool_calls": [{"name": "put", "input": {"text": "noted"}}]},
        {"text": "All is quiet."},
    ]});
    let closer = json!({"turns": [{"text": "It is over."}]});
    stage.world.script(&model("scout", run), &scout);
    stage.world.script(&model("closer", run), &closer);
    let mut lead = named("lead");
    run.clone_into(&mut lead.head_mut().model);
    let effects = EffectTool::ALL.map(|tool| tool.definition());
    lead.head_mut().tools.extend(effects);
    let scout = named(&model("scout", run));
    let mut closer = named("closer");
    closer.head_mut().model = model("closer", run);
    stage.world.define(AgentSpec {
        name: child_agent(Desk::NAME, &scout.name),
        ..scout.clone()
    });
    AgentSpec {
        name: Desk::NAME.to_owned(),
        team: Some(vec![lead, scout, closer]),
        ..AgentSpec::default()
    }
}

fn check(record: &Record) {
    assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
    let output = record.output.output.as_deref().expect("an output");
    let came: Came = from_text(output).expect("what came of it");
    let expected = Came {
        said: "It is under way.".to_owned(),
        answers: vec!["All is quiet.".to_owned()],
        left: vec![
            Effect::Delegate {
                agent: "nobody".to_owned(),
                input: json!("Hide."),
            },
            Effect::WriteMemory {
                scope: "desk".to_owned(),
                key: "seen".to_owned(),
                value: json!(true),
            },
        ],
        signalled: Some(json!({"n": 1})),
        closed: "It is over.".to_owned(),
        again: None,
    };
    assert_eq!(came, expected, "{}", record.name);
}

/// A turn asks for effects. Its workflow sends the signal, has the delegation done, is left the rest, and makes another
/// turn of what was answered.
pub async fn a_workflow_carries_out_what_a_turn_asks_for<H: Host>(host: &H) {
    let stage = Stage::open_idle(host, "desk").await;
    let (script, desk) = (script(&stage, "run"), desk(&stage, "run"));
    stage.execute().await;
    let record = stage.submit_to("run", &script, desk).await.ends().await;
    check(&record);
    let said = |agent: &str| {
        let read = stage.world.conversation(&model(agent, "run"));
        read.iter().map(neuron_types::Message::text).collect()
    };
    let (asked, closed): (Vec<String>, Vec<String>) = (said("lead"), said("closer"));
    assert_eq!(
        asked[..2],
        ["Hi.", "Go."],
        "what was said before comes first"
    );
    assert_eq!(closed, ["All is quiet."]);
    expect("desk", &[record]);
}

/// Runs of a workflow are killed in the model calls of its turns and of the run that it delegates to. Each ends as one that
/// is not killed, and only what was in flight is done again: no run is started twice, and no signal is sent twice.
pub async fn killed_while_a_turn_is_made_and_carried_out<H: Host>(host: &H) {
    let stage = Stage::open_idle(host, "killed_desk").await;
    let places = [
        ("lead", 1),
        ("lead", 2),
        ("scout", 1),
        ("scout", 2),
        ("closer", 1),
    ];
    let own = |run: &str| (script(&stage, run), desk(&stage, run));
    let runs = places.map(|(agent, turn)| {
        let name = format!("in-{agent}-{turn}");
        let (script, desk) = own(&name);
        let held = Held {
            of: model(agent, &name),
            name,
            agent: desk,
            step: (turn, 0),
        };
        (held, script)
    });
    let (its_script, its_desk) = own("undisturbed");
    stage.execute().await;
    let undisturbed = stage.submit_to("undisturbed", &its_script, its_desk).await;
    let undisturbed = undisturbed.ends().await;
    check(&undisturbed);

    let records = killed_with_scripts(&stage, runs).await;
    for (record, (agent, turn)) in records.iter().zip(places) {
        check(record);
        let name = record.name.as_str();
        let course = |record: &Record| record.course().replace(&record.name, "NAME");
        assert_eq!(course(record), course(&undisturbed), "{name}");
        for (of, step) in places {
            let attempts = stage.world.attempts_at(&model(of, name), step, 0);
            let ended = attempts.iter().filter_map(|attempt| attempt.ended);
            let ended: Vec<_> = ended.map(|(_, how)| how).collect();
            let expected: &[Ending] = match (of, step) == (agent, turn) {
                true => &[Ending::Dropped, Ending::Answered],
                false => &[Ending::Answered],
            };
            assert_eq!(ended, expected, "{of} {step} in {name}");
        }
        let of_run = |attempt: &&crate::Attempt| attempt.run.starts_with(name);
        let attempts = stage.world.attempts();
        let calls = attempts.iter().filter(of_run);
        let calls = calls.filter(|attempt| attempt.key.is_some());
        assert_eq!(calls.count(), 2, "{name}: {attempts:#?}");
    }
}
