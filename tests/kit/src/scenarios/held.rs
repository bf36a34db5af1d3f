//! Runs that are held in a step, killed there, and resumed.

use futures::future::join_all;
use neuron_types::AgentSpec;
use serde_json::Value;

use crate::{Attempt, Record, Session, Stage};

/// A run, and where it is held.
pub(super) struct Held {
    pub(super) name: String,
    pub(super) agent: AgentSpec,
    /// The name of the run whose step it is, or of the model that summarises for it.
    pub(super) of: String,
    pub(super) step: (u32, u32),
}

impl Held {
    /// Returns a run that is held in a step of its own.
    pub(super) fn at(step: (u32, u32), agent: AgentSpec) -> Self {
        let name = format!("in-{}-{}", step.0, step.1);
        Self {
            of: name.clone(),
            name,
            agent,
            step,
        }
    }
}

/// Waits until each run is in its step, kills all at once, and resumes them to their end.
pub(super) async fn killed_in<S: Session>(
    stage: &Stage<S>,
    script: &Value,
    runs: impl IntoIterator<Item = Held>,
) -> Vec<Record> {
    let runs = runs.into_iter().map(|held| (held, script.clone()));
    killed_with_scripts(stage, runs).await
}

/// As [`killed_in`], with a script of each run's own.
pub(super) async fn killed_with_scripts<S: Session>(
    stage: &Stage<S>,
    runs: impl IntoIterator<Item = (Held, Value)>,
) -> Vec<Record> {
    let held = runs.into_iter().map(async |(held, script): (Held, Value)| {
        let Held {
            name,
            agent,
            of,
            step: (turn, position),
        } = held;
        let mut gate = stage.world.hold(&of, turn, position);
        let run = stage.submit(&name, &script, agent).await;
        gate.reached().await;
        let beside = |attempts: &[Attempt]| {
            let own = attempts.iter().filter(|attempt| attempt.run == of);
            let open = own.clone().filter(|attempt| attempt.ended.is_none());
            let made = own.clone().filter(|attempt| attempt.step.turn == turn);
            let all = if position == 0 {
                1
            } else {
                1 + calls_of(&script, turn)
            };
            (open.count() == 1 && made.count() == all).then_some(())
        };
        stage.world.until("end of the calls beside", beside).await;
        (gate, run)
    });
    let held = join_all(held).await;
    stage.kill().await;
    let over = |attempts: &[Attempt]| {
        let all = attempts.iter().all(|attempt| attempt.ended.is_some());
        all.then_some(())
    };
    stage.world.until("end of every attempt", over).await;
    stage.execute().await;
    join_all(held.iter().map(|(_, run)| run.ends())).await
}

fn calls_of(script: &Value, turn: u32) -> usize {
    let turn = &script["turns"][turn as usize - 1];
    turn["tool_calls"].as_array().map_or(0, Vec::len)
}
