//! Taking a run's signals, in the order in which the inbox numbered them.

use std::collections::VecDeque;

use neuron_types::Signal;
use restate_sdk::{endpoint::ContextInternal, errors::TerminalError};
use serde::{Deserialize, Serialize};

use crate::{
    door::cancellation::Awaited,
    wire::{
        messages::{self, signal_key},
        meter::{ASK, Meter, Weighed},
    },
};

/// The receiving end of the inbox.
///
/// The n-th signal is the workflow promise `signal-n`, whatever its name, and promises are taken one after
/// the other: so no signal is lost that came before anyone waited, none is taken twice, and a replay takes
/// the same. What was taken and is not of a name that is asked for stays here.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Mailbox {
    taken: VecDeque<Signal>,
    count: u64,
    /// The next signal's promise.
    ///
    /// Looking at it asks the server nothing. By the end of a step it is known whether the signal came before
    /// that end, in every replay too, since the journal holds both in their order.
    #[serde(skip)]
    coming: Option<Awaited>,
    /// The server has had the time to say that the promise was resolved before it was asked for.
    #[serde(skip)]
    is_settled: bool,
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

    /// Whether any signal was taken.
    pub(crate) const fn has_taken(&self) -> bool {
        self.count > 0
    }

    /// What is awaited for the next signal.
    pub(crate) fn coming(&mut self, ctx: &ContextInternal, meter: &Meter) -> Awaited {
        let key = signal_key(self.count + 1);
        *self.coming.get_or_insert_with(|| {
            meter.count(ASK);
            self.is_settled = false;
            Awaited::of(&ctx.promise::<Weighed<messages::Signal>>(&key))
        })
    }

    /// A step was journaled behind the promise.
    pub(crate) fn settle(&mut self) {
        self.is_settled = self.coming.is_some();
    }

    /// The next signal's promise, if its own state says whether the signal is here.
    pub(crate) fn settled(&self) -> Option<Awaited> {
        self.coming.filter(|_| self.is_settled)
    }

    /// Takes in the next signal, if it is here. Returns when it was taken in by the inbox.
    pub(crate) async fn receive(
        &mut self,
        ctx: &ContextInternal,
        meter: &Meter,
    ) -> Result<Option<chrono::DateTime<chrono::Utc>>, TerminalError> {
        meter.count(ASK);
        let key = signal_key(self.count + 1);
        let signal = ctx.peek_promise::<Weighed<messages::Signal>>(&key).await?;
        let Some(signal) = signal else {
            // It is not: whatever the promise says from now on came later.
            self.coming(ctx, meter);
            self.is_settled = true;
            return Ok(None);
        };
        let messages::Signal { name, payload, at } = meter.read(signal);
        self.count += 1;
        self.coming = None;
        self.taken.push_back(Signal::new(name, payload));
        Ok(Some(at))
    }
}
