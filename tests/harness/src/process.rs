//! Processes that end with the value that stands for them.

use std::{
    fs, io,
    process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio},
};

use crate::{built, until};

/// A process under way. Dropping it kills it.
///
/// It stays in the process group of the test, so what ends the whole group ends it too.
#[derive(Debug)]
pub struct Process {
    child: Child,
}

impl Process {
    /// Starts a command without input. What it prints goes where the command says.
    ///
    /// # Errors
    ///
    /// What keeps it from being started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let child = command.stdin(Stdio::null()).spawn()?;
        Ok(Self { child })
    }

    /// Starts an example program of the test's own package: a worker that can be killed. It is told what it
    /// needs in variables.
    ///
    /// Cargo builds a package's examples with its tests, into the folder beside theirs.
    ///
    /// # Errors
    ///
    /// What keeps it from being started; if it was not built, how to do that.
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

    /// The process's id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    ///
    /// What keeps the operating system from saying.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// What it prints from here on, where its command has that piped.
    pub(crate) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// The same of standard error.
    pub(crate) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Waits for its end, however long that takes.
    pub(crate) fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }

    /// Kills it with `SIGKILL`, and returns when it is gone.
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
        // It may have ended.
        self.kill().ok();
    }
}

/// Whether a process is there. One that has ended and that nobody waited for is not.
///
/// # Panics
///
/// If the system says of a process what it never does.
#[must_use]
pub fn is_running(id: u32) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{id}/stat")) else {
        return false;
    };
    let state = status.rsplit(')').next().unwrap().trim();
    !state.starts_with('Z') && !state.starts_with('X')
}

/// Waits until none of these processes is there.
///
/// # Panics
///
/// If one still is after [`patience`](neuron_patience::patience).
pub async fn have_ended(ids: &[u32]) {
    until(async || (!ids.iter().any(|id| is_running(*id))).then_some(())).await;
}
