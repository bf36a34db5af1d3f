//! What guards are asked in a step of their own.

use serde::{Deserialize, Serialize};

use crate::{GuardPoint, Guarded, JudgeCall, ResponseFormat, Spent, ToolCall};

/// What guards are asked in a step of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardRequest {
    /// What they say of the texts of messages.
    Input {
        /// The texts, in order.
        texts: Vec<String>,
        /// The judges among them that may ask their models.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        judges: Vec<JudgeCall>,
    },
    /// What they say of a call.
    Call {
        /// The call.
        call: Box<ToolCall>,
        /// Whether hooks are asked, too, and before them.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        hooks: bool,
        /// The judges among them that may ask their models.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        judges: Vec<JudgeCall>,
    },
    /// What judges say of the texts of a result. The other guards have looked at it in the step of the call.
    Result {
        /// The tool.
        tool: String,
        /// The texts, in order.
        texts: Vec<String>,
        /// The judges that may ask their models.
        judges: Vec<JudgeCall>,
    },
    /// What judges say of the text of an answer. The other guards have looked at it in the step of the model.
    Output {
        /// The text.
        text: String,
        /// The judges that may ask their models.
        judges: Vec<JudgeCall>,
        /// The form that what they put in its place has to have; `None` where the answer may have any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        form: Option<Box<ResponseFormat>>,
    },
}

impl GuardRequest {
    /// Returns where in the run it is.
    #[must_use]
    pub const fn point(&self) -> GuardPoint {
        match self {
            Self::Input { .. } => GuardPoint::Input,
            Self::Call { .. } => GuardPoint::Call,
            Self::Result { .. } => GuardPoint::Result,
            Self::Output { .. } => GuardPoint::Output,
        }
    }

    /// Returns the judges that may ask their models.
    #[must_use]
    pub fn judges(&self) -> &[JudgeCall] {
        match self {
            Self::Input { judges, .. }
            | Self::Call { judges, .. }
            | Self::Result { judges, .. }
            | Self::Output { judges, .. } => judges,
        }
    }

    /// Returns what it is about: the tool of a call or of a result.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Input { .. } | Self::Output { .. } => self.point().as_str(),
            Self::Call { call, .. } => &call.name,
            Self::Result { tool, .. } => tool,
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
    /// Of each text of a result, in order.
    Result(Vec<Guarded>),
    /// Of an answer.
    Output(Guarded),
}

impl GuardOutcome {
    /// Returns what the models of judges used and cost.
    #[must_use]
    pub fn spent(&self) -> Option<Box<Spent>> {
        let all = match self {
            Self::Input(all) | Self::Result(all) => all.as_slice(),
            Self::Call(guarded) | Self::Output(guarded) => std::slice::from_ref(guarded),
        };
        let spent = all.iter().map(|guarded| guarded.spent.clone());
        spent.fold(None, Spent::sum)
    }

    /// Returns it with what models of judges used and cost beside what it says.
    #[must_use]
    pub fn with_spent(mut self, spent: Option<Box<Spent>>) -> Self {
        let first = match &mut self {
            Self::Input(all) | Self::Result(all) => all.first_mut(),
            Self::Call(guarded) | Self::Output(guarded) => Some(guarded),
        };
        if let Some(first) = first {
            first.spent = Spent::sum(spent, first.spent.take());
        }
        self
    }
}
