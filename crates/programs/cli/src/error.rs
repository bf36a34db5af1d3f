//! The errors of commands.

use std::{error::Error, io, path::PathBuf};

use neuron_approvers::{SignError, StatementError};
use neuron_config::AgentFileError;
use neuron_engine::RunClientError;
use neuron_local::{JournalError, SessionError};
use neuron_mcp::McpError;
use neuron_types::{DurableError, InvalidRunId, OverrideRejected, RunId, causes};
use neuron_worker::WorkerError;

use crate::{
    Exit,
    advice::{self, EngineError, of_journal},
    args::EngineName,
    home::trust::Foreign,
};

/// The error of a command. Each message states what is wrong and what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("there is no prompt: give it as an argument, `neuron run \"…\"`, or on standard input")]
    NoPrompt,
    #[error("the message is empty: give a text")]
    EmptyMessage,
    #[error("standard input cannot be read as text: give the text as an argument")]
    Stdin(#[source] io::Error),
    #[error("standard output cannot be written: check its destination")]
    Stdout(#[source] io::Error),
    #[error("the terminal cannot be read: decide with `neuron approve` or `neuron deny`")]
    Terminal(#[source] io::Error),
    #[error("the process cannot listen for signals: try again")]
    Signals(#[source] io::Error),
    #[error("the threads of the process cannot be started: try again")]
    Threads(#[source] io::Error),
    #[error("there is no working directory: change to one that exists")]
    WorkingDirectory(#[source] io::Error),
    #[error(
        "run {run_id} works in {}, which cannot be entered: restore the directory, or continue in this one with \
         `neuron resume {run_id} --here`",
        .path.display()
    )]
    RunDirectory {
        run_id: RunId,
        path: PathBuf,
        source: io::Error,
    },
    #[error(
        "run {run_id} has no directory of its own, because an older neuron or another program started it: change to \
         the directory for its work, and type `neuron resume {run_id} --here`"
    )]
    NoRunDirectory { run_id: RunId },
    #[error(
        "there is no agent file {}: write it, or leave --config and NEURON_CONFIG out", .path.display()
    )]
    NoAgentFile { path: PathBuf },
    #[error("run {run_id} has no turn {turn}: leave --turn out to see all of it")]
    NoTurn { run_id: RunId, turn: u32 },
    #[error("{source}: {advice}")]
    Untrusted {
        advice: String,
        source: AgentFileError,
    },
    #[error("{}", advice::of_foreign_home(.path, .why, *.can_be_kept))]
    ForeignHome {
        path: PathBuf,
        why: Foreign,
        /// Whether the trust can be recorded.
        can_be_kept: bool,
    },
    #[error("there is no agent file and no .neuron in {}: name a directory that has one", .path.display())]
    NothingToTrust { path: PathBuf },
    #[error("there is no directory for the list of what is trusted: set HOME or XDG_STATE_HOME")]
    NoTrustStore,
    #[error(
        "the list of what is trusted cannot be written: check the permissions of HOME or XDG_STATE_HOME, and of the \
         trusted directory"
    )]
    TrustStore(#[source] io::Error),
    #[error(transparent)]
    RunId(#[from] InvalidRunId),
    #[error(transparent)]
    AgentFile(AgentFileError),
    #[error("{0}: nothing was started")]
    Rejected(#[from] OverrideRejected),
    #[error(transparent)]
    Mcp(#[from] McpError),
    #[error("{}", of_journal(.0))]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[cfg(feature = "temporal")]
    #[error(
        "{} cannot be replayed: name a history as `temporal workflow show --output json` prints it", .path.display()
    )]
    History {
        path: PathBuf,
        source: neuron_temporal::ReplayError,
    },
    #[cfg(feature = "temporal")]
    #[error("nothing can be replayed in this process: try again")]
    Replayer(#[source] Box<dyn Error + Send + Sync>),
    #[error(
        "this build of neuron has no MCP, which {}: install one that has it with \
         `cargo install --path crates/programs/cli --features mcp`, or run \
         `cargo run -p neuron-cli --features mcp --`",
        .server.as_ref().map_or_else(|| "this command needs".to_owned(), |name| format!("the server {name} of the agent file needs"))
    )]
    NoMcp { server: Option<String> },
    #[allow(dead_code, reason = "no engine is missing in a build with all of them")]
    #[error(
        "this build of neuron does not support {engine}: install one that does with \
         `cargo install --path crates/programs/cli --features {engine}`, or run \
         `cargo run -p neuron-cli --features {engine} --`"
    )]
    NotBuilt { engine: EngineName },
    #[error(
        "{engine} has a worker of its own: start it with `{}`, or use --engine local", engine.worker()
    )]
    WorkerElsewhere { engine: EngineName },
    #[error("{engine} deletes its runs itself, after its own retention period")]
    RetentionElsewhere { engine: EngineName },
    #[error(transparent)]
    Sessions(SessionError),
    #[error("{} cannot be read: name a file that `neuron sessions export` wrote", .path.display())]
    SessionFile { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Worker(#[from] WorkerError),
    #[error(
        "run executes an agent here and not on {engine}: use `neuron submit --wait`, or --engine local"
    )]
    RunElsewhere { engine: EngineName },
    #[error(
        "{engine} continues its runs by itself: follow one with `neuron wait`, or use --engine local"
    )]
    ResumeElsewhere { engine: EngineName },
    #[error(
        "the program {name} is not installed: install it with `{install}`, or set {variable} to its path"
    )]
    NoProgram {
        name: &'static str,
        install: &'static str,
        variable: &'static str,
    },
    #[error("{variable} is not an address ({value}): give a host and a port, or unset it")]
    Address {
        variable: &'static str,
        value: String,
    },
    #[error(
        "{variable} names another machine ({value}), where no server answers: unset it to start a server here"
    )]
    ElsewhereAddress {
        variable: &'static str,
        value: String,
    },
    #[error("{name} cannot be started: check its program and the directory that NEURON_HOME names")]
    DevStart {
        name: &'static str,
        source: io::Error,
    },
    #[error("{name} {what}: see {log}")]
    DevLost {
        name: &'static str,
        what: String,
        log: String,
    },
    #[error("{what} is not JSON, and nothing was sent: check the quotes of your shell")]
    NotJson {
        what: &'static str,
        source: serde_json::Error,
    },
    #[error("the arguments must be a JSON object, not {found}: nothing was sent")]
    NotAnObject { found: &'static str },
    #[error("run {run_id} has no open ticket: `neuron status {run_id}` shows its state")]
    NoOpenTicket { run_id: RunId },
    #[error(
        "run {run_id} has {} open tickets, {}: name the one that you mean", .tickets.len(), .tickets.join(", ")
    )]
    SeveralTickets { run_id: RunId, tickets: Vec<String> },
    #[error(
        "run {run_id} has no open ticket{}, and below it {open} {}: {} `{typed}`",
        .ticket.as_ref().map(|ticket| format!(" {ticket}")).unwrap_or_default(),
        if *.are_several { "are open" } else { "is open" },
        if *.are_several { "name the one that you mean, as in" } else { "type" }
    )]
    TicketsBelow {
        run_id: RunId,
        /// The ticket that was named.
        ticket: Option<String>,
        /// The open tickets, each with its run.
        open: String,
        are_several: bool,
        typed: String,
    },
    #[error("run {child} is not below run {run_id}: {below}")]
    NotBelow {
        run_id: RunId,
        child: String,
        /// The runs with open tickets.
        below: String,
    },
    #[error(
        "decisions about this run must be signed by one of {approvers}: name the key with --sign, or start \
         ssh-agent and add it with `ssh-add`"
    )]
    NobodySigns { approvers: String },
    #[error("no approver has the key {key}: sign with one of {approvers}")]
    Stranger { key: String, approvers: String },
    #[error("nothing was decided: {0}{advice}", advice = advice::of_signing(.0))]
    Sign(#[from] SignError),
    #[error("nothing was decided: {0}")]
    NoStatement(#[from] StatementError),
    #[error(
        "run {run_id} rejected the decision about ticket {ticket}: {reason}{}", advice::of_rejection(.reason)
    )]
    NotTaken {
        run_id: RunId,
        ticket: String,
        reason: String,
    },
    #[error(
        "run {run_id} cannot continue with this command: {why}; start the program that serves its agent, or name an \
         agent file with that agent with --config"
    )]
    OtherProgram { run_id: RunId, why: String },
    /// An error kept the run from continuing; it did not end.
    #[error("run {run_id} cannot continue here: fix the cause, then type `neuron resume {run_id}`")]
    Stuck {
        run_id: RunId,
        source: Box<dyn Error + Send + Sync>,
    },
}

impl From<AgentFileError> for CliError {
    fn from(error: AgentFileError) -> Self {
        match error {
            AgentFileError::NoFile { path } => Self::NoAgentFile { path },
            AgentFileError::Untrusted { ref path, .. } => Self::Untrusted {
                advice: advice::of_trust(path),
                source: error,
            },
            AgentFileError::McpNotBuilt { server } => Self::NoMcp {
                server: Some(server),
            },
            other => Self::AgentFile(other),
        }
    }
}

impl CliError {
    /// Returns the error for a run that an error kept from continuing.
    pub(crate) fn stuck(run_id: &RunId, error: DurableError) -> Self {
        Self::Stuck {
            run_id: run_id.clone(),
            source: match error {
                // That an engine failed is no news here: there is one engine, and its error names the part.
                DurableError::Engine { source } => source,
                other => Box::new(other),
            },
        }
    }

    /// Returns whether standard output has no reader any more, which is not an error.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Stdout(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Returns what standard error shows: the sentence and the first cause that adds something; every cause if
    /// `verbose`.
    pub(crate) fn lines(&self, verbose: bool) -> Vec<String> {
        let causes = causes(self).take(if verbose { usize::MAX } else { 1 });
        let causes = causes.map(|cause| format!("  because {cause}"));
        std::iter::once(format!("error: {self}"))
            .chain(causes)
            .collect()
    }

    /// Returns the exit code of the process.
    pub(crate) fn exit(&self) -> Exit {
        if self.is_broken_pipe() {
            return Exit::Done;
        }
        match self {
            Self::NotTaken { .. } => Exit::RunFailed,
            _ => Exit::Usage,
        }
    }
}

impl From<SessionError> for CliError {
    fn from(error: SessionError) -> Self {
        match error {
            // The advice depends on the engine.
            SessionError::Engine(error) => error.into(),
            error => Self::Sessions(error),
        }
    }
}

impl From<RunClientError> for CliError {
    fn from(error: RunClientError) -> Self {
        Self::Engine(EngineError(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stuck() -> CliError {
        let cause = io::Error::other("no space left");
        let run_id = RunId::new("r1").unwrap();
        CliError::stuck(&run_id, DurableError::engine(CliError::Stdout(cause)))
    }

    #[test]
    fn tells_the_first_cause() {
        assert_eq!(
            stuck().lines(false),
            [
                "error: run r1 cannot continue here: fix the cause, then type `neuron resume r1`",
                "  because standard output cannot be written: check its destination",
            ]
        );
    }

    #[test]
    fn tells_every_cause_if_verbose() {
        assert_eq!(
            stuck().lines(true).last().unwrap(),
            "  because no space left"
        );
    }

    #[test]
    fn tells_no_cause_that_the_sentence_holds() {
        let source = serde_json::from_str::<bool>("x").unwrap_err();
        let error = CliError::Stuck {
            run_id: RunId::new("r1").unwrap(),
            source: source.to_string().into(),
        };
        assert_eq!(error.lines(false).len(), 2);
        let repeated = CliError::AgentFile(AgentFileError::Read {
            path: "neuron.toml".into(),
            source: io::Error::other("no such thing"),
        });
        assert_eq!(repeated.lines(true).len(), 1, "{:?}", repeated.lines(true));
    }
}
