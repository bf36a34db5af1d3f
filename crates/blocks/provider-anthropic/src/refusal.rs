use neuron_types::{FailureKind, ProviderError};

/// The [`ProviderError::code`] of a request that its model or the API's version does not take, found before
/// it was sent.
pub const UNSUPPORTED: &str = "unsupported";

/// Returns the error of a request that can never be right.
pub(crate) fn invalid(message: impl Into<String>) -> ProviderError {
    ProviderError::new(FailureKind::InvalidRequest, message)
}

/// Returns the error of a request that another model or version might take.
pub(crate) fn unsupported(message: impl Into<String>) -> ProviderError {
    invalid(message).with_code(UNSUPPORTED)
}
