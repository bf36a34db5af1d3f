//! A run's signals, in the order in which the inbox numbered them.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};
use neuron_types::Signal;
use restate_sdk::{endpoint::ContextInternal, errors::TerminalError};
use serde::{Deserialize, Serialize};

use crate::{
    door::cancellation::Awaited,
    wire::{
        messages::{self, signal_key},
        meter::{Meter, WRITE, Weighed},
    },
};

/// The receiving end of the inbox.
///
/// The n-th signal is the signal `signal-n` to the run's invocation, whatever its name, and they are received one after
/// the other: so no signal is lost that arrived before a wait for it, none is taken twice, and a replay takes the same.
/// A signal that was received while another name was asked for stays here, and so does the end of a run that this one
/// started, which does not take the way by the inbox.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Mailbox {
    taken: VecDeque<Signal>,
    count: u64,
    /// The next signal.
    ///
    /// Looking at it sends no request to the server. By the end of a step it is known whether the signal came before
    /// that end, in every replay too, since the journal has both in their order.
    #[serde(skip)]
    coming: Option<Awaited>,
}

impl Mailbox {
    /// Takes the oldest signal that has one of these names.
    pub(crate) fn take(&mut self, names: &[&str]) -> Option<Signal> {
        let wanted = |signal: &Signal| names.contains(&signal.name.as_str());
        let place = self.taken.iter().position(wanted)?;
        self.taken.remove(place)
    }

    /// Returns whether a signal of one of these names is here.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        let mut taken = self.taken.iter();
        taken.any(|signal| names.contains(&signal.name.as_str()))
    }

    /// Adds a signal that did not take the way by the inbox.
    pub(crate) fn add(&mut self, signal: messages::Signal) -> DateTime<Utc> {
        let messages::Signal { name, payload, at } = signal;
        self.taken.push_back(Signal::new(name, payload));
        at
    }

    /// Returns how many signals of the inbox were received.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Returns what to await for the next signal.
    pub(crate) fn coming(&mut self, ctx: &ContextInternal) -> Awaited {
        let key = signal_key(self.count + 1);
        *self
            .coming
            .get_or_insert_with(|| Awaited::of(&ctx.signal::<Weighed<messages::Signal>>(&key)))
    }

    /// Receives the next signal, which has arrived. Returns when the inbox accepted it.
    pub(crate) async fn receive(
        &mut self,
        ctx: &ContextInternal,
        meter: &Meter,
    ) -> Result<DateTime<Utc>, TerminalError> {
        let key = signal_key(self.count + 1);
        let signal = ctx.signal::<Weighed<messages::Signal>>(&key).await?;
        meter.count(WRITE);
        self.count += 1;
        self.coming = None;
        Ok(self.add(meter.read(signal)))
    }
}
