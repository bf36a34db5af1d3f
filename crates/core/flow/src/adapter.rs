//! How a door serves a run by its flow: what it is asked, in the order that is the same at every door.

use std::{
    future::Future,
    sync::{Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, Utc};
use neuron_types::{
    DurableContext, DurableError, Handle, Observed, RunNotice, Signal, Started, Step,
};

use crate::{Answer, Flow, Left};

/// What a run waits for.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Ends.
    pub handles: &'a [Handle],
    /// Names of signals.
    pub signals: &'a [&'a str],
    /// Whether it waits for what is not there.
    pub parks: bool,
}

/// What is a door's own: it takes in what became known, does what the flow says, and journals.
///
/// An adapter has no part in what comes first, what is handed out and what follows a failure. A door that is an adapter
/// serves [`DurableContext`] with [`start`], [`leave`], [`next`] and [`poll`].
pub trait Adapter: DurableContext {
    /// The run's flow. Nothing waits while it is locked.
    fn flow(&self) -> &Mutex<Flow>;

    /// Returns the notices for hooks that are due before this step, which is being started. Default is nothing: a door
    /// may find the notices where it makes the step.
    fn notify(&self, step: &Step) -> Vec<RunNotice> {
        let _ = step;
        Vec::new()
    }

    /// Called when something was given up, after the flow gave it up: drops the part of it that still runs, or asks
    /// that part to end early.
    fn left(&self, left: Left);

    /// Takes in what is known by now, if it is to be observed before anything is waited for. Waits for nothing that may
    /// never come.
    ///
    /// # Errors
    ///
    /// What keeps the door from serving the run.
    fn settle(&self, asked: &Asked<'_>) -> impl Future<Output = Result<(), DurableError>>;

    /// Does what the flow says, until there is something to be looked at.
    ///
    /// # Errors
    ///
    /// What keeps the door from serving the run.
    fn wait(&self, asked: &Asked<'_>) -> impl Future<Output = Result<(), DurableError>>;

    /// Returns the place of a signal of one of these names, if one is here: [`BEHIND_ALL`](crate::BEHIND_ALL) where signals
    /// have none in the order of ends.
    fn signal_at(&self, names: &[&str]) -> Option<u64>;

    /// Takes the oldest signal of one of these names.
    fn take_signal(&self, names: &[&str]) -> Option<Signal>;

    /// An end is handed out that became known at this time. Default is that the run's clock does not move by it.
    fn hands_out(&self, at: DateTime<Utc>) {
        let _ = at;
    }
}

/// Serves [`DurableContext::start`].
pub fn start(door: &impl Adapter, what: Started) -> Handle {
    let now = door.now();
    let notify = match &what {
        Started::Step(step) if !locked(door.flow()).is_cancelled() => door.notify(step),
        _ => Vec::new(),
    };
    locked(door.flow()).start(what, notify, now)
}

/// Serves [`DurableContext::leave`].
pub fn leave(door: &impl Adapter, handle: Handle) -> bool {
    let left = locked(door.flow()).leave(handle);
    let is_owed = left.is_owed;
    door.left(left);
    is_owed
}

/// Serves [`DurableContext::next`].
///
/// # Errors
///
/// As there.
pub async fn next<A: Adapter>(
    door: &A,
    handles: &[Handle],
    signals: &[&str],
) -> Result<Observed, DurableError> {
    let asked = Asked {
        handles,
        signals,
        parks: true,
    };
    loop {
        door.settle(&asked).await?;
        let signal = door.signal_at(signals);
        let answer = locked(door.flow()).answer(handles, !signals.is_empty(), signal)?;
        match answer {
            Answer::Ended(handle, end, at) => {
                door.hands_out(at);
                return Ok(Observed::Ended(handle, end));
            }
            Answer::Signal => {
                if let Some(signal) = door.take_signal(signals) {
                    return Ok(Observed::Signal(signal));
                }
            }
            Answer::Nothing => door.wait(&asked).await?,
        }
    }
}

/// Serves [`DurableContext::poll`].
///
/// # Errors
///
/// As there.
pub async fn poll<A: Adapter>(door: &A, signals: &[&str]) -> Result<Option<Signal>, DurableError> {
    let asked = Asked {
        handles: &[],
        signals,
        parks: false,
    };
    door.settle(&asked).await?;
    if let Some(cancelled) = locked(door.flow()).cancelled() {
        return Err(cancelled);
    }
    Ok(door.take_signal(signals))
}

fn locked(flow: &Mutex<Flow>) -> MutexGuard<'_, Flow> {
    flow.lock().unwrap_or_else(PoisonError::into_inner)
}
