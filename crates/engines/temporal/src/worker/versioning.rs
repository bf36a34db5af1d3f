//! What happens to a run when another build becomes the current one.

/// What happens to the runs of a build when another build becomes the current one of its deployment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Versioning {
    /// A run stays with the build that it began with.
    #[default]
    Pinned,
    /// A run continues with the current build from its next task on.
    AutoUpgrade,
}
