//! What a run knows of the runs above and below it.

use chrono::{DateTime, Utc};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::{Amount, ChildEnd, Parent, Pooled, RunId, TokenUsage};

/// What a run knows of the runs above and below it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tree {
    /// The run that started it, if one did. The bounds that it sets stand in the [definition](crate::AgentSpec::bounds).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Box<Parent>>,
    /// What the [keys](Parent::key) of the runs that it starts are made of: no other run knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<Uuid>,
    /// The runs that it started and whose ends it has not learned of, in the order in which they were started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Child>,
    /// How many runs it has started.
    #[serde(skip_serializing_if = "is_none")]
    pub started: u32,
    /// The tokens of those that have ended, and of all below them.
    pub usage: TokenUsage,
    /// What they cost; `None` as soon as one is not known.
    pub cost_usd: Option<Decimal>,
    /// What they are charged beside that: see [`Budget::reserved`](crate::Budget::reserved).
    #[serde(skip_serializing_if = "Amount::is_zero")]
    pub reserved: Amount,
    /// Its model is done, and nothing but runs in the background is waited for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_waiting: bool,
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            parent: None,
            secret: None,
            children: Vec::new(),
            started: 0,
            usage: TokenUsage::default(),
            cost_usd: Some(Decimal::ZERO),
            reserved: Amount::ZERO,
            is_waiting: false,
        }
    }
}

impl Tree {
    /// Returns the [key](Parent::key) of a run that this one starts: no other run can make it.
    #[must_use]
    pub fn key_of(&self, child: &RunId) -> Uuid {
        let secret = self.secret.unwrap_or_default();
        let hash = Sha256::new()
            .chain_update(secret.as_bytes())
            .chain_update(child.as_str())
            .finalize();
        let mut key = [0; 16];
        key.iter_mut()
            .zip(hash)
            .for_each(|(byte, of_hash)| *byte = of_hash);
        uuid::Builder::from_custom_bytes(key).into_uuid()
    }

    /// Returns which of the [children](Self::children) has ended so; `None` if the run is no child of this one, or does
    /// not know the key.
    #[must_use]
    pub fn child_of(&self, end: &ChildEnd) -> Option<usize> {
        let mut children = self.children.iter();
        let index = children.position(|child| child.run == end.run)?;
        (self.key_of(&end.run) == end.key).then_some(index)
    }

    /// Returns whether the holder of this key of a run can have it from this run alone, which started that one.
    #[must_use]
    pub fn was_child(&self, run: &RunId, key: Uuid) -> bool {
        self.secret.is_some() && self.key_of(run) == key
    }

    /// Returns whether there is nothing but this run.
    pub(crate) fn is_alone(&self) -> bool {
        *self == Self::default()
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_none(started: &u32) -> bool {
    *started == 0
}

/// A run that another run has started, as the other run knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Child {
    /// The run.
    pub run: RunId,
    /// Its agent's name.
    pub agent: String,
    /// The position in the turn of the call that waits for its answer; `None` if it works in the background.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// How much of the budget, and of pools, it was granted so far; nothing of what is not bounded.
    #[serde(default, skip_serializing_if = "Pooled::is_zero")]
    pub leased: Pooled<Amount>,
    /// Which of its [requests](crate::LeaseRequest) was answered last.
    #[serde(default, skip_serializing_if = "is_none")]
    pub answered: u32,
    /// When it was last heard of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard_at: Option<DateTime<Utc>>,
    /// When it was asked for a word, if none has come since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked_at: Option<DateTime<Utc>>,
}
