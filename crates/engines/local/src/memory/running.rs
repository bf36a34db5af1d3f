//! What a plain local run has going on, as futures.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use neuron_flow::{AttemptKey, Fact};
use neuron_types::Handle;
use tokio_util::sync::CancellationToken;

/// Attempts and deadlines under way, in the order in which they began.
#[derive(Default)]
pub(super) struct Running {
    going: Vec<Going>,
}

struct Going {
    what: What,
    /// Ends an attempt early.
    token: CancellationToken,
    /// Comes to the fact that it is over.
    future: BoxFuture<'static, Fact>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Attempt(AttemptKey),
    Deadline(Handle),
}

impl What {
    fn handle(self) -> Handle {
        match self {
            Self::Attempt(key) => key.handle,
            Self::Deadline(handle) => handle,
        }
    }
}

impl Running {
    pub(super) fn has(&self, what: What) -> bool {
        self.going.iter().any(|going| going.what == what)
    }

    pub(super) fn begin(
        &mut self,
        what: What,
        token: CancellationToken,
        future: BoxFuture<'static, Fact>,
    ) {
        self.going.push(Going {
            what,
            token,
            future,
        });
    }

    /// Drops what this handle names.
    pub(super) fn drop_all_of(&mut self, handle: Handle) {
        self.going.retain(|going| going.what.handle() != handle);
    }

    /// Asks an attempt to end early.
    pub(super) fn end_early(&self, key: AttemptKey) {
        let mut going = self.going.iter();
        if let Some(found) = going.find(|going| going.what == What::Attempt(key)) {
            found.token.cancel();
        }
    }

    /// Lets everything go on. Returns what has ended.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Vec<Fact> {
        let mut facts = Vec::new();
        self.going.retain_mut(|going| {
            let polled = Pin::new(&mut going.future).poll(cx);
            match polled {
                Poll::Ready(fact) => {
                    facts.push(fact);
                    false
                }
                Poll::Pending => true,
            }
        });
        facts
    }
}
