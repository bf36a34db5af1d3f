//! A command under way.

use std::{io, process::ExitStatus, sync::Arc, time::Duration};

use rustix::process::{
    Pid, Signal, kill_process, kill_process_group, test_kill_process, test_kill_process_group,
};
use tempfile::TempDir;
use tokio::{
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
    time,
};

use crate::{descendants::descendants, kind::Backend};

/// How often processes that are to end are looked at.
const POLL: Duration = Duration::from_millis(5);

/// A command and everything that it started.
///
/// A confined command's processes all end when it ends, however they were started, and when this process does. Dropping
/// it before [`wait`](Self::wait) has returned kills them all at once. If nothing confines it, that holds for its
/// process group only: what it leaves in the background lives on once the command has ended. Such a command ends with
/// this process too, if this program calls [`dispatch`](crate::dispatch); what it started itself may live on.
#[derive(Debug)]
pub struct Process {
    child: Child,
    backend: Option<Backend>,
    /// The process that was started here, which leads a group. `None` when there is nothing to kill any more.
    leader: Option<Pid>,
    /// Those that were asked to end.
    asked: Vec<Pid>,
    /// Its temporary directory is used.
    _temp: Option<Arc<TempDir>>,
}

impl Process {
    pub(crate) fn new(child: Child, backend: Option<Backend>, temp: Option<Arc<TempDir>>) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self {
            child,
            backend,
            leader: id.and_then(Pid::from_raw),
            asked: Vec::new(),
            _temp: temp,
        }
    }

    /// Returns the end of its input, once, if that is a pipe.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Returns the end of its output, once, if that is a pipe.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Returns the end of its error output, once, if that is a pipe.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Waits until the command ends. A confined one that was ended by a signal has the exit code 128 and the signal's
    /// number. May be dropped and called again.
    ///
    /// # Errors
    ///
    /// What keeps it from being waited for.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await?;
        self.leader = None;
        Ok(status)
    }

    /// Asks all processes to end, kills what is left of them after `grace`, and waits for that.
    pub async fn stop(&mut self, grace: Duration) {
        self.terminate();
        self.end(grace).await;
    }

    /// Waits until all processes have ended by themselves, such as at the end of their input; asks those that are left
    /// after `grace` to end, and kills what is left then.
    pub async fn finish(&mut self, grace: Duration) {
        self.asked = self.leader.map(descendants).unwrap_or_default();
        if !self.ends_within(grace).await {
            self.terminate();
            self.end(grace).await;
        }
        self.leader = None;
    }

    async fn end(&mut self, grace: Duration) {
        if !self.ends_within(grace).await {
            self.kill();
            // How it ended does not matter, and that it cannot be waited for does not either.
            drop(self.child.wait().await);
            // They were killed: it takes no time worth a limit.
            while self.backend.is_some() && self.some_left() {
                time::sleep(POLL).await;
            }
        }
        self.leader = None;
    }

    async fn ends_within(&mut self, grace: Duration) -> bool {
        let ended = async {
            // As above.
            drop(self.child.wait().await);
            while self.some_left() {
                time::sleep(POLL).await;
            }
        };
        time::timeout(grace, ended).await.is_ok()
    }

    /// Returns whether a process is left that was there when they were asked to end.
    fn some_left(&self) -> bool {
        match (self.backend, self.leader) {
            (_, None) => false,
            (None, Some(group)) => test_kill_process_group(group).is_ok(),
            (Some(_), Some(_)) => self.asked.iter().any(|id| test_kill_process(*id).is_ok()),
        }
    }

    fn terminate(&mut self) {
        let Some(leader) = self.leader else {
            return;
        };
        if self.backend.is_none() {
            // It may have ended by itself.
            let _ = kill_process_group(leader, Signal::TERM);
            return;
        }
        // Not what supervises them: it would end them all at once.
        self.asked = descendants(leader);
        for process in &self.asked {
            // As above.
            let _ = kill_process(*process, Signal::TERM);
        }
        if self.asked.is_empty() {
            self.kill();
        }
    }

    fn kill(&self) {
        let Some(leader) = self.leader else {
            return;
        };
        // It may have ended by itself.
        let _ = match self.backend {
            None => kill_process_group(leader, Signal::KILL),
            Some(Backend::Bubblewrap) => kill_process(leader, Signal::KILL),
            // It kills the others, and ends then.
            Some(Backend::Landlock) => kill_process(leader, Signal::TERM),
        };
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
