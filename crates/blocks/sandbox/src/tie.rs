//! A command that nothing confines ends with this process all the same, and inherits nothing of it that is not its own.
//!
//! The system kills a process at the end of the thread that started it, if the process has asked for that after it was
//! started. So this program is started again in the command's place, asks for it, and becomes the command: no further
//! process is left. What the command starts asks for nothing, and lives on if it is left in the background. The program
//! that confines others is started in the same way.

use std::{
    convert::Infallible,
    ffi::{OsStr, OsString},
    io,
    os::unix::process::CommandExt as _,
    process::Command,
};

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

use crate::{descriptors, order::Order};

/// The first argument of this program where it is to become a command. The descriptor of its [`Order`] follows, and the
/// program with its arguments.
pub(crate) const WORD: &str = "--neuron-sandbox-tie";
/// The exit code when nothing was started, as shells have it.
const NOT_STARTED: i32 = 126;

/// Returns what is done: the process that it is tied to, and the descriptors that the command inherits besides input
/// and outputs.
pub(crate) fn task(kept: &[i32]) -> String {
    let parent = getpid().as_raw_nonzero().get();
    let words = [parent].into_iter().chain(kept.iter().copied());
    let words: Vec<_> = words.map(|word| word.to_string()).collect();
    words.join(" ")
}

/// Becomes the command. Returns an exit code where it cannot.
pub(crate) fn serve(mut args: impl Iterator<Item = OsString>) -> i32 {
    match args.next().zip(args.next()) {
        Some((number, program)) => match become_command(&number, &program, args) {
            Ok(never) => match never {},
            Err(error) => {
                eprintln!("{}: {error}", program.display());
                NOT_STARTED
            }
        },
        None => {
            eprintln!("the command was not named");
            NOT_STARTED
        }
    }
}

fn become_command(
    number: &OsStr,
    program: &OsStr,
    args: impl Iterator<Item = OsString>,
) -> io::Result<Infallible> {
    let order = Order::read(number)?;
    let mut words = order.task.split(' ').map(str::parse);
    let parent: Option<i32> = words.next().and_then(Result::ok);
    let kept: Vec<i32> = words.filter_map(Result::ok).collect();
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may have ended before.
    if getppid().map(|parent| parent.as_raw_nonzero().get()) != parent {
        return Err(io::Error::other("what it is tied to has ended"));
    }
    descriptors::hand_down_only(&kept);
    Err(Command::new(program)
        .args(args)
        .env_clear()
        .envs(order.environment.iter())
        .current_dir(order.cwd)
        .exec())
}
