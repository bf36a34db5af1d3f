//! The ends of the runs that a run started, as its first invocation receives them.

use neuron_types::RunId;
use restate_sdk::{endpoint::ContextInternal, errors::TerminalError};
use uuid::Uuid;

use crate::{
    door::cancellation::Awaited,
    wire::{
        end_address::{EndAddress, PREFIX},
        messages::Signal,
        meter::{Meter, WRITE, Weighed},
    },
};

/// The ends that a run's first invocation awaits.
///
/// Each run that it starts gets the name of a signal of its own, and sends its end to the invocation under that name.
/// The first invocation of a run is in progress until the run is over, in later segments too, so no end is lost. What a
/// later segment starts reports to the inbox.
#[derive(Debug)]
pub(crate) struct ChildEnds {
    run: RunId,
    invocation: String,
    /// Distinguishes the names from those of an earlier run of the same id, whose invocation has the same id.
    nonce: Uuid,
    started: u64,
    open: Vec<OpenEnd>,
}

/// An end that is awaited.
#[derive(Debug)]
struct OpenEnd {
    signal: String,
    /// Looking at it sends no request to the server.
    awaited: Awaited,
}

impl OpenEnd {
    fn new(ctx: &ContextInternal, signal: String) -> Self {
        let awaited = Awaited::of(&ctx.signal::<Weighed<Signal>>(&signal));
        Self { signal, awaited }
    }
}

impl ChildEnds {
    /// Returns the ends of an invocation that has started nothing yet. `nonce` is a number that no other segment has.
    pub(crate) fn new(run: &RunId, invocation: &str, nonce: Uuid) -> Self {
        Self {
            run: run.clone(),
            invocation: invocation.to_owned(),
            nonce,
            started: 0,
            open: Vec::new(),
        }
    }

    /// Awaits the end of a run that is about to be started, and returns where it is to be sent.
    pub(crate) fn expect(&mut self, ctx: &ContextInternal) -> EndAddress {
        self.started += 1;
        let (nonce, _, _, _) = self.nonce.as_fields();
        let signal = format!("{PREFIX}{nonce:08x}-{}", self.started);
        self.open.push(OpenEnd::new(ctx, signal.clone()));
        EndAddress {
            run: self.run.clone(),
            invocation: self.invocation.clone(),
            signal,
        }
    }

    /// Returns what to await, in the order in which the runs were started.
    pub(crate) fn handles(&self) -> impl Iterator<Item = Awaited> {
        self.open.iter().map(|end| end.awaited)
    }

    /// Receives the end with this place among the handles, which has arrived.
    pub(crate) async fn receive(
        &mut self,
        place: usize,
        ctx: &ContextInternal,
        meter: &Meter,
    ) -> Result<Option<Signal>, TerminalError> {
        if place >= self.open.len() {
            return Ok(None);
        }
        let OpenEnd { signal, .. } = self.open.remove(place);
        let end = ctx.signal::<Weighed<Signal>>(&signal).await?;
        meter.count(WRITE);
        Ok(Some(meter.read(end)))
    }
}
