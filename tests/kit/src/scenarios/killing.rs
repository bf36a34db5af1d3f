//! Kills of the executing side.

use futures::future::join_all;
use neuron_patience::Dice;
use neuron_types::{AgentSpec, Placement, RunEvent, ToolEffects, Verdict, signal};
use serde_json::{Value, json};

use super::held::{Held, killed_in};
use crate::{
    Ending, Host, Moment, Record, Stage, agent, decision, expect,
    stages::{
        record::{expect_text, settled},
        stage::calls_placed,
    },
};

/// Returns turns with calls alone and beside others, of every kind.
fn script() -> Value {
    json!({"turns": [
        {"text": "I look.", "tool_calls": [
            {"name": "look", "input": {"text": "seen"}},
            {"name": "put", "input": {"text": "put"}},
        ]},
        {"tool_calls": [{"name": "write", "input": {"text": "written"}}]},
        {"tool_calls": [
            {"name": "look", "input": {}},
            {"name": "write", "input": {"text": "written too"}},
        ]},
        {"tool_calls": [{"name": "put", "input": {}}]},
        {"text": "All done."},
    ]})
}

/// The steps of the script.
const STEPS: [(u32, u32); 11] = [
    (1, 0),
    (1, 1),
    (1, 2),
    (2, 0),
    (2, 1),
    (3, 0),
    (3, 1),
    (3, 2),
    (4, 0),
    (4, 1),
    (5, 0),
];

/// A run for every step, held in it: all are killed at once, and resumed. Their model calls and calls that are no
/// writes are made again with the same key, their writes are not, and nothing that was done before is.
pub async fn killed_in_every_step<H: Host>(host: &H) {
    let records = killed(host, "killed", agent(), &STEPS).await;
    let in_writes = records.into_iter().zip(STEPS);
    let in_writes = in_writes.filter(|(_, step)| matches!(step, (2, 1) | (3, 2)));
    let text: String = in_writes
        .map(|(record, _)| format!("== {}\n{}", record.name, record.course()))
        .collect();
    expect_text("killed_in_a_write", &text);
}

/// The same as [`killed_in_every_step`], in tools that a door may treat as quick ones.
pub async fn killed_in_quick_tools<H: Host>(host: &H) {
    let agent = AgentSpec {
        tool_settings: calls_placed(Placement::Local),
        ..agent()
    };
    let steps = [(1, 1), (1, 2), (3, 1), (4, 1)];
    killed(host, "killed_quick", agent, &steps).await;
}

/// The same as [`killed_in_every_step`], in model calls that a door may make locally. The local steps of a run since
/// its last report to the engine are done again, so these calls are the first after a report.
pub async fn killed_in_model_calls_beside_the_run<H: Host>(host: &H) {
    let mut agent = agent();
    agent.activity.placement = Some(Placement::Local);
    killed(host, "killed_beside", agent, &[(1, 0), (3, 0)]).await;
}

async fn killed<H: Host>(
    host: &H,
    scenario: &str,
    agent: AgentSpec,
    steps: &[(u32, u32)],
) -> Vec<Record> {
    let stage = Stage::open(host, scenario).await;
    let script = script();
    let undisturbed = stage.submit("undisturbed", &script, agent.clone()).await;
    let undisturbed = undisturbed.ends().await;

    let runs = steps.iter().map(|step| Held::at(*step, agent.clone()));
    let records = killed_in(&stage, &script, runs).await;

    for (record, &(turn, position)) in records.iter().zip(steps) {
        check_attempts(record, turn, position);
        match (turn, position) {
            // Whether the write beside the call was known to be done is a matter of luck.
            (3, 1) => assert_eq!(record.output.output, undisturbed.output.output),
            (2, 1) | (3, 2) => {}
            _ => assert_eq!(record.course(), undisturbed.course(), "{}", record.name),
        }
    }
    records
}

/// Checks how often each step may have been tried in a run that was killed in this one.
fn check_attempts(record: &Record, turn: u32, position: u32) {
    for step in STEPS {
        let attempts = record.attempts_at(step.0, step.1);
        assert!(
            !attempts.is_empty(),
            "killed in {turn}:{position}, step {step:?} was never made: {}",
            record.course()
        );
        let is_write = attempts[0].effects == ToolEffects::Write;
        let in_flight = step == (turn, position);
        let beside = step.0 == turn && step.1 > 0 && position > 0;
        let allowed = match (in_flight, beside) {
            _ if is_write => 1..=1,
            (true, _) => 2..=2,
            // The step's result may not have been journaled.
            (_, true) => 1..=2,
            _ => 1..=1,
        };
        assert!(
            allowed.contains(&attempts.len()),
            "killed in {turn}:{position}: {attempts:#?}"
        );
        if in_flight {
            assert!(attempts[0].was(Ending::Dropped), "{attempts:#?}");
        }
    }
}

/// Decisions that are sent while no process executes the run.
pub async fn killed_while_a_person_thinks<H: Host>(host: &H) {
    let stage = Stage::open(host, "killed_waiting").await;
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "write", "input": {"text": "one"}},
            {"name": "write", "input": {"text": "two"}},
            {"name": "look", "input": {}},
        ]},
        {"text": "Done."},
    ]});
    let mut agent = agent();
    agent.approvals.approve = vec!["write".into()];
    let run = stage.submit("run", &script, agent).await;
    let tickets = run.waits_for(2).await;
    stage.kill().await;
    let approval = decision(&tickets[0], Verdict::Approve);
    run.signal(signal::DECISION, json!(approval)).await;
    stage.execute().await;
    run.waits_for(1).await;
    stage.kill().await;
    stage.execute().await;
    run.waits_for(1).await;
    run.decide(&decision(&tickets[1], Verdict::Deny)).await;
    let record = run.ends().await;
    assert_eq!(record.attempts_at(1, 1).len(), 1);
    assert_eq!(record.attempts_at(1, 2).len(), 0);
    assert_eq!(record.attempts_at(1, 3).len(), 1);
    expect("killed_waiting", &[record]);
}

/// A decision right after a kill, while another process resumes the run: one decision is enough.
pub async fn decided_right_after_a_kill<H: Host>(host: &H) {
    let stage = Stage::open(host, "decided_after_a_kill").await;
    let script = json!({"turns": [
        {"tool_calls": [{"name": "write", "input": {"text": "written"}}]},
        {"text": "Done."},
    ]});
    let mut agent = agent();
    agent.approvals.approve = vec!["write".into()];
    let run = stage.submit("run", &script, agent).await;
    let ticket = run.waits_for(1).await.remove(0);
    stage.kill().await;
    let approval = decision(&ticket, Verdict::Approve);
    tokio::join!(run.decide(&approval), stage.execute());
    let record = run.ends().await;
    assert_eq!(record.attempts_at(1, 1).len(), 1);
    expect("decided_after_a_kill", &[record]);
}

/// Runs that are killed at any moment, several times.
pub async fn killed_again_and_again<H: Host>(host: &H) {
    const RUNS: usize = 6;
    const KILLS: usize = 3;
    /// The number of calls between two kills. All runs together have enough calls for all kills.
    const MOST_CALLS: usize = 40;
    let stage = Stage::open(host, "killed_often").await;
    let turn = |number: usize| {
        json!({"tool_calls": [
            {"name": "look", "input": {"text": format!("look {number}")}},
            {"name": "put", "input": {}},
            {"name": "write", "input": {}},
        ]})
    };
    let mut turns: Vec<Value> = (1..=6).map(turn).collect();
    turns.push(json!({"text": "All done."}));
    let script = json!({"turns": turns});
    let undisturbed = stage.submit("undisturbed", &script, agent()).await;
    let undisturbed = undisturbed.ends().await;

    let mut dice = Dice::of_test("killed_again_and_again");
    let turnstile = stage.world.turnstile();
    let mut moment = Moment::drawn(&mut dice, MOST_CALLS);
    turnstile.close_for(moment);
    let names: Vec<_> = (1..=RUNS).map(|number| format!("run-{number}")).collect();
    let submitted = names
        .iter()
        .map(|name| stage.submit(name, &script, agent()));
    let runs = join_all(submitted).await;
    for _ in 0..KILLS {
        turnstile.reached(moment).await;
        stage.kill().await;
        turnstile.emptied().await;
        moment = Moment::drawn(&mut dice, MOST_CALLS);
        turnstile.close_for(moment);
        stage.execute().await;
    }
    turnstile.open();
    // Every record is checked for steps that were made twice.
    let records = join_all(runs.iter().map(|run| run.ends())).await;
    let steps = |record: &Record| -> Vec<RunEvent> {
        let mut events: Vec<RunEvent> = settled(&record.events).cloned().collect();
        for event in &mut events {
            if let RunEvent::ToolFinished {
                is_error, failure, ..
            } = event
                && failure.is_some()
            {
                // The write was in flight.
                *is_error = false;
                *failure = None;
            }
        }
        // The start names the model, and so the run.
        events.split_off(1)
    };
    for record in &records {
        assert_eq!(record.output.output.as_deref(), Some("All done."));
        assert_eq!(steps(record), steps(&undisturbed), "{}", record.name);
    }
}
