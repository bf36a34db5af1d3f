use neuron_types::{FailureKind, ProviderError};

use crate::HttpClient;

impl HttpClient {
    /// Returns the error of a request that got no answer, or only a part of one.
    pub(crate) fn transport_error(&self, error: reqwest::Error) -> ProviderError {
        let error = error.without_url();
        let origin = self.origin();
        let (kind, message) = if error.is_builder() {
            (
                FailureKind::InvalidRequest,
                format!(
                    "no request could be made for {origin}: check the base URL and the headers"
                ),
            )
        } else if error.is_timeout() && error.is_connect() {
            (
                FailureKind::Timeout,
                format!("no connection to {origin} in time: check the address and the network"),
            )
        } else if error.is_timeout() {
            (
                FailureKind::Timeout,
                format!(
                    "no whole answer from {origin} within {:?}: try again or set a longer timeout",
                    self.timeout(),
                ),
            )
        } else if error.is_connect() {
            (
                FailureKind::Network,
                format!("cannot connect to {origin}: check the address and the network"),
            )
        } else {
            (
                FailureKind::Network,
                format!("the connection to {origin} was cut: try again"),
            )
        };
        ProviderError::new(kind, message).with_source(error)
    }
}
