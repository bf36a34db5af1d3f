//! The errors of chores.

use std::error::Error as _;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Why a chore stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Error {
    /// A command could not be started at all.
    #[error("`{command}` could not be started")]
    Start { command: String, source: io::Error },

    /// A command failed whose output was shown.
    #[error("`{command}` failed ({status})")]
    Failed { command: String, status: ExitStatus },

    /// A command failed whose output was captured.
    #[error("`{command}` failed ({status}):\n{output}")]
    FailedQuietly {
        command: String,
        status: ExitStatus,
        output: String,
    },

    /// A file or folder could not be read, written or moved.
    #[error("{path} could not be {action}")]
    File {
        path: PathBuf,
        action: &'static str,
        source: io::Error,
    },

    /// The lock file is not valid.
    #[error("{path} is not a valid lock of engines")]
    Lock {
        path: PathBuf,
        source: toml::de::Error,
    },

    /// The named program is not in the lock file.
    #[error("there is no engine named `{name}`; the known ones are {known}")]
    UnknownProgram { name: String, known: String },

    /// The lock file has no package for this machine.
    #[error(
        "{name} {version} has no package for {platform}: install it yourself and put it on PATH"
    )]
    UnsupportedPlatform {
        name: String,
        version: String,
        platform: String,
    },

    /// The package client that would fetch a program is not installed.
    #[error(
        "{name} cannot be fetched because {client} is not installed: install {install}{instead}"
    )]
    ClientMissing {
        name: String,
        client: &'static str,
        install: &'static str,
        instead: String,
    },

    /// A client reported that it fetched a package, and there is not exactly one file.
    #[error("`{command}` was expected to leave one file in {folder} and left {count}")]
    NotOneFile {
        command: String,
        folder: PathBuf,
        count: usize,
    },

    /// The fetched package is not the one in the lock file.
    #[error(
        "{package} {version} has the SHA-256 {found} and the lock file says {expected}: \
         it was not unpacked"
    )]
    Digest {
        package: String,
        version: String,
        expected: String,
        found: String,
    },

    /// A package was unpacked and the program is not where the lock file names it.
    #[error("{package} {version} has no file `{program}`: correct `program` in the lock file")]
    ProgramMissing {
        package: String,
        version: String,
        program: PathBuf,
    },

    /// Node.js is not installed, and a program needs it.
    #[error("{name} runs on Node.js, which is not installed: install Node.js {minimum} or newer")]
    NodeMissing { name: String, minimum: String },

    /// Node.js is too old for a program.
    #[error("{name} needs Node.js {minimum} or newer, and this is {found}: install a newer one")]
    NodeTooOld {
        name: String,
        minimum: String,
        found: String,
    },

    /// Several programs could not be found.
    #[error("{}", .0.iter().map(Self::with_causes).collect::<Vec<_>>().join("\nerror: "))]
    Several(Vec<Self>),

    /// Cargo built the workspace and reported no program of this name.
    #[error("the workspace has no program named `{name}`")]
    NotBuilt { name: &'static str },

    /// Pages or links of the documentation are wrong.
    #[error("the documentation has {} problem(s):\n{}", .0.len(), .0.join("\n"))]
    Docs(Vec<String>),

    /// A crate that is replayed has lints of its own.
    #[error("clippy must read crates/core/clippy.toml and not: {}", .0.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", "))]
    Lints(Vec<PathBuf>),

    /// Adapters of engines depend on what they should do without.
    #[error("an adapter brings its engine and no more:\n{}", .0.join("\n"))]
    Adapters(Vec<String>),

    /// Lines of tests name a time without a reason.
    #[error("{} line(s) of tests name a time without a reason behind it, as in `// Between two looks.`:\n{}", .0.len(), .0.join("\n"))]
    Clock(Vec<String>),

    /// The report of the tests cannot be read.
    #[error("{path} is no report of tests")]
    Report {
        path: PathBuf,
        source: Box<dyn std::error::Error + Send + Sync>,
    },

    /// Programs that the tests start are not installed.
    #[error("the tests need programs that are not here; on Debian `apt-get install {packages}` brings them:\n  {}", .missing.join("\n  "))]
    Needs {
        missing: Vec<String>,
        packages: String,
    },

    /// The run at which shaking is to continue is after the last one.
    #[error("there is no such run: `--from` is a number up to that of `--shake`")]
    NoRuns,

    /// A seed is not a number.
    #[error("NEURON_TEST_SEED is {said:?}: it must be a whole number")]
    Seed { said: String },

    /// Tests failed while the machine was shaken.
    #[error("{} test(s) failed. Each again:\n  {}", .0.len(), .0.join("\n  "))]
    Shaken(Vec<String>),

    /// A source file is not Rust.
    #[error("{path} is not Rust")]
    Syntax { path: PathBuf, source: syn::Error },

    /// The output of cargo about the workspace is not as expected.
    #[error("the output of cargo metadata cannot be read")]
    Metadata(#[source] serde_json::Error),

    /// Commits have long subjects.
    #[error("the subject of a commit has at most 72 characters:\n{}", .0.join("\n"))]
    Subjects(Vec<String>),

    /// The changelog or its fragments break the rules.
    #[error("{} problem(s) with the changelog, by the rules of changelog.d/README.md:\n{}", .0.len(), .0.join("\n"))]
    Changelog(Vec<String>),

    /// Commits have subjects with a verb that is not used here.
    #[error("the subject of a commit names the change: begin with fix, check, allow, add, report or return instead:\n{}", .0.join("\n"))]
    Verbs(Vec<String>),

    /// Prose has words that are not used here.
    #[error("{} place(s) have a word that prose here does without:\n{}", .0.len(), .0.join("\n"))]
    Words(Vec<String>),

    /// Files need each other.
    #[error("there are {} circle(s); move what closes them:\n{}", .0.len(), .0.join("\n"))]
    Circles(Vec<String>),

    /// One or more steps of the checks failed; each has reported its error already.
    #[error("failed: {}", .0.join(", "))]
    Steps(Vec<&'static str>),
}

impl Error {
    /// Returns the message followed by the messages of its causes.
    pub(crate) fn with_causes(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}
