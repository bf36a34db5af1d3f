//! What the process exits with.

use std::process::ExitCode;

use neuron_types::RunPhase;

/// An exit code of the command. They are a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The run completed, or the command did what it says.
    Done,
    /// The run failed, was cancelled, or ended at a limit; it did not take a decision; a check found something.
    RunFailed,
    /// Usage, configuration, or what the command needs cannot be reached.
    Usage,
    /// The run waits for a person.
    Waits,
    /// A signal ended the command; the run can be resumed.
    Signalled(i32),
}

impl Exit {
    /// What a run in this phase comes to for whoever waited for it.
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

    /// The number.
    pub(crate) const fn code(self) -> i32 {
        match self {
            Self::Done => 0,
            Self::RunFailed => 1,
            Self::Usage => 2,
            Self::Waits => 3,
            // As shells report a process that a signal ended.
            Self::Signalled(number) => 128 + number,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(u8::try_from(exit.code()).unwrap_or(u8::MAX))
    }
}
