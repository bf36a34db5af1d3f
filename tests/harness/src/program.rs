//! Programs that serve, such as workers.

use std::{
    env,
    io::{self, BufRead as _, BufReader},
    path::Path,
    process::{Command, ExitStatus, Stdio},
};

use crate::{Process, http, until};

/// Returns a program in a folder, without input and with an environment that names no engine, agent file or log, and
/// trusts the agent file that is found there.
#[must_use]
pub fn program_in(folder: &Path, program: &str) -> Command {
    const OURS: [&str; 3] = ["NEURON_", "TEMPORAL_", "RESTATE_"];
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null());
    command.env_remove("RUST_LOG");
    for (name, _) in env::vars_os() {
        if OURS
            .iter()
            .any(|own| name.to_string_lossy().starts_with(own))
        {
            command.env_remove(name);
        }
    }
    command.env("NEURON_TRUST", "1");
    command
}

/// Waits until a worker, whose health address this is, knows that it is to stop.
///
/// # Panics
///
/// If the worker does not know it within [`patience`](neuron_patience::patience).
pub async fn has_heard(health: &str) {
    until(async || {
        let ready = http::get(health, "/readyz").is_some_and(|(status, _)| status == 200);
        (!ready).then_some(())
    })
    .await;
}

/// A running program that prints a line when it serves. Dropping it kills it.
#[derive(Debug)]
pub struct Program {
    process: Process,
    /// The line.
    pub line: String,
}

impl Program {
    /// Starts the program without input, and waits for its line.
    ///
    /// # Errors
    ///
    /// The program cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let mut process = Process::start(command.stdout(Stdio::piped()))?;
        let mut line = String::new();
        if let Some(output) = process.take_stdout() {
            BufReader::new(output).read_line(&mut line)?;
        }
        Ok(Self { process, line })
    }

    /// Kills the program with `SIGKILL`, and returns when it is gone.
    ///
    /// # Panics
    ///
    /// If that fails.
    pub fn kill(mut self) {
        self.process.kill().unwrap();
    }

    /// Asks the program to stop with `SIGTERM`, and waits until it has.
    ///
    /// # Panics
    ///
    /// If that fails.
    pub async fn stop(self) -> ExitStatus {
        self.ask_to_stop().await
    }

    /// Asks the program to stop with `SIGTERM`. The returned future waits until it has.
    ///
    /// # Panics
    ///
    /// If that fails.
    pub fn ask_to_stop(self) -> impl Future<Output = ExitStatus> {
        let mut process = self.process;
        let id = process.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status().unwrap();
        assert!(sent.success());
        let waiting = tokio::task::spawn_blocking(move || process.wait().unwrap());
        async { waiting.await.unwrap() }
    }
}
