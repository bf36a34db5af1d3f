//! What can go wrong with a command, and how it is told.

use std::{error::Error, io, iter::successors, path::PathBuf};

use neuron_runtime::{AgentFileError, JournalError};
use neuron_types::{DurableError, RunId};

use crate::{Exit, output::note, shown};

/// What can go wrong with a command. Each message says what is wrong and what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("there is no prompt: give it as an argument, `neuron run \"…\"`, or on standard input")]
    NoPrompt,
    #[error("the message is empty: give a text")]
    EmptyMessage,
    #[error("standard input cannot be read as text: give the text as an argument")]
    Stdin(#[source] io::Error),
    #[error("standard output cannot be written: check where it goes")]
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
        "there is no agent file {}: write it, or leave --config and NEURON_CONFIG out", .path.display()
    )]
    NoAgentFile { path: PathBuf },
    #[error(transparent)]
    AgentFile(#[from] AgentFileError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("{what} is not JSON: nothing was sent, mind your shell's quotes")]
    NotJson {
        what: &'static str,
        source: serde_json::Error,
    },
    #[error("the arguments must be a JSON object, not {found}: nothing was sent")]
    NotAnObject { found: &'static str },
    #[error("run {run_id} has no open ticket: `neuron status {run_id}` says where it stands")]
    NoOpenTicket { run_id: RunId },
    #[error(
        "run {run_id} has {} open tickets, {}: name the one that you mean", .tickets.len(), .tickets.join(", ")
    )]
    SeveralTickets { run_id: RunId, tickets: Vec<String> },
    /// Something kept the run from going on; it did not end.
    #[error("run {run_id} cannot go on here: `neuron resume {run_id}` when that is mended")]
    Stuck { run_id: RunId, source: DurableError },
}

impl CliError {
    /// Whether nobody reads standard output any more, which is not an error.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Stdout(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Tells it on standard error: the sentence and the first cause that says more; every cause if
    /// `verbose`.
    pub(crate) fn tell(&self, verbose: bool) {
        let message = self.to_string();
        note(&format!("error: {}", shown::text(&message)));
        let mut told = message;
        for cause in successors(self.source(), |cause: &&dyn Error| (*cause).source()) {
            let text = cause.to_string();
            if !verbose && told.contains(&text) {
                continue;
            }
            note(&format!("  because {text}"));
            if !verbose {
                return;
            }
            told = text;
        }
    }

    /// What the process exits with.
    #[allow(clippy::unused_self, reason = "the one place that decides")]
    pub(crate) fn exit(&self) -> Exit {
        if self.is_broken_pipe() {
            Exit::Done
        } else {
            Exit::Usage
        }
    }
}
