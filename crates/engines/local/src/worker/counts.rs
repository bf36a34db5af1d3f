//! How many runs a worker of a journal has executed.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use neuron_engine::Health;

use super::event::WorkerEvent;

/// How often a worker of a journal started, parked and ended runs. Clones are of the same worker. Such a worker is always
/// ready.
#[derive(Debug, Clone, Default)]
pub struct WorkerCounts(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    started: AtomicU64,
    parked: AtomicU64,
    ended: AtomicU64,
}

impl WorkerCounts {
    /// Counts an event that the worker [reported](crate::LocalWorkerBuilder::reporter).
    pub fn count(&self, event: &WorkerEvent) {
        let counter = match event {
            WorkerEvent::Started { .. } => &self.0.started,
            WorkerEvent::Parked { .. } => &self.0.parked,
            WorkerEvent::Ended { .. } => &self.0.ended,
            WorkerEvent::Left { .. } | WorkerEvent::Stuck { .. } | WorkerEvent::PutAway { .. } => {
                return;
            }
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

impl Health for WorkerCounts {
    async fn ready(&self) -> Result<(), String> {
        Ok(())
    }

    async fn metrics(&self) -> Result<String, String> {
        let counters = [
            ("started", &self.0.started),
            ("parked", &self.0.parked),
            ("ended", &self.0.ended),
        ];
        let lines = counters.map(|(name, counter)| {
            let count = counter.load(Ordering::Relaxed);
            format!(
                "# TYPE neuron_local_runs_{name}_total counter\nneuron_local_runs_{name}_total {count}\n"
            )
        });
        Ok(lines.concat())
    }
}
