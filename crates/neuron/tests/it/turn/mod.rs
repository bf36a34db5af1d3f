//! Turns of agents on the local door.

mod effects;
mod ends;
mod input;
mod workflow;

use std::sync::{Arc, Mutex};

use neuron::{
    Agent, AgentBuilder, Model,
    turn::{AgentTurn, Turn, TurnError, TurnInput, TurnOutput},
    types::{CompletionRequest, CompletionResponse, Provider, ProviderError},
};
use neuron_config::ScriptModel;

/// A script whose requests are recorded.
#[derive(Clone)]
struct Seen {
    script: Arc<ScriptModel>,
    requests: Arc<Mutex<Vec<CompletionRequest>>>,
}

impl Seen {
    fn new(script: &str) -> Self {
        Self {
            script: Arc::new(ScriptModel::parse(script).unwrap()),
            requests: Arc::default(),
        }
    }

    fn requests(&self) -> Vec<CompletionRequest> {
        self.requests.lock().unwrap().clone()
    }
}

impl Provider for Seen {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        self.requests.lock().unwrap().push(request.clone());
        self.script.complete(request).await
    }
}

/// Returns an agent of this model.
fn clerk(model: &Seen) -> AgentBuilder {
    Agent::builder("clerk").model(Model::of(model.clone(), "small"))
}

/// Runs a turn of this agent.
async fn turn(agent: AgentBuilder, input: TurnInput) -> Result<TurnOutput, TurnError> {
    let agent: Agent = agent.build().unwrap();
    AgentTurn::new(&agent).execute(input).await
}
