//! Putting a run away.

use std::sync::Arc;

use crate::flight::stop::Stop;

/// Puts a run away from outside its executor's task. Cheap to clone; harmless when the run is over.
///
/// Unlike a cancelled run, an interrupted one goes on when it is resumed. A write in flight has an unknown
/// outcome then.
#[derive(Debug, Clone)]
pub struct Interrupt {
    pub(super) stop: Arc<Stop>,
}

impl Interrupt {
    /// Ends effects in flight; this and every later wait comes to [`DurableError::Suspended`](neuron_types::DurableError::Suspended).
    pub fn interrupt(&self) {
        self.stop.interrupt();
    }
}
