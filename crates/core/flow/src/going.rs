//! What a run has started that has not ended.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use neuron_types::{FailureKind, Handle, RunId, RunNotice, Step, StepFailure, StepId};

use crate::{AttemptKey, StepLife, StepTerms, Then, step_life::later};

/// What has not ended.
#[derive(Debug)]
pub(crate) struct Going {
    pub(crate) handle: Handle,
    pub(crate) what: What,
    /// The step was given up, and its end is owed.
    pub(crate) is_left: bool,
}

#[derive(Debug)]
pub(crate) enum What {
    Step(Box<Making>),
    Deadline(Deadline),
}

/// A step that is being made.
#[derive(Debug)]
pub(crate) struct Making {
    pub(crate) step: Arc<Step>,
    pub(crate) number: u32,
    pub(crate) life: StepLife,
    pub(crate) is_made: bool,
    /// How many workers were lost in a row that made this attempt.
    pub(crate) lost: u32,
    pub(crate) notify: Vec<RunNotice>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    pub(crate) since: DateTime<Utc>,
    pub(crate) time: Duration,
}

impl Deadline {
    pub(crate) fn due(&self) -> DateTime<Utc> {
        later(self.since, self.time)
    }
}

impl Going {
    /// Returns whether a cancelled run can wait for it.
    pub(crate) fn may_be_awaited(&self) -> bool {
        self.is_left
            || match &self.what {
                What::Step(making) => making.step.effect.is_signal(),
                What::Deadline(_) => false,
            }
    }

    pub(crate) const fn deadline(&self) -> Option<&Deadline> {
        match &self.what {
            What::Deadline(deadline) => Some(deadline),
            What::Step(_) => None,
        }
    }
}

impl Making {
    pub(crate) const fn key(&self, handle: Handle) -> AttemptKey {
        AttemptKey {
            handle,
            number: self.number,
        }
    }

    /// Returns the notices for hooks that are due before the attempt. They are sent before the first attempt that
    /// counts, and no later attempt sends them again.
    pub(crate) fn notify(&self) -> &[RunNotice] {
        match self.life.failed_attempts() {
            0 => &self.notify,
            _ => &[],
        }
    }

    /// The step, if attempts at it had failed.
    pub(crate) fn failing(&self) -> Option<StepId> {
        (self.life.failed_attempts() > 0).then_some(self.step.options.step)
    }

    /// Returns what follows an attempt that failed.
    pub(crate) fn failed(
        &self,
        run_id: &RunId,
        failure: StepFailure,
        made: u32,
        at: DateTime<Utc>,
    ) -> Then {
        let (options, mut life) = (&self.step.options, self.life.clone());
        if failure.kind == FailureKind::NoWorker {
            life.lacking(made.saturating_sub(1), at);
            return Then::Look(life, failure.message);
        }
        let terms = StepTerms::of(run_id, options);
        match life.failed(&terms, failure, made, at) {
            Ok(again) => Then::Again(life, Box::new(again)),
            Err(last) => Then::Over(Err(last)),
        }
    }
}
