//! One execution of an agent: what starts it, its state, what it shows.

pub(crate) mod amount;
pub(crate) mod beginning;
pub(crate) mod budget;
pub(crate) mod child;
pub(crate) mod event;
pub(crate) mod first_step;
pub(crate) mod halt;
pub(crate) mod id;
pub(crate) mod input;
pub(crate) mod lease;
pub(crate) mod lineage;
pub(crate) mod outcome;
pub(crate) mod output;
pub(crate) mod parent;
pub(crate) mod patches;
pub(crate) mod place;
pub(crate) mod refusal;
pub(crate) mod request;
pub(crate) mod session_name;
pub(crate) mod signals;
pub(crate) mod start;
pub(crate) mod state;
pub(crate) mod status;
pub(crate) mod tags;
pub(crate) mod transcript;
pub(crate) mod tree;
