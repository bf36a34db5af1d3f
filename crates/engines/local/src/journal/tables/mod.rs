//! The tables, and the methods of the journal that read and write them.

pub(crate) mod cancel;
pub(crate) mod claim;
pub(crate) mod decide;
pub(crate) mod entries;
pub(crate) mod events;
pub(crate) mod looking;
pub(crate) mod open_runs;
pub(crate) mod patches;
pub(crate) mod recording;
pub(crate) mod remove;
pub(crate) mod runs;
pub(crate) mod segments;
pub(crate) mod signals;
pub(crate) mod steps;
pub(crate) mod transcript;
