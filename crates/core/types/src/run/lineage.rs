//! Which run a run is, whatever its name, and how it is bound to others.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{RunId, RunTrace, TraceContext};

/// What distinguishes a run from any other of its name, and how it is bound to other runs.
///
/// The loop sets the nonce when a run starts; the rest is there for runs that are forked, or are moved to another engine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lineage {
    /// What no other run has, though it may have the name: made when the run starts, and never changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nonce: Option<Uuid>,
    /// The run that it was forked or moved from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<RunId>,
    /// How often the run was moved. A process that acts for an earlier epoch acts for no run any more.
    #[serde(skip_serializing_if = "is_first")]
    pub epoch: u32,
    /// The changes of a workflow's code that it was started with.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub patches: BTreeSet<String>,
    /// Whether decisions about it have to be signed, whichever worker verifies them: one that knew approvers began it, or
    /// gave it a definition.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub signed: bool,
    /// What it is a part of in a distributed trace, if the caller who started it named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
}

impl Lineage {
    /// Returns the lineage of a run that no other run has started, with this nonce.
    #[must_use]
    pub fn of(nonce: Uuid) -> Self {
        Self {
            nonce: Some(nonce),
            ..Self::default()
        }
    }

    /// Returns the spans of the run, which has this id.
    #[must_use]
    pub const fn spans<'a>(&'a self, run: &'a RunId) -> RunTrace<'a> {
        RunTrace {
            run,
            nonce: self.nonce,
            given: self.trace.as_ref(),
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_first(epoch: &u32) -> bool {
    *epoch == 0
}
