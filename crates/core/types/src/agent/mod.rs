//! What an agent is: its definition, its limits, its reminders.

pub(crate) mod limits;
pub(crate) mod reminder;
pub(crate) mod spec;
