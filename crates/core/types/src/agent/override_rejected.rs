//! Why an agent does not take what the caller of a run changes.

use crate::CallerSetting;

/// Why an agent does not take what the caller who starts a run changes of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OverrideRejected {
    /// The agent does not let its callers set it.
    #[error("the agent {agent} does not let callers set {setting}")]
    NotAllowed {
        /// The agent.
        agent: String,
        /// What the caller set.
        setting: CallerSetting,
    },
    /// A limit is above the agent's own.
    #[error("{limit} {asked} is above the {limit} {own} of the agent {agent}")]
    LimitRaised {
        /// The agent.
        agent: String,
        /// The limit.
        limit: &'static str,
        /// What the caller set.
        asked: String,
        /// What the agent has.
        own: String,
    },
    /// The agent has no such tool.
    #[error("the agent {agent} has no tool {tool:?}: it has {}", list(.known))]
    UnknownTool {
        /// The agent.
        agent: String,
        /// The name that the caller said.
        tool: String,
        /// The tools that it has.
        known: Vec<String>,
    },
    /// A rule about calls cannot be read.
    #[error("{rule:?} is no pattern of calls: write TOOL, or TOOL(ARGUMENT=VALUE)")]
    Pattern {
        /// The rule.
        rule: String,
    },
    /// A rule about calls excepts some.
    #[error("{rule:?} excepts calls: callers add rules and take none away")]
    Exception {
        /// The rule.
        rule: String,
    },
    /// A model is not named in full.
    #[error("{model:?} names no provider: write provider/model")]
    Model {
        /// What the caller said.
        model: String,
    },
}

fn list(known: &[String]) -> String {
    match known {
        [] => "none".to_owned(),
        known => known.join(", "),
    }
}
