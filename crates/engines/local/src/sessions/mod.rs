//! Stored conversations, which plain runs take up and continue.

pub(crate) mod conversation;
pub(crate) mod error;
pub(crate) mod files;
#[cfg(feature = "journal")]
pub(crate) mod home;
pub(crate) mod manager;
pub(crate) mod memory;
pub(crate) mod session;
pub(crate) mod settling;
#[cfg(feature = "journal")]
pub(crate) mod sqlite;
pub(crate) mod storage;
pub(crate) mod stored;
