//! Taking a run's signals, in the order in which the inbox numbered them.

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
/// The n-th signal is the signal `signal-n` to the run's invocation, whatever its name, and they are taken one after the
/// other: so none is lost that came before anyone waited, none is taken twice, and a replay takes the same. What was taken
/// and is not of a name that is asked for stays here.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Mailbox {
    taken: VecDeque<Signal>,
    count: u64,
    /// The next signal.
    ///
    /// Looking at it asks the server nothing. By the end of a step it is known whether the signal came before
    /// that end, in every replay too, since the journal holds both in their order.
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

    /// Whether a signal of one of these names is here.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        let mut taken = self.taken.iter();
        taken.any(|signal| names.contains(&signal.name.as_str()))
    }

    /// How many signals were taken.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// What is awaited for the next signal.
    pub(crate) fn coming(&mut self, ctx: &ContextInternal) -> Awaited {
        let key = signal_key(self.count + 1);
        *self
            .coming
            .get_or_insert_with(|| Awaited::of(&ctx.signal::<Weighed<messages::Signal>>(&key)))
    }

    /// Takes in the next signal, which is here. Returns when it was taken in by the inbox.
    pub(crate) async fn receive(
        &mut self,
        ctx: &ContextInternal,
        meter: &Meter,
    ) -> Result<DateTime<Utc>, TerminalError> {
        let key = signal_key(self.count + 1);
        let signal = ctx.signal::<Weighed<messages::Signal>>(&key).await?;
        meter.count(WRITE);
        let messages::Signal { name, payload, at } = meter.read(signal);
        self.count += 1;
        self.coming = None;
        self.taken.push_back(Signal::new(name, payload));
        Ok(at)
    }
}
