//! What turns each decision into a call of the door.

pub(crate) mod agent_loop;
pub(crate) mod progress;
pub(crate) mod reminder;
pub(crate) mod step;
pub(crate) mod summary;
pub(crate) mod timer;
