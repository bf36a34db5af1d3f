//! The journal's database: one file in a home directory, and the locks beside it.

pub(crate) mod column;
pub(crate) mod error;
pub(crate) mod home;
pub(crate) mod journal;
pub(crate) mod journal_options;
pub(crate) mod lock;
pub(crate) mod lock_file;
pub(crate) mod private_files;
pub(crate) mod protect;
pub(crate) mod schema;
pub(crate) mod transaction;
