//! Processes that end with the values that own them.

use std::{
    fs, io,
    process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio},
};

use crate::{built, until};

/// A running process. Dropping it kills it.
///
/// It stays in the process group of the test, so ending the whole group ends it, too.
#[derive(Debug)]
pub struct Process {
    child: Child,
}

impl Process {
    /// Starts a command without input. Its output goes where the command directs it.
    ///
    /// # Errors
    ///
    /// The process cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let child = command.stdin(Stdio::null()).spawn()?;
        Ok(Self { child })
    }

    /// Starts an example program of the test's own package: a worker that can be killed. Variables contain its
    /// settings.
    ///
    /// Cargo builds a package's examples with its tests, into the folder beside theirs.
    ///
    /// # Errors
    ///
    /// The process cannot be started; if the example was not built, the error names the command that builds it.
    pub fn start_example(name: &str, variables: &[(&str, String)]) -> io::Result<Self> {
        let program = built::folder()?.join("examples").join(name);
        let mut command = Command::new(&program);
        command.envs(variables.iter().map(|(name, value)| (*name, value)));
        command.stdout(Stdio::null());
        Self::start(&mut command).map_err(|error| {
            let program = program.display();
            let message = format!(
                "cannot start {program} ({error}): build it with `cargo build --example {name}`"
            );
            io::Error::new(error.kind(), message)
        })
    }

    /// Returns the process's id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the exit status of the process, if it has ended.
    ///
    /// # Errors
    ///
    /// The operating system cannot report it.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Returns its further standard output, if the command pipes it.
    pub(crate) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Returns its further standard error, if the command pipes it.
    pub(crate) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Waits for the end of the process, however long that takes.
    pub(crate) fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }

    /// Kills the process with `SIGKILL`, and returns when it is gone.
    ///
    /// # Errors
    ///
    /// If that fails.
    pub fn kill(&mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(drop)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have ended.
        self.kill().ok();
    }
}

/// Returns whether a process exists. One that has ended and was not waited for does not count.
///
/// # Panics
///
/// If the system reports an impossible state.
#[must_use]
pub fn is_running(id: u32) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{id}/stat")) else {
        return false;
    };
    let state = status.rsplit(')').next().unwrap().trim();
    !state.starts_with('Z') && !state.starts_with('X')
}

/// Waits until none of these processes exists.
///
/// # Panics
///
/// If one still exists after [`patience`](neuron_patience::patience).
pub async fn have_ended(ids: &[u32]) {
    until(async || (!ids.iter().any(|id| is_running(*id))).then_some(())).await;
}
