//! How a run came to the definition of its agent.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{CallerSetting, Overrides};

/// How a run came to the definition of an agent that it names: what [`AgentSpec::adopted`](crate::AgentSpec::adopted) makes of
/// a later definition of that agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentOrigin {
    /// What whoever started the run changed of the agent.
    #[serde(skip_serializing_if = "Overrides::is_empty")]
    pub overrides: Overrides,
    /// What they may set whatever the agent lists, as the person does whose agent file it is. Default is nothing.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub may_set: BTreeSet<CallerSetting>,
}
