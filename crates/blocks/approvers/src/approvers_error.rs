//! What can be wrong with those who may decide.

use crate::approver_key::KeyError;

/// An approver cannot be taken. Names the approver and holds nothing of a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApproversError {
    /// A name of an approver or a group is empty, too long, or has characters that cannot be seen.
    #[error(
        "{name:?} names no {what}: use 1 to 64 characters that can be seen, none of them a space at an end"
    )]
    Name {
        /// `approver` or `group`.
        what: &'static str,
        /// The name, the beginning of it if it is long.
        name: String,
    },
    /// Two approvers have one name.
    #[error("there are two approvers {approver}: rename one of them")]
    SameName {
        /// The name.
        approver: String,
    },
    /// A group has the name of an approver, so that a rule with the name could mean either.
    #[error("{name} is the name of an approver and of a group: rename one of them")]
    NameOfGroup {
        /// The name.
        name: String,
    },
    /// An approver has no key.
    #[error("approver {approver} has no key")]
    NoKey {
        /// The name.
        approver: String,
    },
    /// A key cannot be used.
    #[error("a key of approver {approver} cannot be used: {source}")]
    Key {
        /// The name.
        approver: String,
        /// Which of the approver's keys, counted from 0.
        index: usize,
        /// Why.
        source: KeyError,
    },
    /// A key is there under two names, so that its owner is not known.
    #[error(
        "approver {approver} has a key that {owner} has too ({fingerprint}): a key has one owner"
    )]
    SameKey {
        /// The name.
        approver: String,
        /// Which of the approver's keys, counted from 0.
        index: usize,
        /// Who has it already. May be the same.
        owner: String,
        /// The key's fingerprint.
        fingerprint: String,
    },
}

impl ApproversError {
    /// Returns which of the approver's keys is meant, counted from 0; `None` if no key is.
    #[must_use]
    pub const fn key_index(&self) -> Option<usize> {
        match self {
            Self::Key { index, .. } | Self::SameKey { index, .. } => Some(*index),
            _ => None,
        }
    }

    /// Returns whether it is about the name of a group.
    #[must_use]
    pub fn is_about_group(&self) -> bool {
        matches!(
            self,
            Self::Name { what: "group", .. } | Self::NameOfGroup { .. }
        )
    }
}
