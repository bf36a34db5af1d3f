//! A command that nothing confines ends with this process all the same.
//!
//! The system kills a process at the end of the thread that started it, if the process has asked for that after it was
//! started. So this program is started again in the command's place, asks for it, and becomes the command: no further
//! process is left. What the command starts asks for nothing, and lives on if it is left in the background.

use std::{
    ffi::{OsStr, OsString},
    os::unix::process::CommandExt as _,
    process::Command,
};

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

/// The first argument of this program where it is to become a command.
pub(crate) const WORD: &str = "--neuron-sandbox-tie";
/// The exit code when nothing was started, as shells have it.
const NOT_STARTED: i32 = 126;

/// The arguments with which this program becomes another; those of the other follow.
pub(crate) fn arguments(program: &OsStr) -> [OsString; 3] {
    let parent = getpid().as_raw_nonzero().get().to_string();
    [WORD.into(), parent.into(), program.to_owned()]
}

/// Becomes the command. Returns an exit code where it cannot.
pub(crate) fn serve(mut args: impl Iterator<Item = OsString>) -> i32 {
    let parent = args.next().and_then(|text| text.to_str()?.parse().ok());
    let (Some(parent), Some(program)) = (parent, args.next()) else {
        eprintln!("the command was not named");
        return NOT_STARTED;
    };
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        eprintln!("the command cannot be tied to its parent: {error}");
        return NOT_STARTED;
    }
    // It may have ended before.
    let found: Option<i32> = getppid().map(|parent| parent.as_raw_nonzero().get());
    if found != Some(parent) {
        return NOT_STARTED;
    }
    let error = Command::new(&program).args(args).exec();
    eprintln!("{}: {error}", program.display());
    NOT_STARTED
}
