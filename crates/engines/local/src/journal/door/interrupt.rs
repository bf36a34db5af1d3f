//! Putting a run away.

use std::sync::Arc;

use crate::flight::stop::Stop;

/// Puts a run away from outside its executor's task. Cheap to clone; harmless when the run is over.
///
/// Unlike a cancelled run, an interrupted one continues when it is resumed. A write in flight has an unknown
/// outcome then.
#[derive(Debug, Clone)]
pub struct Interrupt {
    pub(super) stop: Arc<Stop>,
}

impl Interrupt {
    /// Ends effects in flight; this and every later wait returns
    /// [`DurableError::Suspended`](neuron_types::DurableError::Suspended).
    pub fn interrupt(&self) {
        self.stop.interrupt();
    }

    /// Puts the run away between two steps: effects in flight end and are journaled, and no other is
    /// started. Then the wait returns [`DurableError::Suspended`](neuron_types::DurableError::Suspended). This may take
    /// as long as those effects do, with their further attempts; [`interrupt`](Self::interrupt) ends them.
    pub fn interrupt_between_steps(&self) {
        self.stop.drain();
    }
}
