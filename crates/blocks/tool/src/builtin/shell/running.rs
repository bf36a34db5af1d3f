//! A command under way, and what it prints.

use std::{io, process::ExitStatus, time::Duration};

use neuron_sandbox::{ConfinedCommand, Process};

use crate::builtin::shell::output::Output;

/// A running command with its output in one pipe. Dropping it kills all that it started, unless [`Running::wait`] has
/// returned: then it has ended.
#[derive(Debug)]
pub(crate) struct Running {
    process: Process,
    output: Output,
}

impl Running {
    /// Starts the command, keeping at most `max_output_bytes` of what it prints.
    pub(crate) fn start(mut command: ConfinedCommand, max_output_bytes: usize) -> io::Result<Self> {
        // One pipe for both keeps what the command printed in its order.
        let (output, writer) = Output::new(max_output_bytes)?;
        command.stdout(writer.try_clone()?).stderr(writer);
        Ok(Self {
            process: command.spawn()?,
            output,
        })
    }

    /// Reads output until the command ends. What holds the pipe open is not waited for. May be dropped and
    /// called again.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let Self { process, output } = self;
        let status = tokio::select! {
            biased;
            status = process.wait() => status?,
            () = output.read_on() => return Err(io::Error::other("the output has ended for good")),
        };
        output.drain();
        Ok(status)
    }

    /// Asks all that it started to end, and kills what is left of it after `grace`.
    pub(crate) async fn stop(&mut self, grace: Duration) {
        let Self { process, output } = self;
        tokio::select! {
            () = process.stop(grace) => {}
            () = output.read_on() => {}
        }
        output.drain();
    }

    /// Returns what was printed.
    pub(crate) fn into_output(mut self) -> String {
        self.output.take_text()
    }
}
