//! What becomes of a run when another build is the current one.

/// What becomes of the runs of a build when its deployment has another current one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Versioning {
    /// A run stays with the build that it began with.
    #[default]
    Pinned,
    /// A run goes on with the current build from its next task on.
    AutoUpgrade,
}
