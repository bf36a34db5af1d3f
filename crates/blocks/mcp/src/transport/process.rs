//! A server's process and everything that it starts.

use std::{io, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::{
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    time,
};

/// How long a server may take to end after its input was closed, and again after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);
/// How often a process group is looked at that is to end.
const POLL: Duration = Duration::from_millis(10);

/// A running server in a process group of its own. Dropping it kills the whole group at once.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
    /// `None` when there is nothing to kill any more.
    group: Option<Pid>,
}

/// The ends of its pipes.
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

impl ServerProcess {
    pub(crate) fn spawn(mut command: Command) -> io::Result<(Self, Pipes)> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw);
        let missing = || io::Error::other("the process has no pipes");
        let pipes = Pipes {
            stdin: child.stdin.take().ok_or_else(missing)?,
            stdout: child.stdout.take().ok_or_else(missing)?,
            stderr: child.stderr.take().ok_or_else(missing)?,
        };
        Ok((Self { child, group }, pipes))
    }

    /// Waits until the whole group has ended, whose input is closed already; asks it to end, and kills what is
    /// left.
    pub(crate) async fn stop(&mut self) {
        let Some(group) = self.group else {
            return;
        };
        if !self.ends_within(group, GRACE).await {
            // It may have ended by itself.
            let _ = kill_process_group(group, Signal::TERM);
            if !self.ends_within(group, GRACE).await {
                let _ = kill_process_group(group, Signal::KILL);
                // Its status does not matter.
                drop(self.child.wait().await);
            }
        }
        self.group = None;
    }

    async fn ends_within(&mut self, group: Pid, grace: Duration) -> bool {
        let ended = async {
            // Its status does not matter.
            drop(self.child.wait().await);
            while test_kill_process_group(group).is_ok() {
                time::sleep(POLL).await;
            }
        };
        time::timeout(grace, ended).await.is_ok()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}
