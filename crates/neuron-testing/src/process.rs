//! Processes that end with the value that stands for them.

use std::{
    io,
    process::{Child, Command, ExitStatus, Stdio},
};

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

    /// Starts one test of this test binary again, as a process of its own: a worker that can be killed. The
    /// test must be marked `#[ignore]`, so that it runs only like this, and is told what it needs in
    /// variables.
    ///
    /// # Errors
    ///
    /// What keeps it from being started.
    pub fn start_test(name: &str, variables: &[(&str, String)]) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([
            "--exact",
            name,
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ]);
        command.envs(variables.iter().map(|(name, value)| (*name, value)));
        command.stdout(Stdio::null());
        Self::start(&mut command)
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
