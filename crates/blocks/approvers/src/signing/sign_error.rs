//! Why nothing was signed.

use std::{io, path::PathBuf};

use crate::{approver_key::KeyError, signing::agent_error::AgentError};

/// A decision could not be signed. Holds neither a key nor a passphrase.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// The file could not be read.
    #[error("the key file {} cannot be read: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file holds no key of OpenSSH.
    #[error("{} holds no key that ssh-keygen made", .path.display())]
    NoKey {
        /// The file.
        path: PathBuf,
        /// Why; `None` if it looks like none at all.
        #[source]
        source: Option<ssh_key::Error>,
    },
    /// The key is of a type that is not supported.
    #[error("the key in {} cannot be used: {source}", .path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// Why.
        source: KeyError,
    },
    /// The passphrase could not be asked for.
    #[error("the passphrase of {} could not be asked for: {source}", .path.display())]
    Ask {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The passphrase is wrong.
    #[error("the passphrase of {} is wrong", .path.display())]
    Passphrase {
        /// The file.
        path: PathBuf,
        /// What the cipher says.
        source: ssh_key::Error,
    },
    /// The file holds a public key, or one in hardware, which only an agent signs with, and none was named.
    #[error("{} holds no private key itself: add it to ssh-agent, with ssh-add", .path.display())]
    NeedsAgent {
        /// The file.
        path: PathBuf,
    },
    /// The agent has none of the wanted keys.
    #[error("ssh-agent has none of the {wanted} keys that could sign: add one with ssh-add")]
    NoIdentity {
        /// How many would do; 0 where any key of a supported type would.
        wanted: usize,
    },
    /// The agent could not be asked.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The signature could not be made.
    #[error("the signature could not be made: {source}")]
    Signature {
        /// Why.
        #[from]
        source: ssh_key::Error,
    },
    /// The agent gave a signature that does not hold.
    #[error("the key {key} gave a signature that does not hold")]
    DoesNotHold {
        /// The key's fingerprint.
        key: String,
    },
    /// A hardware key signed without a touch; no verifier accepts such a signature.
    #[error("the hardware key {key} signed without a touch: make one without no-touch-required")]
    Untouched {
        /// The key's fingerprint.
        key: String,
    },
}
