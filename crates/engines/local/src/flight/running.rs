//! The attempts and deadlines that a run on a local door has in flight, as futures.

use std::{
    fmt,
    future::Future,
    task::{Context, Poll},
};

use neuron_flow::AttemptKey;
use neuron_types::Handle;
use tokio_util::sync::{CancellationToken, ReusableBoxFuture};

/// Attempts and deadlines in flight, in the order in which they began. They progress while they are polled.
pub(crate) struct Running<T> {
    going: Vec<Going<T>>,
    /// The allocation of an attempt that has ended. The next one reuses it: an attempt is several kilobytes, and
    /// attempts follow each other.
    spare: Option<ReusableBoxFuture<'static, T>>,
}

struct Going<T> {
    what: What,
    /// Ends an attempt early.
    token: CancellationToken,
    future: ReusableBoxFuture<'static, T>,
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
        Self {
            going: Vec::new(),
            spare: None,
        }
    }
}

impl<T: 'static> Running<T> {
    pub(crate) fn has(&self, what: What) -> bool {
        self.going.iter().any(|going| going.what == what)
    }

    #[cfg(feature = "journal")]
    pub(crate) fn is_empty(&self) -> bool {
        self.going.is_empty()
    }

    pub(crate) fn begin(
        &mut self,
        what: What,
        token: CancellationToken,
        future: impl Future<Output = T> + Send + 'static,
    ) {
        let future = match self.spare.take() {
            Some(mut spare) => {
                spare.set(future);
                spare
            }
            None => ReusableBoxFuture::new(future),
        };
        self.going.push(Going {
            what,
            token,
            future,
        });
    }

    /// Drops everything of this handle.
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
    #[cfg(feature = "journal")]
    pub(crate) fn end_all_early(&self) {
        for going in &self.going {
            going.token.cancel();
        }
    }

    /// Polls everything in flight. Returns the results of what has ended.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Vec<T> {
        let mut ended = Vec::new();
        let is_over = |going: &mut Going<T>| match going.future.poll(cx) {
            Poll::Ready(end) => {
                ended.push(end);
                true
            }
            Poll::Pending => false,
        };
        for over in self.going.extract_if(.., is_over) {
            self.spare = Some(over.future);
        }
        ended
    }
}

impl<T> fmt::Debug for Running<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let going = self.going.iter().map(|going| going.what);
        f.debug_list().entries(going).finish()
    }
}
