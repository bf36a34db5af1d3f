//! What a run knows of the one that started it.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{AgentSpec, Bounds, Lease, RunId};

/// What a run learns of the one that started it, when it is started.
///
/// A parent narrows what the run may do, and gives it nothing: any caller who starts a run may name a parent, and gets
/// a run that may do less.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parent {
    /// The run that started it.
    pub run: RunId,
    /// The run at the top of the tree.
    pub root: RunId,
    /// What the parent takes an end by: no other run knows it.
    pub key: Uuid,
    /// How many levels of runs there may be below this one.
    #[serde(default)]
    pub levels: u32,
    /// What it may do at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Bounds>,
    /// Whether decisions about it have to be signed, as those about its parent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub signed: bool,
    /// What it may use of the parent's budget, and how long it continues without word of the parent. For ever and
    /// without bound where `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
}

impl Parent {
    /// Returns it without the bounds, where they stand elsewhere.
    #[must_use]
    pub fn without_bounds(&self) -> Self {
        Self {
            run: self.run.clone(),
            root: self.root.clone(),
            bounds: Vec::new(),
            key: self.key,
            levels: self.levels,
            signed: self.signed,
            lease: self.lease.clone(),
        }
    }

    /// Returns the definition for a run that this one starts: see [`AgentSpec::attenuated`].
    #[must_use]
    pub fn attenuate(&self, agent: &AgentSpec) -> AgentSpec {
        let mut agent = agent.attenuated(&self.bounds);
        agent.signed |= self.signed;
        agent.max_depth = agent.max_depth.min(self.levels);
        for member in agent.team.iter_mut().flatten() {
            member.max_depth = member.max_depth.min(self.levels);
        }
        agent
    }
}
