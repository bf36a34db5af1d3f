//! How rules compare a call: by what it does, not by how it is spelled.

pub(crate) mod certainty;
pub(crate) mod glob;
pub(crate) mod judged_call;
pub(crate) mod path;
pub(crate) mod shell;
