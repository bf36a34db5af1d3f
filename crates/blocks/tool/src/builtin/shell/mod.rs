//! Processes of a command, and what they print.

pub(crate) mod head_tail;
pub(crate) mod process_group;
pub(crate) mod secret;
