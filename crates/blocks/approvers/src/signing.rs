//! Signing: with a key in a file, or with `ssh-agent`.

mod agent;
pub(crate) mod agent_error;
pub(crate) mod passphrase;
pub(crate) mod sign_error;
pub(crate) mod signer;
