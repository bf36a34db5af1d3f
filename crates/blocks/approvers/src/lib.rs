#![doc = include_str!("../README.md")]

mod approver_key;
mod approvers;
mod approvers_error;
mod decision;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod signature;
mod signing;
mod statement;
mod statement_error;
mod verifier;
mod verify_error;

pub use approver_key::{ApproverKey, KeyError};
pub use approvers::{ApproverEntry, Approvers, Verified};
pub use approvers_error::ApproversError;
pub use neuron_types::Place;
pub use signing::{
    agent_error::AgentError, passphrase::Passphrase, sign_error::SignError, signer::AGENT_SOCKET,
    signer::Signer,
};
pub use statement::{DecisionContent, NAMESPACE, STATEMENT_VERSION, Statement};
pub use statement_error::StatementError;
pub use verify_error::VerifyError;
