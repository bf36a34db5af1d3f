//! Gates that hold a call.

use neuron_patience::patience;
use neuron_types::StepId;
use tokio::{sync::watch, time::timeout};

/// Holds the next attempt at one step, before it has any effect, until it is released or dropped.
///
/// Later attempts at the step pass.
#[derive(Debug)]
pub struct Gate {
    place: Place,
    reached: watch::Receiver<bool>,
    open: watch::Sender<bool>,
}

/// The world's side of a gate.
#[derive(Debug)]
pub(crate) struct Barrier {
    reached: watch::Sender<bool>,
    open: watch::Receiver<bool>,
}

/// A step of one of the runs of a world.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) run: String,
    pub(crate) step: StepId,
}

impl Gate {
    pub(crate) fn new(place: Place) -> (Self, Barrier) {
        let (reached, is_reached) = watch::channel(false);
        let (open, is_open) = watch::channel(false);
        let barrier = Barrier {
            reached,
            open: is_open,
        };
        let gate = Self {
            place,
            reached: is_reached,
            open,
        };
        (gate, barrier)
    }

    /// Waits until an attempt is held here.
    ///
    /// # Panics
    ///
    /// If no attempt arrives within [`patience`].
    pub async fn reached(&mut self) {
        let Place { run, step } = &self.place;
        let held = timeout(patience(), self.reached.wait_for(|reached| *reached));
        let held = held.await.ok().is_some_and(|held| held.is_ok());
        assert!(
            held,
            "no attempt at step {}:{} of run {run}",
            step.turn, step.position
        );
    }

    /// Releases the attempt.
    pub fn release(self) {
        self.open.send_replace(true);
    }
}

impl Barrier {
    /// Holds the attempt that arrived here.
    pub(crate) async fn pass(mut self) {
        self.reached.send_replace(true);
        // A gate that was dropped is open.
        self.open.wait_for(|open| *open).await.ok();
    }
}
