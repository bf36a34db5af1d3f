use serde::{Deserialize, Serialize};

/// Which runs are listed. Default is all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RunFilter {
    /// Only runs that are not over.
    pub is_open: bool,
}

impl RunFilter {
    /// Returns the filter that all runs pass.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// Returns the filter that the runs pass which are not over.
    #[must_use]
    pub const fn open() -> Self {
        Self { is_open: true }
    }
}
