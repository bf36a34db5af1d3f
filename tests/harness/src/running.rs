//! Processes whose output is kept, and what they are found to have said and done.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    time::Instant,
};

use neuron_patience::patience;
use serde_json::Value;

use crate::{Process, poll::patiently};

/// A process under way. Dropping it kills it.
#[derive(Debug)]
pub struct Running {
    process: Process,
    line: String,
    stdout: PathBuf,
    stderr: PathBuf,
    started: Instant,
}

impl Running {
    /// Starts a command without input. What it prints goes to `<place>.out` and `<place>.err`: a pipe could
    /// fill up, and would be held open by whatever outlives the process.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
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

    /// The process's id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// When it was started.
    #[must_use]
    pub fn started(&self) -> Instant {
        self.started
    }

    /// What it has printed to standard output so far.
    #[must_use]
    pub fn stdout(&self) -> String {
        read(&self.stdout)
    }

    /// What it has printed to standard error so far.
    #[must_use]
    pub fn stderr(&self) -> String {
        read(&self.stderr)
    }

    /// Whether it has not ended by itself.
    ///
    /// # Panics
    ///
    /// If the operating system does not say.
    pub fn is_running(&mut self) -> bool {
        self.process.ended().unwrap().is_none()
    }

    /// Waits for its end.
    ///
    /// # Panics
    ///
    /// If it does not come in time; what it printed is in the message.
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

    /// Kills it with SIGKILL: it gets to do nothing more, and what it started is not told.
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
    /// Its exit code; `None` where a signal ended it.
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
    /// If it is another one; what the process printed is in the message.
    #[must_use]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "exit code of {self:#?}");
        self
    }

    /// Standard output as exactly one JSON value.
    ///
    /// # Panics
    ///
    /// If it is anything else.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:#?}"))
    }

    /// Standard output as one JSON value a line.
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

    /// Checks that standard error is a sentence that holds all of these, in any case, and no debugging
    /// output.
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
