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

/// What can go wrong between a client and a Restate server, and what is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// This machine cannot make HTTP requests.
    #[error("no HTTP client can be set up: check the system's certificates and proxy settings")]
    Setup {
        /// The cause.
        source: reqwest::Error,
    },
    /// The token has characters that no header may have.
    #[error("RESTATE_AUTH_TOKEN cannot be sent: it has characters that no HTTP header may have")]
    Token,
    /// Nobody answers there.
    #[error(
        "Restate cannot be reached at {url}: start it, or set RESTATE_INGRESS_URL and RESTATE_ADMIN_URL"
    )]
    Unreachable {
        /// What was asked for.
        url: String,
        /// The cause.
        source: reqwest::Error,
    },
    /// The answer does not come.
    #[error(
        "no answer from {url} yet: Restate passes it on when a worker is there, see that one is running and registered"
    )]
    NoAnswer {
        /// What was asked for.
        url: String,
        /// The cause.
        source: reqwest::Error,
    },
    /// There is no such run.
    #[error("there is no run {run_id} here: look at the runs that there are with `neuron runs`")]
    UnknownRun {
        /// The id.
        run_id: neuron_types::RunId,
    },
    /// There is a run of this id already.
    #[error("there is a run {run_id} already: choose another id")]
    RunExists {
        /// The id.
        run_id: neuron_types::RunId,
    },
    /// The run or the server says no.
    #[error("{message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// Why, in a sentence.
        message: String,
    },
    /// The answer is not what it should be.
    #[error("the answer from {url} cannot be read: see that the worker is of this version")]
    Unreadable {
        /// What was asked for.
        url: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// What is to be sent cannot be written as JSON.
    #[error("a value cannot be written as JSON")]
    Unwritable {
        /// What is wrong with it.
        source: serde_json::Error,
    },
}
