//! The journal: runs that survive the process that executes them.

pub(crate) mod door;
pub(crate) mod local_client;
pub(crate) mod run;
pub(crate) mod store;
pub(crate) mod tables;

pub use self::{
    door::{
        idle::{Busy, IdleLooks},
        interrupt::Interrupt,
        journaled_context::{JournaledContext, LocalWorkflow},
        park_policy::ParkPolicy,
    },
    local_client::LocalClient,
    store::{
        error::JournalError, journal::Journal, journal_options::JournalOptions,
        private_files::prepare_home,
    },
    tables::claim::RunClaim,
};
