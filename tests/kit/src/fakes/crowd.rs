//! Many runs at once, for any worker.

use std::time::Instant;

use futures::future::join_all;
use neuron_executor::Executor;
use neuron_patience::long_patience;
use neuron_types::{AgentSpec, RunOutput, RunPhase, ToolEffects};
use serde_json::{Value, json};

use crate::{NotedModel, NotedTool, noted_agent};

const TURNS: usize = 10;

/// Runs of an agent of ten turns. Each turn except the last has a write.
#[derive(Debug)]
pub struct Crowd {
    /// The agent.
    pub spec: AgentSpec,
    /// The executor of the model and tool calls of all runs.
    pub executor: Executor,
    model: NotedModel,
    write: NotedTool,
}

impl Default for Crowd {
    fn default() -> Self {
        let mut turns: Vec<Value> = (1..TURNS)
            .map(|n| json!({"tool_calls": [{"name": "echo", "input": {"text": n.to_string()}}]}))
            .collect();
        turns.push(json!({"text": "Done."}));
        let model = NotedModel::new(&json!({ "turns": turns }));
        let write = NotedTool::echo(ToolEffects::Write);
        let (spec, executor) = noted_agent(&model, std::slice::from_ref(&write));
        Self {
            spec,
            executor,
            model,
            write,
        }
    }
}

impl Crowd {
    /// How many runs there are.
    pub const RUNS: usize = 200;

    /// Lets `one` start all runs, each with a number, and wait for their ends. Checks that they complete and that no
    /// step is made twice.
    ///
    /// # Panics
    ///
    /// If a run does not complete within [`long_patience`], or a step was made twice.
    pub async fn complete(&self, one: impl AsyncFn(usize) -> RunOutput) {
        let start = Instant::now();
        let runs = join_all((0..Self::RUNS).map(|n| one(n)));
        let outputs = tokio::time::timeout(long_patience(), runs).await;
        let calls = self.model.count();
        let outputs = outputs.unwrap_or_else(|_| panic!("{calls} model calls in time"));
        let took = start.elapsed();
        println!("{} runs of {TURNS} turns: {took:?}", Self::RUNS);
        for output in outputs {
            assert_eq!(output.state, RunPhase::Completed, "{output:?}");
            assert_eq!(output.turns as usize, TURNS);
        }
        assert_eq!(self.model.count(), Self::RUNS * TURNS);
        assert_eq!(self.write.keys().len(), Self::RUNS * (TURNS - 1));
        self.write.assert_no_call_again();
    }
}
