//! A folder to work in and a home for runs, and the `neuron` command in them.

use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{Finished, Running, built};

/// The folders of one test. Dropping it removes everything.
#[derive(Debug)]
pub struct World {
    folder: TempDir,
    variables: Vec<(String, String)>,
    processes: AtomicUsize,
}

impl World {
    /// Returns an empty working directory and an empty home.
    ///
    /// # Panics
    ///
    /// If the folders cannot be made.
    #[must_use]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        Self {
            folder,
            variables: Vec::new(),
            processes: AtomicUsize::new(0),
        }
    }

    /// Sets a variable of the processes to come. They have few variables: no key, no proxy and no `NEURON_…` of the
    /// test's own environment reaches them. They trust the agent files that they find.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.variables.push((name.to_owned(), value.into()));
    }

    /// Returns the working directory.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Returns a path in the working directory.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.work().join(name)
    }

    /// Returns the content of a file in the working directory; empty if the file is missing.
    #[must_use]
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap_or_default()
    }

    /// Writes a file in the working directory.
    ///
    /// # Panics
    ///
    /// If that fails.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.file(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns `NEURON_HOME`. The folder is empty before the first command.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Returns the path of the journal's database.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.home().join("neuron.db")
    }

    /// Returns the command, ready to be changed and started with [`launch`](Self::launch).
    #[must_use]
    pub fn command<A: AsRef<OsStr>>(&self, args: &[A]) -> Command {
        let mut command = self.plain(neuron());
        command.args(args);
        command
    }

    /// Returns another program with the environment that [`command`](Self::command) gets.
    #[must_use]
    pub fn plain(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.work())
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("NEURON_HOME", self.home())
            .env("NEURON_TRUST", "1")
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Starts a command.
    #[must_use]
    pub fn launch(&self, command: Command) -> Running {
        let number = self.processes.fetch_add(1, Ordering::Relaxed);
        Running::start(
            command,
            &self.folder.path().join(format!("process-{number}")),
        )
    }

    /// Starts `neuron` with these arguments.
    #[must_use]
    pub fn start(&self, args: &[&str]) -> Running {
        self.launch(self.command(args))
    }

    /// Runs `neuron` with these arguments to its end.
    #[must_use]
    pub fn neuron(&self, args: &[&str]) -> Finished {
        self.start(args).finish()
    }

    /// Runs `neuron` with these arguments to its end, and checks its exit code.
    ///
    /// # Panics
    ///
    /// If the exit code is another one.
    pub fn does(&self, code: i32, args: &[&str]) {
        drop(self.neuron(args).exits(code));
    }

    /// Returns the run's events.
    #[must_use]
    pub fn events(&self, run: &str) -> Vec<Value> {
        self.neuron(&["events", run, "--json"])
            .exits(0)
            .json_lines()
    }

    /// Returns the run's events of one type.
    #[must_use]
    pub fn events_of(&self, run: &str, kind: &str) -> Vec<Value> {
        let mut events = self.events(run);
        events.retain(|event| event["type"] == kind);
        events
    }

    /// Returns the run's status.
    #[must_use]
    pub fn status(&self, run: &str) -> Value {
        self.neuron(&["status", run, "--json"]).exits(0).json()
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the root folder of the workspace.
#[must_use]
pub fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap().to_path_buf()
}

/// Returns the path of the command: that of `NEURON_BIN`, or that beside the tests.
fn neuron() -> PathBuf {
    let path = env::var_os("NEURON_BIN").map_or_else(beside_the_tests, PathBuf::from);
    assert!(
        path.is_file(),
        "there is no command {}: run the tests with `cargo xtask test`, or build it with \
         `cargo build -p neuron-cli`",
        path.display()
    );
    path
}

fn beside_the_tests() -> PathBuf {
    let folder = built::folder().unwrap();
    folder
        .join("neuron")
        .with_extension(env::consts::EXE_EXTENSION)
}
