//! Asking a program: JSON in, JSON out.

use std::{path::PathBuf, process::Stdio, time::Duration};

use neuron_types::GuardError;
use serde::Serialize;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::Command,
};

/// The variables of this process that a program gets, if they are set: what it takes to find programs and to write
/// words. No key is among them.
const INHERITED: [&str; 7] = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "USER"];

/// How much a program may answer, in bytes.
const MOST_ANSWERED: u64 = 1024 * 1024;

/// How much is quoted of what it complains about, in bytes.
const MOST_QUOTED: u64 = 2_000;

/// A program that is asked something, and the time that it has for an answer.
///
/// It is started for each question, without a shell, and reads one JSON object on its standard input. It inherits `PATH`,
/// `HOME` and a few more variables, and no others: no keys. When its time is over it is killed; what it started by itself is
/// not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    words: Vec<String>,
    directory: Option<PathBuf>,
    inherited: Vec<String>,
    timeout: Duration,
}

impl Program {
    /// Returns the program of these words. The first is its name. It has 10 seconds.
    #[must_use]
    pub fn new(words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            words: words.into_iter().map(Into::into).collect(),
            directory: None,
            inherited: Vec::new(),
            timeout: Duration::from_secs(10),
        }
    }

    /// Sets the directory that it is started in. Default is that of this process.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets variables of this process that it inherits, too.
    #[must_use]
    pub fn inheriting(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.inherited = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets how long it may take for an answer.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Returns how long it may take for an answer.
    pub(crate) const fn most(&self) -> Duration {
        self.timeout
    }

    /// Asks it, and returns what it wrote on its standard output.
    pub(crate) async fn ask(&self, question: &impl Serialize) -> Result<String, GuardError> {
        let name = self.words.first().map_or("", String::as_str);
        let error = |what: &str, source: std::io::Error| GuardError {
            message: format!("the program {name:?} {what}"),
            source: Some(source.into()),
        };
        let question = serde_json::to_vec(question).map_err(|source| GuardError {
            message: "what the program is asked is no JSON".to_owned(),
            source: Some(source.into()),
        })?;
        let own = self.inherited.iter().map(String::as_str);
        let inherited = INHERITED.into_iter().chain(own);
        let mut command = Command::new(name);
        command
            .args(self.words.iter().skip(1))
            .env_clear()
            .envs(inherited.filter_map(|name| Some((name, std::env::var_os(name)?))))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        let mut child = command
            .spawn()
            .map_err(|source| error("could not be started", source))?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let write = async {
            if let Some(mut stdin) = stdin {
                // One that does not read what it is asked may answer all the same.
                drop(stdin.write_all(&question).await);
            }
        };
        let (mut answer, mut complaint) = (Vec::new(), Vec::new());
        let read = async {
            match stdout {
                Some(stdout) => {
                    stdout
                        .take(MOST_ANSWERED + 1)
                        .read_to_end(&mut answer)
                        .await
                }
                None => Ok(0),
            }
        };
        let read_complaint = async {
            if let Some(mut stderr) = stderr {
                let mut quoted = (&mut stderr).take(MOST_QUOTED);
                drop(quoted.read_to_end(&mut complaint).await);
                // The rest is read, so that the program does not block on a full pipe.
                drop(tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await);
            }
        };
        let (_, read, ()) = tokio::join!(write, read, read_complaint);
        read.map_err(|source| error("could not be read from", source))?;
        if answer.len() as u64 > MOST_ANSWERED {
            let message = format!("the program {name:?} answered more than {MOST_ANSWERED} bytes");
            return Err(GuardError::new(message));
        }
        let status = child.wait().await;
        let status = status.map_err(|source| error("could not be waited for", source))?;
        if !status.success() {
            let complaint = String::from_utf8_lossy(&complaint);
            let message = format!(
                "the program {name:?} ended with {status}: {}",
                complaint.trim()
            );
            return Err(GuardError::new(message));
        }
        String::from_utf8(answer).map_err(|source| GuardError {
            message: format!("what the program {name:?} answered is no text"),
            source: Some(source.into()),
        })
    }
}
