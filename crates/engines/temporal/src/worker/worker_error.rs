//! The error of a worker.

/// A worker could not be built, or ended by itself.
#[derive(Debug, thiserror::Error)]
#[error("the Temporal worker {what}")]
pub struct WorkerError {
    what: &'static str,
    #[source]
    source: Box<dyn std::error::Error + Send + Sync>,
}

pub(super) fn failed<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    what: &'static str,
) -> impl Fn(E) -> WorkerError {
    move |source| WorkerError {
        what,
        source: source.into(),
    }
}
