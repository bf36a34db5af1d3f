//! One execution of an agent: what starts it, its state, what it shows.

pub(crate) mod beginning;
pub(crate) mod budget;
pub(crate) mod child;
pub(crate) mod event;
pub(crate) mod halt;
pub(crate) mod handover;
pub(crate) mod input;
pub(crate) mod lease;
pub(crate) mod lineage;
pub(crate) mod loaded;
pub(crate) mod notice;
pub(crate) mod outcome;
pub(crate) mod output;
pub(crate) mod parent;
pub(crate) mod patches;
pub(crate) mod refusal;
pub(crate) mod repeated;
pub(crate) mod request;
pub(crate) mod scope;
pub(crate) mod signals;
pub(crate) mod start;
pub(crate) mod state;
pub(crate) mod status;
pub(crate) mod transcript;
pub(crate) mod tree;
mod verification;
