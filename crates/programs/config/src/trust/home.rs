//! Whether a home of runs is a person's own.

use std::{io, path::Path};

use super::{home_id, store::TrustStore, trusts_all};
use crate::Environment;

/// Whose a home of runs is that nobody named: what lies in it decides what runs do, and in which directory.
#[derive(Debug)]
#[non_exhaustive]
pub enum HomeTrust {
    /// The person's own, as is recorded outside of it, or the variable `NEURON_TRUST` is `1`.
    Own,
    /// Nothing is in it yet, and it could not be recorded as the person's own: for this process it is, and for others it is
    /// foreign as soon as something is in it.
    Unrecorded {
        /// The system's error; `None` where the environment names no place for records.
        source: Option<io::Error>,
    },
    /// Nobody says whose it is: somebody else's, as in a repository that was cloned, or that of an older neuron, or one that
    /// was moved.
    Foreign,
}

/// Finds out whose a home is, which exists. One with nothing in it is recorded as the person's own.
///
/// # Errors
///
/// The system's, where the home cannot be looked into.
pub fn home_trust(home: &Path, environment: &dyn Environment) -> io::Result<HomeTrust> {
    let claimed = TrustStore::find(environment).map(|store| store.claim_home(home));
    if let Some(Ok(true)) = &claimed {
        return Ok(HomeTrust::Own);
    }
    if trusts_all(environment) {
        return Ok(HomeTrust::Own);
    }
    if !home_id::is_blank(home)? {
        return Ok(HomeTrust::Foreign);
    }
    Ok(HomeTrust::Unrecorded {
        source: claimed.and_then(Result::err),
    })
}
