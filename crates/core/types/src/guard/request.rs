//! What guards are asked in a step of their own.

use serde::{Deserialize, Serialize};

use crate::{GuardPoint, Guarded, ToolCall};

/// What guards are asked in a step of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardRequest {
    /// What they say of the texts of messages.
    Input {
        /// The texts, in order.
        texts: Vec<String>,
    },
    /// What they say of a call.
    Call {
        /// The call.
        call: Box<ToolCall>,
        /// Whether hooks are asked, too, and before them.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        hooks: bool,
    },
}

impl GuardRequest {
    /// Returns where in the run it is.
    #[must_use]
    pub const fn point(&self) -> GuardPoint {
        match self {
            Self::Input { .. } => GuardPoint::Input,
            Self::Call { .. } => GuardPoint::Call,
        }
    }

    /// Returns what it is about: the tool of a call.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Input { .. } => GuardPoint::Input.as_str(),
            Self::Call { call, .. } => &call.name,
        }
    }
}

/// What guards said in a step of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardOutcome {
    /// Of each text, in order.
    Input(Vec<Guarded>),
    /// Of a call.
    Call(Guarded),
}
