//! The servers that this process started.

use std::{
    fs,
    future::poll_fn,
    io,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::PathBuf,
    process::Stdio,
    task::Poll,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Child;

use super::DevServer;
use crate::{CliError, session::Session};

/// How long a server may take until it is healthy.
const START: Duration = Duration::from_secs(60);

/// How long a server may take to stop by itself.
const STOP: Duration = Duration::from_secs(10);

const LOOK: Duration = Duration::from_millis(100);

/// Servers that end with this process.
#[derive(Debug, Default)]
pub(crate) struct Started {
    servers: Vec<Server>,
}

#[derive(Debug)]
struct Server {
    name: &'static str,
    log: String,
    process: Child,
}

impl Started {
    /// Returns whether nothing was started.
    pub(crate) fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Starts a server and waits until it is healthy. Returns where its log is.
    ///
    /// # Errors
    ///
    /// [`CliError::NoProgram`], the errors of [`Session::home`], [`CliError::DevStart`], and [`CliError::DevLost`] if
    /// the server ended or was not healthy within a minute.
    pub(crate) async fn start(
        &mut self,
        server: &DevServer,
        session: &Session,
    ) -> Result<PathBuf, CliError> {
        let name = server.name();
        let program = server.found()?;
        let failed = |source: io::Error| CliError::DevStart { name, source };
        // The logs and data of servers are as private as the runs, and decide as much.
        let folder = session.home().await?.join("engines");
        let mut made = fs::DirBuilder::new();
        let made = made.recursive(true).mode(0o700);
        made.create(&folder).map_err(failed)?;
        let path = server.log(&folder);
        let mut log = fs::File::options();
        let log = log.write(true).create(true).truncate(true).mode(0o600);
        let log = log.open(&path).map_err(failed)?;
        let process = server
            .command(&program, &folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(failed)?)
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        self.servers.push(Server {
            name,
            log: path.display().to_string(),
            process,
        });
        let well = async {
            while !server.runs().await {
                tokio::time::sleep(LOOK).await;
            }
        };
        tokio::select! {
            () = well => Ok(path),
            error = self.lost() => Err(error),
            () = tokio::time::sleep(START) => Err(CliError::DevLost {
                name,
                what: "is not healthy after a minute".to_owned(),
                log: path.display().to_string(),
            }),
        }
    }

    /// Waits until one of the servers ends by itself.
    pub(crate) async fn lost(&mut self) -> CliError {
        let mut waits: Vec<_> = self
            .servers
            .iter_mut()
            .map(|server| {
                let (name, log) = (server.name, server.log.clone());
                Box::pin(async move {
                    let what = match server.process.wait().await {
                        Ok(status) => format!("ended by itself ({status})"),
                        Err(error) => format!("cannot be watched ({error})"),
                    };
                    CliError::DevLost { name, what, log }
                })
            })
            .collect();
        poll_fn(|context| {
            let over = waits
                .iter_mut()
                .find_map(|wait| match wait.as_mut().poll(context) {
                    Poll::Ready(error) => Some(error),
                    Poll::Pending => None,
                });
            over.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    /// Asks all servers to stop, and waits until they have.
    pub(crate) async fn stop(&mut self) {
        for server in &self.servers {
            terminate(&server.process);
        }
        for server in &mut self.servers {
            if tokio::time::timeout(STOP, server.process.wait())
                .await
                .is_err()
            {
                // The server has had its time. If it cannot be killed either, nothing can be done.
                server.process.kill().await.ok();
            }
        }
    }
}

fn terminate(process: &Child) {
    let pid = process.id().and_then(|id| i32::try_from(id).ok());
    if let Some(pid) = pid.and_then(Pid::from_raw) {
        // The server may have ended meanwhile.
        kill_process(pid, Signal::TERM).ok();
    }
}
