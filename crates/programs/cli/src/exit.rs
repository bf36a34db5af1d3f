//! The exit codes of the process.

use std::process::ExitCode;

use neuron_types::RunPhase;

/// An exit code of the command. They are a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The run completed, or the command succeeded.
    Done,
    /// The run failed, was cancelled, or ended at a limit; it rejected a decision; a check found something.
    RunFailed,
    /// The usage or configuration is wrong, or something that the command needs cannot be reached.
    Usage,
    /// The run waits for a person.
    Waits,
    /// A signal ended the command; the run can be resumed.
    Signalled(i32),
}

impl Exit {
    /// Returns the exit code of a command that waited for a run in this phase.
    pub(crate) const fn of_phase(phase: RunPhase) -> Self {
        match phase {
            RunPhase::Completed => Self::Done,
            RunPhase::Failed | RunPhase::Cancelled | RunPhase::LimitReached => Self::RunFailed,
            RunPhase::Running
            | RunPhase::WaitingForApproval
            | RunPhase::WaitingForInput
            | RunPhase::Sleeping
            | RunPhase::Interrupted => Self::Waits,
        }
    }

    /// Returns the number.
    pub(crate) const fn code(self) -> i32 {
        match self {
            Self::Done => 0,
            Self::RunFailed => 1,
            Self::Usage => 2,
            Self::Waits => 3,
            // Shells report a process that a signal ended like this.
            Self::Signalled(number) => 128 + number,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(u8::try_from(exit.code()).unwrap_or(u8::MAX))
    }
}
