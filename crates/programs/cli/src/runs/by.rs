//! The grouping of runs in sums.

use neuron_types::RunStatus;
use serde::Serialize;

/// The grouping of runs in sums.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum By {
    Tenant,
    Agent,
    /// The value of the label of this name.
    Label(String),
}

impl From<String> for By {
    fn from(text: String) -> Self {
        match text.as_str() {
            "tenant" => Self::Tenant,
            "agent" => Self::Agent,
            _ => Self::Label(text),
        }
    }
}

impl By {
    /// Returns the group of a run; `None` if it has no value for it.
    pub(crate) fn of<'a>(&self, run: &'a RunStatus) -> Option<&'a str> {
        match self {
            Self::Tenant => run.tenant.as_deref(),
            Self::Agent => Some(&run.agent),
            Self::Label(label) => run.labels.get(label).map(String::as_str),
        }
    }
}
