//! How a run came to the definition of its agent.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{AgentSpec, CallerSetting, LimitOverrides, Overrides};

/// How a run came to the definition of an agent that it names: what [`AgentSpec::adopted`](crate::AgentSpec::adopted) makes of
/// a later definition of that agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentOrigin {
    /// What the caller who started the run changed of the agent.
    #[serde(skip_serializing_if = "Overrides::is_empty")]
    pub overrides: Overrides,
    /// What they may set whatever the agent lists, as the person does whose agent file it is. Default is nothing.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub may_set: BTreeSet<CallerSetting>,
}

impl AgentOrigin {
    /// Returns what of this holds for another agent that the run is handed over to: what narrows, but for limits, which are
    /// the run's. Instructions and models were meant for the first agent, and calls are allowed where this one lets callers
    /// allow them.
    #[must_use]
    pub fn for_another(&self, agent: &AgentSpec) -> Self {
        let setting = CallerSetting::Allow;
        let may_allow = agent.callers_may_set.contains(&setting) || self.may_set.contains(&setting);
        Self {
            overrides: Overrides {
                limits: LimitOverrides::default(),
                model: None,
                instructions: None,
                allow: match may_allow {
                    true => self.overrides.allow.clone(),
                    false => Vec::new(),
                },
                ..self.overrides.clone()
            },
            may_set: self.may_set.clone(),
        }
    }
}
