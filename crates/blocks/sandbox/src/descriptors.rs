//! Which descriptors programs inherit that are started.
//!
//! What this process itself opens is closed in them. What it was started with need not be: shells, supervisors and build
//! tools leave files and connections open for those that they start, on purpose or not.

use std::{
    os::fd::{AsRawFd as _, OwnedFd},
    process::Command,
};

use close_fds::set_fds_cloexec_threadsafe;
use command_fds::CommandFdExt as _;

/// The first that is neither input nor output.
const FIRST: i32 = 3;

/// Makes all descriptors of this process but input, outputs and these close in the programs that it starts.
pub(crate) fn hand_down_only(kept: &[i32]) {
    set_fds_cloexec_threadsafe(FIRST, kept);
}

/// Returns the number of a descriptor, for the program to which it is handed down.
pub(crate) fn number(of: &OwnedFd) -> i32 {
    of.as_raw_fd()
}

/// Hands these down to what the command starts, under the numbers that they have here, and to nothing else.
pub(crate) fn hand_down(command: &mut Command, descriptors: Vec<OwnedFd>) {
    command.preserved_fds(descriptors);
}
