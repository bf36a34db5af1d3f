//! The current definition of an agent, for a run that adopts it.

use neuron_types::{CurrentDefinition, DefinitionRequest, ToolCall, ToolOutput};

use super::Executor;
use crate::Agents;

impl Executor {
    /// Says to this executor, and to its clones from now on, which definitions its worker has now: a run that is to adopt
    /// the current one is given it from these. Default is the definition of the agent that it is [granting](Self::granting).
    ///
    /// The doors of local runs do this with their agents.
    #[must_use]
    pub fn with_agents(mut self, agents: Agents) -> Self {
        self.agents = Some(agents);
        self
    }

    /// Answers a [`DEFINITION_CALL`](neuron_types::DEFINITION_CALL) with a [`CurrentDefinition`] as JSON. No hook sees it: it
    /// is no call of a tool.
    pub(super) fn definition_output(&self, call: &ToolCall) -> ToolOutput {
        let found = match serde_json::from_value::<DefinitionRequest>(call.input.clone()) {
            Ok(request) => self.current_definition(&request.agent),
            Err(error) => {
                CurrentDefinition::Missing(format!("it cannot be read which is wanted: {error}"))
            }
        };
        // Without a text there is no definition.
        ToolOutput::text(serde_json::to_string(&found).unwrap_or_default())
    }

    fn current_definition(&self, name: &str) -> CurrentDefinition {
        let granted = self.grants.as_ref().map(|grants| grants.definition());
        let granted = granted.filter(|agent| agent.name == name);
        let known = self.agents.as_ref().map(|agents| agents.get(name));
        match (known, granted) {
            (Some(Ok(agent)), _) | (_, Some(agent)) => {
                CurrentDefinition::Here(Box::new(agent.clone()))
            }
            (Some(Err(unknown)), None) => CurrentDefinition::Missing(unknown.to_string()),
            (None, None) => {
                CurrentDefinition::Missing(format!("there is no agent named {name:?} here"))
            }
        }
    }
}
