//! What a flow says: what is to be done, what there is to be shown, and what a run comes upon.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use neuron_types::{End, Handle, Outcome, RunNotice, Step, StepFailure, StepId};

use crate::{Again, AttemptKey, StepLife};

/// An attempt at a step that is to be made, or continues.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    /// Which it is.
    pub key: AttemptKey,
    /// What is done.
    pub step: &'a Arc<Step>,
    /// The outcome of the attempts before, and the start of this one.
    pub life: &'a StepLife,
    /// Whether the step is [made](crate::Fact::Made).
    pub is_made: bool,
    /// Whether it is waited for only because it cannot be dropped: it is asked to end early.
    pub is_left: bool,
    /// What hooks are to be notified of before the attempt, in the order in which it happened.
    pub notify: &'a [RunNotice],
}

impl Attempt<'_> {
    /// Returns the words by which a person knows it.
    #[must_use]
    pub fn label(&self) -> String {
        let step = self.step.label();
        match self.life.attempt() {
            1 => step,
            again => format!("{step} (attempt {again})"),
        }
    }
}

/// A time that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timer {
    /// What was started.
    pub handle: Handle,
    /// How long it takes from its start.
    pub time: Duration,
    /// When it is over.
    pub due: DateTime<Utc>,
}

/// What became of something that a run gave up.
#[derive(Debug, PartialEq)]
pub struct Left {
    /// What it was.
    pub handle: Handle,
    /// The attempt that continues: to be dropped, or to be asked to end early if its end is owed. `None` if no attempt
    /// continues.
    pub attempt: Option<AttemptKey>,
    /// Whether its end will still be observed.
    pub is_owed: bool,
    /// The step, if attempts at it had failed.
    pub failing: Option<StepId>,
    /// What hooks were to be notified of before the step, if it was not made and no attempt had ended before.
    pub notify: Vec<RunNotice>,
}

impl Left {
    /// Nothing continues, and nothing will be observed.
    pub(crate) const fn nothing(handle: Handle) -> Self {
        Self {
            handle,
            attempt: None,
            is_owed: false,
            failing: None,
            notify: Vec::new(),
        }
    }
}

/// What there is to be shown of something that became known.
#[derive(Debug, PartialEq)]
pub enum Shown {
    /// An attempt failed, and another follows.
    Failing(Box<Again>),
    /// The worker of an attempt lacked what it needs, for this reason. A worker is looked for once more.
    Lacking(StepId, String),
    /// The step is over, and had failed before.
    Over(StepId),
}

/// What follows an attempt.
#[derive(Debug)]
pub enum Then {
    /// Nothing: the step has come to this, with what all its attempts used and cost.
    Over(Result<Outcome, StepFailure>),
    /// Another attempt.
    Again(StepLife, Box<Again>),
    /// A look for a worker that has what the step needs and the one before lacked, for this reason.
    Look(StepLife, String),
}

/// What a run that waits comes upon.
#[derive(Debug)]
pub enum Answer {
    /// An end, and when it became known.
    Ended(Handle, End, DateTime<Utc>),
    /// No end. A signal is here, if one was said to be.
    Signal,
    /// Nothing.
    Nothing,
}
