//! What turns each decision into a call of the door.

pub(crate) mod agent_loop;
pub(crate) mod own_calls;
pub(crate) mod step;
pub(crate) mod summary;
