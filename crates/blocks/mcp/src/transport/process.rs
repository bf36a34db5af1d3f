//! A server's process and everything that it starts.

use std::{io, process::Stdio, time::Duration};

use neuron_sandbox::{ConfinedCommand, Process};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

/// How long a server may take to end after its input was closed, and again after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

/// A running server. Dropping it kills all that it started at once.
#[derive(Debug)]
pub(crate) struct ServerProcess(Process);

/// The ends of its pipes.
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

impl ServerProcess {
    pub(crate) fn spawn(mut command: ConfinedCommand) -> io::Result<(Self, Pipes)> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = command.spawn()?;
        let missing = || io::Error::other("the process has no pipes");
        let pipes = Pipes {
            stdin: process.take_stdin().ok_or_else(missing)?,
            stdout: process.take_stdout().ok_or_else(missing)?,
            stderr: process.take_stderr().ok_or_else(missing)?,
        };
        Ok((Self(process), pipes))
    }

    /// Waits until all that the server started has ended, whose input is closed already; asks it to end, and kills what
    /// is left.
    pub(crate) async fn stop(&mut self) {
        self.0.finish(GRACE).await;
    }
}
