//! What a run on a local door has going on beside itself.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use neuron_types::Handle;
use tokio_util::sync::CancellationToken;

/// Everything that was started and whose end nobody has observed. It goes on while it is polled.
///
/// It is a list in the order in which they were started: there are few at a time, and it keeps its room.
pub(crate) struct InFlight<T> {
    running: Vec<(Handle, Running<T>)>,
}

/// One effect or deadline.
pub(crate) struct Running<T> {
    /// `None` once it has ended.
    future: Option<BoxFuture<'static, T>>,
    /// Ends it early. `None` for a deadline.
    token: Option<CancellationToken>,
    is_write: bool,
    /// It was let go on at least once.
    is_begun: bool,
    /// Somebody gave it up.
    is_left: bool,
}

impl<T> Running<T> {
    /// An effect, which the token ends early. A write has to come to its end.
    pub(crate) fn effect(
        future: BoxFuture<'static, T>,
        token: CancellationToken,
        is_write: bool,
    ) -> Self {
        Self {
            future: Some(future),
            token: Some(token),
            is_write,
            is_begun: false,
            is_left: false,
        }
    }

    fn end_early(&self) {
        if let Some(token) = &self.token {
            token.cancel();
        }
    }
}

impl<T> Default for InFlight<T> {
    fn default() -> Self {
        Self {
            running: Vec::new(),
        }
    }
}

impl<T> InFlight<T> {
    pub(crate) fn start(&mut self, handle: Handle, running: Running<T>) {
        self.running.push((handle, running));
    }

    fn get(&self, handle: Handle) -> Option<&Running<T>> {
        let mut running = self.running.iter();
        let (_, found) = running.find(|(other, _)| *other == handle)?;
        Some(found)
    }

    fn get_mut(&mut self, handle: Handle) -> Option<&mut Running<T>> {
        let mut running = self.running.iter_mut();
        let (_, found) = running.find(|(other, _)| *other == handle)?;
        Some(found)
    }

    fn remove(&mut self, handle: Handle) {
        self.running.retain(|(other, _)| *other != handle);
    }

    /// Gives one up, and returns whether its end will still be observed: that of a write is, anything else
    /// is dropped.
    pub(crate) fn leave(&mut self, handle: Handle) -> bool {
        let Some(running) = self.get_mut(handle) else {
            return false;
        };
        if !running.is_write {
            self.remove(handle);
            return false;
        }
        running.is_left = true;
        running.end_early();
        true
    }

    /// Lets everything go on, and returns what has ended.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Vec<(Handle, T)> {
        let mut ended = Vec::new();
        for (handle, running) in &mut self.running {
            let Some(future) = &mut running.future else {
                continue;
            };
            running.is_begun = true;
            if let Poll::Ready(end) = Pin::new(future).poll(cx) {
                running.future = None;
                ended.push((*handle, end));
            }
        }
        ended
    }

    /// Its end is known otherwise: it goes on no more.
    pub(crate) fn end(&mut self, handle: Handle) {
        if let Some(running) = self.get_mut(handle) {
            running.future = None;
        }
    }

    /// Its end was observed.
    pub(crate) fn observed(&mut self, handle: Handle) {
        self.remove(handle);
    }

    /// Asks every effect to end early.
    pub(crate) fn end_early(&self) {
        for (_, running) in &self.running {
            running.end_early();
        }
    }

    /// Whether nobody has observed its end or dropped it.
    pub(crate) fn is_open(&self, handle: Handle) -> bool {
        self.get(handle).is_some()
    }

    /// Whether it is waited for only because it could not be dropped, or is not open.
    pub(crate) fn is_left(&self, handle: Handle) -> bool {
        let running = self.get(handle);
        running.is_none_or(|running| running.is_left)
    }

    /// Whether anything has not ended.
    pub(crate) fn goes_on(&self) -> bool {
        let mut running = self.running.iter();
        running.any(|(_, running)| running.future.is_some())
    }

    /// Whether anything has begun and has not ended.
    pub(crate) fn is_under_way(&self) -> bool {
        let mut running = self.running.iter();
        running.any(|(_, running)| running.is_begun && running.future.is_some())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }
}

impl<T> fmt::Debug for InFlight<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InFlight")
            .field("running", &self.running.len())
            .finish()
    }
}
