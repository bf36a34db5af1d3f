//! Lookup of a run's requests in the journal.

use neuron_flow::Fact;
use neuron_types::{DurableError, End, Handle, signal};

use crate::journal::{
    door::{broken::Broken, journaled_context::JournaledContext},
    run::wanted::{Recalled, Taken},
    tables::{
        recording::{Done, Progress},
        steps::Operation,
    },
};

impl JournaledContext {
    /// Looks up what was started since the last wait, and the wait of this number. Returns what the wait took, if the
    /// journal has that.
    pub(crate) async fn recall(
        &self,
        op: i64,
        signals: &[&str],
    ) -> Result<Option<Taken>, DurableError> {
        let recalled = self.look_up(op, signals).await;
        recalled.map_err(|error| self.break_off(error))
    }

    async fn look_up(&self, op: i64, signals: &[&str]) -> Result<Option<Taken>, DurableError> {
        let started = self.flight().take_unrecalled();
        let first = started.first().map_or(op, |operation| operation.op);
        let Recalled { steps, wait, taken } = self.core.recall(first, op).await?;
        let mut steps = steps.into_iter().peekable();
        for operation in started {
            // An older build journaled the ends of what a cancelled run does not make.
            while steps
                .next_if(|recorded| recorded.op < operation.op)
                .is_some()
            {}
            if let Some(recorded) = steps.next_if(|recorded| recorded.op == operation.op) {
                if recorded.fingerprint != operation.fingerprint {
                    return Err(misfit(&operation, recorded.fingerprint));
                }
                self.take_up(&operation, recorded.progress)?;
            }
        }
        let Some(recorded) = wait else {
            return Ok(None);
        };
        match taken {
            Some(taken) if taken.is_one_of(signals) => Ok(Some(taken)),
            _ => Err(misfit(&Operation::wait(op, signals), recorded.fingerprint)),
        }
    }

    /// Continues what was started from where the journal has it.
    fn take_up(&self, operation: &Operation, progress: Progress) -> Result<(), DurableError> {
        let handle = operation.handle();
        match progress {
            Progress::Done(Done { result, at, place }) => {
                let end = operation.kind.read_end(&result)?;
                let end = end.ok_or_else(|| {
                    misfit(operation, "what another kind of step came to".to_owned())
                })?;
                let fact = match end {
                    End::Effect(result) => Fact::Over { handle, result },
                    End::Deadline => Fact::Due { handle },
                };
                self.core.take_end(place, at, fact, result.len());
            }
            Progress::Failing(life) => self.core.take_in([Fact::Failing { handle, life }]),
            Progress::Lost => self.flight().is_lost(handle),
        }
        Ok(())
    }

    /// Returns the error for a wait that the journal does not answer although it continues behind the wait.
    pub(crate) fn left_out(&self, op: i64, handles: &[Handle], signals: &[&str]) -> DurableError {
        let recorded = "no result of it but later steps".to_owned();
        let asked = {
            let (flight, flow) = (self.flight(), self.core.flow());
            let open = handles.iter().find(|handle| flow.is_open(**handle));
            open.and_then(|handle| flight.operation(*handle).cloned())
        };
        let wait = || Operation::wait(op, signals).into();
        self.break_off(misfit(&asked.unwrap_or_else(wait), recorded))
    }

    /// Makes every later wait fail with this error.
    fn break_off(&self, error: DurableError) -> DurableError {
        let broken = Broken::from(error);
        self.flight().broken = Some(broken.clone());
        broken.into()
    }
}

impl Taken {
    /// Returns whether a wait for these signals may have taken it.
    fn is_one_of(&self, signals: &[&str]) -> bool {
        let name = self.name();
        name == signal::CANCEL || signals.contains(&name)
    }
}

fn misfit(operation: &Operation, recorded: String) -> DurableError {
    DurableError::NonDeterminism {
        step: format!("{} (operation {})", operation.label, operation.op),
        recorded,
        requested: operation.fingerprint.clone(),
    }
}
