//! The errors of building an agent.

use std::error::Error;

use neuron_types::ToolError;

use crate::providers::FEATURES;

/// Why an [`Agent`](crate::Agent) cannot be built. Its source is the cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// No model was given.
    #[error("agent {agent} has no model: give it one with `.model(\"provider/model\")`")]
    NoModel {
        /// The agent.
        agent: String,
    },
    /// A model's name does not name its provider.
    #[error("agent {agent}: {name:?} is no model: write it as \"provider/model\"")]
    ModelName {
        /// The agent.
        agent: String,
        /// The name that was given.
        name: String,
    },
    /// No provider of this name is built in.
    #[error(
        "agent {agent}: there is no provider {provider:?} ({}){}", known_ones(.known),
        missing_feature(.provider)
    )]
    UnknownProvider {
        /// The agent.
        agent: String,
        /// The provider.
        provider: String,
        /// The providers that are built in.
        known: Vec<&'static str>,
    },
    /// The provider's client cannot be made, for example because the environment has no key.
    #[error("agent {agent}: the provider {provider} cannot be used")]
    Provider {
        /// The agent.
        agent: String,
        /// The provider.
        provider: String,
        /// Why.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// A tool cannot be used in this process: nothing here can confine the commands of `bash`, for one.
    #[error("agent {agent}: the tool {tool} cannot be used")]
    Tool {
        /// The agent.
        agent: String,
        /// The tool.
        tool: String,
        /// Why.
        #[source]
        source: ToolError,
    },
    /// A tool has the name of one that the agent has in any case.
    #[error(
        "agent {agent}: the name {tool} is that of the tool with which a model finds others: give yours another name, or \
         turn that off with `.tool_search(None)`"
    )]
    ReservedTool {
        /// The agent.
        agent: String,
        /// The name.
        tool: &'static str,
    },
    /// A rule names a tool that the agent lacks, so that it would never be asked about.
    #[error("agent {agent} asks about {tool}, and has no such tool ({})", known_ones(.known))]
    UnknownTool {
        /// The agent.
        agent: String,
        /// The tool that the rule names.
        tool: String,
        /// The agent's tools.
        known: Vec<String>,
    },
    /// A layer is for a tool that the agent lacks, so that it would have no effect.
    #[error("agent {agent} has a layer for {tool}, and has no such tool ({})", known_ones(.known))]
    LayerWithoutTool {
        /// The agent.
        agent: String,
        /// The tool that the layer is for.
        tool: String,
        /// The agent's tools.
        known: Vec<String>,
    },
    /// Two agents that take turns in one workflow have one name.
    #[error("two agents of the workflow {agent} are named {twice}")]
    SameName {
        /// The workflow.
        agent: String,
        /// The name.
        twice: String,
    },
    /// Two agents that can be reached from this one, at any level, have the same name; or one of them has the name of
    /// the agent itself.
    #[error(
        "agent {agent} starts agents or hands its runs over to agents, and two of all these are named {twice}, itself among \
         them: give each a name of its own"
    )]
    OthersOfOneName {
        /// The agent.
        agent: String,
        /// The name.
        twice: String,
    },
    /// Two agents of a worker have the same name. Agents that they start or hand their runs over to count, too.
    #[error("two agents of the worker are named {twice}: give each a name of its own")]
    ServedTwice {
        /// The name.
        twice: String,
    },
    /// An agent of a workflow is charged to a pool: agents that take turns share no pool.
    #[error(
        "the workflow {workflow} has the agent {agent}, which uses a pool: agents that take turns in a workflow share none, \
         so take the pool out of it"
    )]
    PoolInWorkflow {
        /// The workflow.
        workflow: String,
        /// The agent.
        agent: String,
    },
    /// A tool has the name of the one for another agent, or an agent is listed twice.
    #[error(
        "agent {agent} has two tools named {tool}: list the other agent once, and name no tool so"
    )]
    ToolTwice {
        /// The agent.
        agent: String,
        /// The tool.
        tool: String,
    },
    /// An agent is to start a workflow of the program, or to hand its runs over to one.
    #[error(
        "agent {agent} lists the workflow {workflow}: list agents alone, and have the workflow start this agent instead"
    )]
    StartsWorkflow {
        /// The agent.
        agent: String,
        /// The workflow.
        workflow: String,
    },
    /// A rule about calls cannot be read.
    #[error("agent {agent}: {rule:?} is no rule about calls: write TOOL or TOOL(ARGUMENT=PATTERN)")]
    Rule {
        /// The agent.
        agent: String,
        /// The rule.
        rule: String,
    },
    /// The agent has a limit of cost, and a model whose price is not known.
    #[error(
        "agent {agent} has a limit of cost, and the price of {model} is not known: set it with `.prices(…)`, or limit tokens"
    )]
    NoPrice {
        /// The agent.
        agent: String,
        /// The model, as `provider/model`.
        model: String,
    },
    /// The agent file cannot be used.
    #[error("agent {agent} cannot be read from its file")]
    File {
        /// The agent.
        agent: String,
        /// Why.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

fn known_ones<S: AsRef<str>>(known: &[S]) -> String {
    let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    match known.as_slice() {
        [] => "none is known".to_owned(),
        known => format!("known: {}", known.join(", ")),
    }
}

/// Names the feature of this crate for a provider that this build lacks.
fn missing_feature(provider: &str) -> String {
    if FEATURES.contains(&provider) {
        format!("; it comes with the feature `{provider}` of the crate neuron")
    } else {
        String::new()
    }
}
