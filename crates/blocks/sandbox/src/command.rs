//! A command that is not started yet.

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
};

use tempfile::TempDir;
use tokio::{process::Command, runtime::Handle};

use crate::{
    environment::Environment,
    kind::Backend,
    process::Process,
    start::{Means, Words},
};

/// A command that is not started yet. Its environment is set for itself alone: what confines it never has it.
#[derive(Debug)]
pub struct ConfinedCommand {
    words: Words,
    means: Means,
    /// The program is not there.
    is_missing: bool,
    temp: Option<Arc<TempDir>>,
    stdin: Stdio,
    stdout: Stdio,
    stderr: Stdio,
}

impl ConfinedCommand {
    pub(crate) fn new(
        program: &OsStr,
        cwd: PathBuf,
        environment: Environment,
        means: Means,
        temp: Option<Arc<TempDir>>,
    ) -> Self {
        Self {
            // A program that is started by nothing else reports this itself.
            is_missing: !matches!(means, Means::Alone) && !exists(program, &cwd),
            words: Words {
                program: program.to_owned(),
                args: Vec::new(),
                environment,
                cwd,
            },
            means,
            temp,
            stdin: Stdio::null(),
            stdout: Stdio::inherit(),
            stderr: Stdio::inherit(),
        }
    }

    /// Adds an argument.
    pub fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Self {
        self.words.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args<A: AsRef<OsStr>>(&mut self, args: impl IntoIterator<Item = A>) -> &mut Self {
        for arg in args {
            self.arg(arg);
        }
        self
    }

    /// Sets a variable of the command, whether it is on the list or not. What confines the command does not get it.
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.words.environment.set(name, value);
        self
    }

    /// Sets variables, as [`ConfinedCommand::env`] does.
    pub fn envs<N: AsRef<OsStr>, V: AsRef<OsStr>>(
        &mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> &mut Self {
        for (name, value) in variables {
            self.env(name, value);
        }
        self
    }

    /// Sets where input comes from. Default is nowhere.
    pub fn stdin(&mut self, from: impl Into<Stdio>) -> &mut Self {
        self.stdin = from.into();
        self
    }

    /// Sets where output goes. Default is where this process's goes.
    pub fn stdout(&mut self, to: impl Into<Stdio>) -> &mut Self {
        self.stdout = to.into();
        self
    }

    /// Sets where error output goes. Default is where this process's goes.
    pub fn stderr(&mut self, to: impl Into<Stdio>) -> &mut Self {
        self.stderr = to.into();
        self
    }

    /// Starts it, with its input and outputs and no other descriptor of this process. Must be called within a runtime.
    ///
    /// Where this program does not call [`dispatch`](crate::dispatch), all descriptors of this process but 0, 1 and 2 are
    /// set to be closed in the programs that it starts from now on.
    ///
    /// # Errors
    ///
    /// What keeps it from being started, such as a program that is not there, or a variable whose name is empty or has
    /// a `=` in it. A program that is there and cannot be reached in the sandbox ends with an exit code other than 0
    /// and reports that.
    pub fn spawn(self) -> io::Result<Process> {
        if self.is_missing {
            return Err(rustix::io::Errno::NOENT.into());
        }
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let backend = match &self.means {
            Means::Alone | Means::Tied { .. } => None,
            Means::Bubblewrap { .. } => Some(Backend::Bubblewrap),
            Means::Landlock { .. } => Some(Backend::Landlock),
        };
        let (stdin, stdout, stderr) = (self.stdin, self.stdout, self.stderr);
        let child = self.means.start(&self.words, move |mut command| {
            let _runtime = runtime.enter();
            command.stdin(stdin).stdout(stdout).stderr(stderr);
            Command::from(command).spawn()
        });
        Ok(Process::new(child?, backend, self.temp))
    }
}

/// Returns whether there is such a program on PATH, or at this path.
fn exists(program: &OsStr, cwd: &Path) -> bool {
    match program.as_encoded_bytes().contains(&b'/') {
        true => cwd.join(program).exists(),
        false => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
        }
    }
}
