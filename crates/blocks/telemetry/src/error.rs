//! Why nothing can be exported.

use std::io;

use neuron_tls::TlsError;
use thiserror::Error;

/// Why [`Telemetry::from_env`](crate::Telemetry::from_env) cannot do what the environment asks for.
///
/// No message holds the value of a variable: it may be a key.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// A variable has a value that means nothing, or something that is not done here.
    #[error("{variable}: {reason}")]
    Variable {
        /// The name of the variable.
        variable: &'static str,
        /// What is wrong with its value.
        reason: String,
    },
    /// No client can speak HTTPS.
    #[error("telemetry cannot be sent over HTTPS")]
    Tls {
        /// What went wrong.
        #[source]
        source: TlsError,
    },
    /// No client can be made.
    #[error("there is no HTTP client for telemetry")]
    Client {
        /// What went wrong.
        #[source]
        source: reqwest::Error,
    },
    /// There is no thread that telemetry is sent from.
    #[error("the thread that sends telemetry does not start")]
    Thread {
        /// What went wrong.
        #[source]
        source: io::Error,
    },
}

impl TelemetryError {
    /// Returns the error of a variable.
    pub(crate) fn of(variable: &'static str, reason: impl Into<String>) -> Self {
        Self::Variable {
            variable,
            reason: reason.into(),
        }
    }
}
