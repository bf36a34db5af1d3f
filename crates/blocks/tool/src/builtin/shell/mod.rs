//! Processes of a command, and what they print.

pub(crate) mod head_tail;
pub(crate) mod output;
pub(crate) mod running;
