//! The hosts on which runs are executed: the requirements for a door, and the hosts of the doors in this process.

mod client_session;
mod host;
mod journaled_host;
pub(crate) mod local_host;

pub use self::{
    client_session::ClientSession,
    host::{Host, HostError, Session},
    journaled_host::{JournaledHost, JournaledSession},
    local_host::{LocalHost, LocalSession},
};
