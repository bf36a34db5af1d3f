//! A command and everything that it starts.

use std::{
    io,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::{
    net::unix::pipe,
    process::{Child, Command},
    time,
};

use crate::builtin::shell::head_tail::HeadTail;

/// More than any pipe holds: what a command wrote before it ended is within this.
const MAX_DRAIN_BYTES: usize = 2 * 1024 * 1024;
/// How often a stopped group is looked at.
const POLL: Duration = Duration::from_millis(10);

/// A running command in a process group of its own, with its output in one pipe.
///
/// Dropping it kills the whole group at once, unless [`ProcessGroup::wait`] has returned: then the command
/// has ended, and what it left in the background is left alone. A process that moves to a group of its own
/// (`setsid`) is out of reach.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    child: Child,
    /// `None` when there is nothing to kill any more.
    group: Option<Pid>,
    output: pipe::Receiver,
    output_open: bool,
    captured: HeadTail,
}

impl ProcessGroup {
    /// Starts the command without input, keeping at most `max_output_bytes` of what it prints.
    pub(crate) fn spawn(mut command: Command, max_output_bytes: usize) -> io::Result<Self> {
        // One pipe for both keeps what the command printed in its order.
        let (reader, writer) = io::pipe()?;
        let output = pipe::Receiver::from_owned_fd(reader.into())?;
        let child = command
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw);
        Ok(Self {
            child,
            group,
            output,
            output_open: true,
            captured: HeadTail::new(max_output_bytes),
        })
    }

    /// Reads output until the command ends. Background processes that hold the pipe open are not waited
    /// for. May be dropped and called again.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            tokio::select! {
                biased;
                status = self.child.wait() => {
                    let status = status?;
                    self.group = None;
                    self.drain(&mut buffer);
                    return Ok(status);
                }
                ready = self.output.readable(), if self.output_open => {
                    ready?;
                    self.read(&mut buffer);
                }
            }
        }
    }

    /// Asks the whole group to end, and kills what is left of it after `grace`.
    pub(crate) async fn stop(&mut self, grace: Duration) {
        let Some(group) = self.group else {
            return;
        };
        // It may have ended by itself.
        let _ = kill_process_group(group, Signal::TERM);
        let ended = async {
            self.wait_keeping_group().await;
            while test_kill_process_group(group).is_ok() {
                time::sleep(POLL).await;
            }
        };
        if time::timeout(grace, ended).await.is_err() {
            let _ = kill_process_group(group, Signal::KILL);
            self.wait_keeping_group().await;
        }
        self.group = None;
    }

    /// What was printed.
    pub(crate) fn into_output(mut self) -> String {
        std::mem::replace(&mut self.captured, HeadTail::new(0)).into_text()
    }

    /// Waits for the command alone: the others of its group are still to be killed.
    async fn wait_keeping_group(&mut self) {
        let group = self.group;
        // How it ended does not matter, and that it cannot be waited for does not either.
        drop(self.wait().await);
        self.group = group;
    }

    /// Reads what is there now, and answers how much that was.
    fn read(&mut self, buffer: &mut [u8]) -> usize {
        match self.output.try_read(buffer) {
            Ok(0) => {
                self.output_open = false;
                0
            }
            Ok(length) => {
                self.captured.push(buffer.get(..length).unwrap_or_default());
                length
            }
            Err(error) => {
                self.output_open = error.kind() == io::ErrorKind::WouldBlock;
                0
            }
        }
    }

    /// Reads the rest, but not what a background process goes on printing.
    fn drain(&mut self, buffer: &mut [u8]) {
        let mut drained = 0;
        while self.output_open && drained < MAX_DRAIN_BYTES {
            match self.read(buffer) {
                0 => break,
                length => drained += length,
            }
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}
