//! What can be wrong with this crate's settings.

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// Restate takes no such service name.
    #[error(
        "{0:?} is no name for services in Restate: use up to 64 letters, digits, `.`, `_` and `-` that start with a letter"
    )]
    Prefix(String),
    /// A key that requests are to be signed with cannot be read.
    #[error("an identity key cannot be used: take it from Restate as `publickeyv1_…`")]
    IdentityKey {
        /// What is wrong with it.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
