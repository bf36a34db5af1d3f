//! Passes what happens in a run to all its watchers in this process.

use std::sync::{Mutex, PoisonError};

use neuron_executor::{Delta, EventSink, RetryNotice, TokenDelta, ToolProgress};
use neuron_types::RecordedEvent;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::run::{RunItem, Way};

/// The watchers of a run. Without a watcher nothing is kept.
#[derive(Debug)]
pub(crate) struct Fan {
    way: Way,
    watchers: Mutex<Option<Vec<UnboundedSender<RunItem>>>>,
}

impl Fan {
    pub(crate) fn new(way: Way) -> Self {
        Self {
            way,
            watchers: Mutex::new(Some(Vec::new())),
        }
    }

    pub(crate) fn way(&self) -> &Way {
        &self.way
    }

    /// Returns what happens from now on; nothing if the run is over.
    pub(crate) fn watch(&self) -> UnboundedReceiver<RunItem> {
        let (sender, receiver) = unbounded_channel();
        self.with(|watchers| {
            if let Some(watchers) = watchers {
                watchers.push(sender);
            }
        });
        receiver
    }

    /// Ends the items of all watchers.
    pub(crate) fn close(&self) {
        self.with(|watchers| *watchers = None);
    }

    fn with<T>(&self, work: impl FnOnce(&mut Option<Vec<UnboundedSender<RunItem>>>) -> T) -> T {
        let mut watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut watchers)
    }

    fn give(&self, item: impl Fn() -> RunItem) {
        self.with(|watchers| {
            if let Some(watchers) = watchers {
                watchers.retain(|watcher| watcher.send(item()).is_ok());
            }
        });
    }
}

impl EventSink for Fan {
    fn event(&self, event: &RecordedEvent) {
        self.give(|| RunItem::Event(event.clone()));
    }

    fn retry(&self, notice: &RetryNotice) {
        self.give(|| RunItem::Retry(notice.clone()));
    }

    fn wants_tokens(&self) -> bool {
        true
    }

    fn token(&self, delta: &TokenDelta) {
        if let Delta::Text(text) = &delta.delta {
            self.give(|| RunItem::Delta(text.clone()));
        }
    }

    fn progress(&self, progress: &ToolProgress) {
        self.give(|| RunItem::Progress(progress.clone()));
    }
}
