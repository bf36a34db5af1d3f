//! What a run on a local door has under way, as futures.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use neuron_flow::AttemptKey;
use neuron_types::Handle;
use tokio_util::sync::CancellationToken;

/// Attempts and deadlines under way, in the order in which they began. They go on while they are polled.
pub(crate) struct Running<T> {
    going: Vec<Going<T>>,
}

struct Going<T> {
    what: What,
    /// Ends an attempt early.
    token: CancellationToken,
    future: BoxFuture<'static, T>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Attempt(AttemptKey),
    Deadline(Handle),
}

impl What {
    const fn handle(self) -> Handle {
        match self {
            Self::Attempt(key) => key.handle,
            Self::Deadline(handle) => handle,
        }
    }
}

impl<T> Default for Running<T> {
    fn default() -> Self {
        Self { going: Vec::new() }
    }
}

impl<T> Running<T> {
    pub(crate) fn has(&self, what: What) -> bool {
        self.going.iter().any(|going| going.what == what)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.going.is_empty()
    }

    pub(crate) fn begin(
        &mut self,
        what: What,
        token: CancellationToken,
        future: BoxFuture<'static, T>,
    ) {
        self.going.push(Going {
            what,
            token,
            future,
        });
    }

    /// Drops what this handle names.
    pub(crate) fn drop_all_of(&mut self, handle: Handle) {
        self.going.retain(|going| going.what.handle() != handle);
    }

    /// Asks an attempt to end early.
    pub(crate) fn end_early(&self, key: AttemptKey) {
        let mut going = self.going.iter();
        if let Some(found) = going.find(|going| going.what == What::Attempt(key)) {
            found.token.cancel();
        }
    }

    /// Asks every attempt to end early.
    pub(crate) fn end_all_early(&self) {
        for going in &self.going {
            going.token.cancel();
        }
    }

    /// Lets everything go on. Returns what came of what has ended.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Vec<T> {
        let mut ended = Vec::new();
        self.going.retain_mut(|going| {
            let polled = Pin::new(&mut going.future).poll(cx);
            match polled {
                Poll::Ready(end) => {
                    ended.push(end);
                    false
                }
                Poll::Pending => true,
            }
        });
        ended
    }
}

impl<T> fmt::Debug for Running<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let going = self.going.iter().map(|going| going.what);
        f.debug_list().entries(going).finish()
    }
}
