//! Limits of a command that bubblewrap confines.
//!
//! This process sets them, from outside, while nothing of the command is in the sandbox: `bwrap` says which process it has
//! made there, and waits. A program that set them inside would have the command's environment, and load its libraries first.

use std::{
    io::{self, PipeReader, PipeWriter, Read as _, Write as _, pipe},
    os::fd::{AsRawFd as _, OwnedFd},
};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit, setrlimit};
use serde::Deserialize;

use crate::plan::Plan;

/// The most that `bwrap` says.
const MOST: u64 = 4096;

/// What each process may have at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    memory: Option<u64>,
    processes: Option<u64>,
}

impl Limits {
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        let (memory, processes) = (plan.memory, plan.processes);
        let some = memory.is_some() || processes.is_some();
        some.then_some(Self { memory, processes })
    }

    /// Sets them for this process, which keeps them.
    pub(crate) fn set_here(plan: &Plan) -> io::Result<()> {
        for (resource, limit) in Self::of(plan).iter().flat_map(Self::each) {
            setrlimit(resource, limit)?;
        }
        Ok(())
    }

    fn set(self, process: Pid) -> io::Result<()> {
        for (resource, limit) in self.each() {
            prlimit(Some(process), resource, limit)?;
        }
        Ok(())
    }

    fn each(&self) -> impl Iterator<Item = (Resource, Rlimit)> {
        let limits = [
            (Resource::As, self.memory),
            (Resource::Nproc, self.processes),
        ];
        limits.into_iter().filter_map(|(resource, most)| {
            let (current, maximum) = (Some(most?), most);
            Some((resource, Rlimit { current, maximum }))
        })
    }
}

/// The numbers of the descriptors that `bwrap` has for this.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    pub(crate) says: i32,
    pub(crate) waits: i32,
}

/// A `bwrap` that is about to be started, and waits for its limits.
#[derive(Debug)]
pub(crate) struct Waiting {
    limits: Limits,
    said: PipeReader,
    goes: PipeWriter,
}

/// What `bwrap` says of the sandbox.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Said {
    child_pid: i32,
}

impl Waiting {
    /// Returns the descriptors that `bwrap` inherits, and their numbers.
    pub(crate) fn new(limits: Limits) -> io::Result<(Self, Told, [OwnedFd; 2])> {
        let (said, says) = pipe()?;
        let (waits, goes) = pipe()?;
        let told = Told {
            says: says.as_raw_fd(),
            waits: waits.as_raw_fd(),
        };
        let waiting = Self { limits, said, goes };
        Ok((waiting, told, [says.into(), waits.into()]))
    }

    /// Sets the limits and lets `bwrap` continue, once it was started. A `bwrap` that has failed reports that itself.
    ///
    /// # Errors
    ///
    /// They cannot be set. Nothing of the command has run then, nor will.
    pub(crate) fn set(mut self) -> io::Result<()> {
        let mut said = Vec::new();
        self.said.by_ref().take(MOST).read_to_end(&mut said)?;
        if said.is_empty() {
            return Ok(());
        }
        let said: Said = serde_json::from_slice(&said).map_err(io::Error::other)?;
        let process = Pid::from_raw(said.child_pid);
        let process = process.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        let gone = |error: &io::Error| error.raw_os_error() == Some(libc::ESRCH);
        match self.limits.set(process) {
            Ok(()) => {}
            // It has failed meanwhile.
            Err(error) if gone(&error) => return Ok(()),
            Err(error) => {
                // Before it sees that the process that it waits for is gone. It may have ended.
                let _ = kill_process(process, Signal::KILL);
                let said = format!("cannot limit the command: {error}");
                return Err(io::Error::new(error.kind(), said));
            }
        }
        match self.goes.write_all(&[0]) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            // As above.
            _ => Ok(()),
        }
    }
}
