//! Follows a run that executes elsewhere.

use neuron_engine::RunHandle;
use neuron_types::RunOutput;

use super::{Queue, RunFailure, RunItem, Way};

/// The most events that are requested at once.
const PAGE: usize = 200;

/// Asks a run's engine for its events, one look after the other.
#[derive(Debug)]
pub(crate) struct Follower {
    run: RunHandle,
    queue: Queue,
    looks: u32,
    /// Whether the last look failed.
    has_failed: bool,
}

/// The result of a look.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
pub(crate) enum Look {
    Item(RunItem),
    Over(Box<RunOutput>),
}

impl Follower {
    pub(crate) fn new(run: RunHandle) -> Self {
        Self {
            queue: Queue::new(Way::Client(run.clone())),
            run,
            looks: 0,
            has_failed: false,
        }
    }

    pub(crate) const fn run(&self) -> &RunHandle {
        &self.run
    }

    pub(crate) async fn next(&mut self) -> Result<Look, RunFailure> {
        if self.has_failed {
            self.pause().await;
        }
        let looked = self.look().await;
        self.has_failed = looked.is_err();
        looked
    }

    async fn pause(&mut self) {
        tokio::time::sleep(self.run.client().poll_interval(self.looks)).await;
        self.looks = self.looks.saturating_add(1);
    }

    async fn look(&mut self) -> Result<Look, RunFailure> {
        loop {
            if let Some(item) = self.queue.pop() {
                self.looks = 0;
                return Ok(Look::Item(item));
            }
            // The output is requested before the events, so that none is missed that happened before the end.
            let output = self.run.output().await?;
            let before = self.queue.last();
            for event in self.run.events(before, PAGE).await?.events {
                self.queue.add(event);
            }
            if self.queue.last() > before {
                continue;
            }
            if let Some(output) = output {
                return Ok(Look::Over(Box::new(output)));
            }
            self.pause().await;
        }
    }
}
