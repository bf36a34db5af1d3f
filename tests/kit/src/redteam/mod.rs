//! A red team: attacks of an agent on what confines it, as data.
//!
//! An [`Attack`] is a script that an agent runs as a call of `bash` or of an MCP server, or a call of a file tool, and
//! a [`Sign`] that shows its success from outside. [`attempts`] lists what is tried on a door, [`Outside`] contains the
//! targets and sees what was reached. A test that also runs the attacks with `sandbox = "off"` shows that each could
//! succeed.

mod attack;
mod attacks;
mod attempt;
mod bounds;
mod outside;
mod page;
mod sign;
mod sockets;

pub use self::{
    attack::{Aim, Attack, Door, FileCall, Reach, Unconfined},
    attacks::attacks,
    attempt::{Attempt, Means, attempts},
    bounds::{Bounds, Deciders},
    outside::Outside,
    page::{rows, rows_of},
    sign::Sign,
};
