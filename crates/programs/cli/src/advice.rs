//! What to do about an engine's errors: the errors hold facts, and this is where commands are named.

use std::{error::Error, fmt, path::Path};

use clap::ValueEnum as _;
use neuron_approvers::{AgentError, SignError, VerifyError};
use neuron_engine::RunClientError;
use neuron_local::JournalError;
use neuron_types::Refusal;

use crate::{args::EngineName, home::trust::Foreign, terminal::shown};

/// An error of an engine, and what to do about it.
#[derive(Debug)]
pub(crate) struct EngineError(pub(crate) RunClientError);

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use RunClientError as E;

        let error = &self.0;
        match error {
            E::UnknownRun { .. } => {
                write!(f, "{error}: `neuron runs` lists the runs")
            }
            E::RunExists { .. } => write!(f, "{error}: choose another id"),
            E::Rejected {
                refusal: Some(refusal),
                ..
            } => f.write_str(&of_refusal(refusal)),
            E::BadSignal(_) => write!(f, "{error}: use the command for it"),
            E::TooLarge { .. } => write!(
                f,
                "{error}: make it shorter, or let the agent read it from a file"
            ),
            E::NoWorker {
                engine,
                is_kept: false,
                ..
            } => write!(
                f,
                "{error}: start the worker of its agent, {}; the run then continues",
                any_worker(engine)
            ),
            E::NoWorker { engine, .. } => write!(
                f,
                "{error}; the request waits for a worker: start the worker of its agent, {}",
                any_worker(engine)
            ),
            E::Unreachable { engine, .. } => write!(
                f,
                "{error}: start it, for example with `neuron dev`, or set {}",
                variables(engine)
            ),
            E::Failed { .. } => write!(
                f,
                "{error}: check that the server is healthy and that its worker has this version"
            ),
            E::Storage { source, .. } => match source.downcast_ref() {
                Some(error) => f.write_str(&of_journal(error)),
                None => write!(f, "{source}"),
            },
            E::Settings { engine, .. } if *engine == EngineName::Temporal.as_str() => f.write_str(
                "the settings for Temporal cannot be used: check TEMPORAL_ADDRESS, the other TEMPORAL_ variables and \
                 temporal.toml",
            ),
            E::Settings { source, .. } => write!(f, "{source}"),
            _ => write!(f, "{error}"),
        }
    }
}

impl Error for EngineError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// Returns what to do if a decision cannot be signed and the error does not state it.
pub(crate) const fn of_signing(error: &SignError) -> &'static str {
    match error {
        SignError::Ask { .. } => {
            "; type it in a terminal, or add the key to ssh-agent with `ssh-add`"
        }
        SignError::NoIdentity { .. } => ", or name a key file with --sign",
        SignError::Agent(AgentError::Connect { .. }) => {
            "; start one and add your key with `ssh-add`, or name a key file with --sign"
        }
        _ => "",
    }
}

/// Returns what to do if a run rejected a decision.
pub(crate) fn of_rejection(reason: &str) -> &'static str {
    if reason == VerifyError::Unsigned.to_string() {
        "; its worker has approvers: name your key with --sign"
    } else {
        ""
    }
}

/// Returns why a run rejects a request, and what to do about it.
fn of_refusal(refusal: &Refusal) -> String {
    let advice = match refusal {
        Refusal::RunOver { run_id, .. } => format!("`neuron wait {run_id}` prints its output"),
        Refusal::UnknownTicket { run_id, .. } => {
            format!("list its open tickets with `neuron approvals {run_id}`")
        }
        Refusal::AlreadyDecided { run_id, .. } => {
            format!(
                "`neuron events {run_id}` shows the approver once the run has applied the decision"
            )
        }
        Refusal::TicketExpired { run_id, .. } => {
            format!("`neuron events {run_id}` shows the outcome")
        }
        Refusal::WrongDigest { run_id, .. } => {
            format!("review it again with `neuron approvals {run_id}`")
        }
        _ => return refusal.to_string(),
    };
    format!("{refusal}: {advice}")
}

/// Returns what to do about an agent file that no person has trusted.
pub(crate) fn of_trust(path: &Path) -> String {
    let folder = path.parent().unwrap_or(path).to_string_lossy();
    format!(
        "review it, then type `neuron trust {}`, or set NEURON_TRUST=1",
        shown::shell_word(&folder)
    )
}

/// Returns what to do about a home of runs that is not recorded as this person's own.
pub(crate) fn of_foreign_home(home: &Path, why: &Foreign, can_be_kept: bool) -> String {
    let (folder, home) = (
        home.parent().unwrap_or(home).to_string_lossy(),
        home.to_string_lossy(),
    );
    let named = shown::line(&home);
    let how = match why {
        Foreign::Database => {
            "it came with the directory, or an older neuron or another program created it"
                .to_owned()
        }
        Foreign::Moved(before) => {
            let before = before.to_string_lossy();
            format!("it was moved or copied from {}", shown::line(&before))
        }
        Foreign::Link => {
            return format!(
                "the home {named} is a link, and NEURON_HOME does not name it: set NEURON_HOME to the target of the \
                 link if that is your own"
            );
        }
    };
    let advice = match can_be_kept {
        true => format!(
            "type `neuron trust {}`, set NEURON_HOME to it, or set NEURON_TRUST=1",
            shown::shell_word(&folder)
        ),
        // The trust could not be recorded.
        false => "set NEURON_HOME to it, or NEURON_TRUST=1".to_owned(),
    };
    format!(
        "the home {named} is not trusted: {how}. Its runs decide what is executed, and in which directory: review \
         them with `neuron runs`, then {advice}"
    )
}

/// Returns what failed in the journal, and what to do about it.
pub(crate) fn of_journal(error: &JournalError) -> String {
    match error {
        JournalError::Home { .. } => {
            format!("{error}: set NEURON_HOME to a directory that you may write")
        }
        JournalError::Exposed { .. } => {
            format!("{error}: remove that right with `chmod o-w`, or set NEURON_HOME")
        }
        JournalError::Access { .. } => format!("{error}, or set NEURON_HOME"),
        JournalError::Newer { .. } => format!("{error}, or another NEURON_HOME"),
        JournalError::Foreign { .. } => format!("{error}: set NEURON_HOME to another directory"),
        JournalError::UnknownRun { .. } => {
            format!("{error}: `neuron runs` lists the runs")
        }
        JournalError::RunExists { run_id } => {
            format!("{error}: choose another id, or `neuron resume {run_id}`")
        }
        JournalError::Executing { run_id } => {
            format!("{error}: wait for it with `neuron wait {run_id}`")
        }
        JournalError::NotOver { run_id } => {
            format!("{error}: end it first with `neuron cancel {run_id}`")
        }
        JournalError::Refused(refusal) => of_refusal(refusal),
        error => error.to_string(),
    }
}

/// Returns what to do about a list that is not complete.
pub(crate) fn of_incomplete(engine: &str, why: &str) -> String {
    let advice = match named(engine) {
        Some(EngineName::Local) => {
            "list them with the version of neuron that wrote them".to_owned()
        }
        _ => format!(
            "check that a worker of this version runs (`{}`)",
            worker(engine)
        ),
    };
    format!("the list is not complete: {why}; {advice}")
}

/// Returns the programs that may have an agent if nothing is known of the agent.
fn any_worker(engine: &str) -> String {
    let own = match named(engine) {
        Some(EngineName::Temporal) => "on its task queue",
        Some(EngineName::Restate) => "under its prefix",
        _ => "of its runs",
    };
    format!("`{}` or a program of your own {own}", worker(engine))
}

fn worker(engine: &str) -> &'static str {
    named(engine).map_or("its worker", EngineName::worker)
}

fn variables(engine: &str) -> &'static str {
    named(engine).map_or("its address", EngineName::variables)
}

/// Returns the engine that a client's error names.
fn named(engine: &str) -> Option<EngineName> {
    EngineName::from_str(engine, false).ok()
}

#[cfg(test)]
mod tests {
    use neuron_types::RunId;

    use super::*;

    #[test]
    fn a_run_without_a_worker_is_left_to_whatever_has_its_agent() {
        for (engine, is_kept, expected) in [
            (
                "temporal",
                false,
                "no worker answers for run d1: start the worker of its agent, `neuron-temporal-worker` or a program of \
                 your own on its task queue; the run then continues",
            ),
            (
                "restate",
                true,
                "no worker answers for run d1; the request waits for a worker: start the worker of its agent, \
                 `neuron-restate-worker --register` or a program of your own under its prefix",
            ),
        ] {
            let run_id = RunId::new("d1").unwrap();
            let error = RunClientError::NoWorker {
                engine,
                run_id,
                is_kept,
            };
            assert_eq!(EngineError(error).to_string(), expected);
        }
    }
}
