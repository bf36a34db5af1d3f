//! Which run and which step something belongs to, and for whom.

pub(crate) mod origin;
pub(crate) mod place;
pub(crate) mod run_id;
pub(crate) mod session_name;
pub(crate) mod step_id;
pub(crate) mod tags;
pub(crate) mod trace;
