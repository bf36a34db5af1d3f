//! Processes whose output is kept, and checks of what they printed and did.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    time::Instant,
};

use neuron_patience::patience;
use serde_json::Value;

use crate::{Process, poll::patiently};

/// A running process. Dropping it kills it.
#[derive(Debug)]
pub struct Running {
    process: Process,
    line: String,
    stdout: PathBuf,
    stderr: PathBuf,
    started: Instant,
}

impl Running {
    /// Starts a command without input. Its output goes to `<place>.out` and `<place>.err`: a pipe could fill up, and
    /// would be kept open by any process that outlives this one.
    ///
    /// # Panics
    ///
    /// If the process cannot be started.
    #[must_use]
    pub fn start(mut command: Command, place: &Path) -> Self {
        let (stdout, stderr) = (place.with_extension("out"), place.with_extension("err"));
        let line = format!("{command:?}");
        command
            .stdout(File::create(&stdout).unwrap())
            .stderr(File::create(&stderr).unwrap());
        let process = Process::start(&mut command)
            .unwrap_or_else(|error| panic!("{line} cannot be started: {error}"));
        Self {
            process,
            line,
            stdout,
            stderr,
            started: Instant::now(),
        }
    }

    /// Returns the process's id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Returns when it was started.
    #[must_use]
    pub fn started(&self) -> Instant {
        self.started
    }

    /// Returns what it has printed to standard output so far.
    #[must_use]
    pub fn stdout(&self) -> String {
        read(&self.stdout)
    }

    /// Returns what it has printed to standard error so far.
    #[must_use]
    pub fn stderr(&self) -> String {
        read(&self.stderr)
    }

    /// Returns whether the process has not ended by itself.
    ///
    /// # Panics
    ///
    /// If the operating system does not report it.
    pub fn is_running(&mut self) -> bool {
        self.process.ended().unwrap().is_none()
    }

    /// Waits for the end of the process.
    ///
    /// # Panics
    ///
    /// If the process does not end in time; its output is in the message.
    #[must_use]
    pub fn finish(mut self) -> Finished {
        let ended = patiently(|| self.process.ended().unwrap());
        let status = ended.unwrap_or_else(|| {
            panic!(
                "no end of {} within {:?}\n{}{}",
                self.line,
                patience(),
                self.stdout(),
                self.stderr()
            )
        });
        self.finished(status)
    }

    /// Kills the process with SIGKILL: it can do nothing more, and its own children are not notified.
    ///
    /// # Panics
    ///
    /// If that fails.
    #[must_use]
    pub fn kill(mut self) -> Finished {
        self.process.kill().unwrap();
        let status = self.process.wait().unwrap();
        self.finished(status)
    }

    fn finished(&self, status: ExitStatus) -> Finished {
        Finished {
            line: self.line.clone(),
            code: status.code(),
            stdout: self.stdout(),
            stderr: self.stderr(),
        }
    }
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

/// A process that has ended.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The command, as it was given to the operating system.
    pub line: String,
    /// The process's exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What it printed to standard output.
    pub stdout: String,
    /// What it printed to standard error.
    pub stderr: String,
}

impl Finished {
    /// Checks the exit code.
    ///
    /// # Panics
    ///
    /// If it has another one; the output of the process is in the message.
    #[must_use]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "exit code of {self:#?}");
        self
    }

    /// Returns standard output as exactly one JSON value.
    ///
    /// # Panics
    ///
    /// If it is anything else.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:#?}"))
    }

    /// Returns standard output as one JSON value a line.
    ///
    /// # Panics
    ///
    /// If it is anything else.
    #[must_use]
    pub fn json_lines(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {self:#?}"))
            })
            .collect()
    }

    /// Checks that standard error is a sentence that contains all of these parts, in any case, and no debugging output.
    ///
    /// # Panics
    ///
    /// If it is not.
    pub fn says(&self, parts: &[&str]) {
        let told = self.stderr.to_lowercase();
        for part in parts {
            let part = part.to_lowercase();
            assert!(
                told.contains(&part),
                "standard error lacks {part:?}: {self:#?}"
            );
        }
        for noise in ["panicked", "backtrace", "unwrap()"] {
            assert!(
                !told.contains(noise),
                "{noise} on standard error: {self:#?}"
            );
        }
    }
}
