//! The trust of a person in agent files that were found and not named.

mod store;

use crate::{AgentFile, AgentFileError, Environment};

pub use store::{TrustStore, trust_store_path};

/// The variable whose value `1` trusts every agent file and every home that is found.
pub const TRUST_VARIABLE: &str = "NEURON_TRUST";

/// Returns whether an environment sets that variable to `1`.
#[must_use]
pub fn trusts_all(environment: &dyn Environment) -> bool {
    environment.variable(TRUST_VARIABLE).as_deref() == Some("1")
}

/// Checks that a file may do what it [wants](AgentFile::wants): the caller named it, or it wants nothing, or a person
/// trusts it as it is, or the variable `NEURON_TRUST` is `1`.
///
/// # Errors
///
/// [`AgentFileError::Untrusted`].
pub fn check_trust(file: &AgentFile, environment: &dyn Environment) -> Result<(), AgentFileError> {
    let Some(path) = file.path().filter(|_| file.is_found()) else {
        return Ok(());
    };
    let wants = file.wants();
    let is_trusted = || TrustStore::find(environment).is_some_and(|store| store.trusts(file));
    if wants.is_empty() || trusts_all(environment) || is_trusted() {
        return Ok(());
    }
    Err(AgentFileError::Untrusted {
        path: store::identity(path),
        wants: Box::new(wants),
    })
}
