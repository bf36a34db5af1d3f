//! Taking a run's signals, in the order in which the inbox numbered them.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use chrono::{DateTime, Utc};
use neuron_types::DurableError;
use restate_sdk::endpoint::ContextInternal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    cancellation::{Cancellation, Durable, Handle},
    meter::{ASK, Meter, Weighed},
    wire::{Signal, signal_key},
};

/// The receiving end of the inbox.
///
/// The n-th signal is the workflow promise `signal-n`, whatever its name, and promises are taken one after
/// the other: so no signal is lost that came before anyone waited, none is taken twice, and a replay takes
/// the same. What was taken and is not of the name that is waited for stays here.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Mailbox {
    taken: BTreeMap<String, VecDeque<Signal>>,
    count: u64,
    /// The next signal's promise, once a poll found that it is not resolved.
    ///
    /// Looking at it again asks the server nothing. By the end of a step it is known whether the signal came
    /// before that end, in every replay too, since the journal holds both in their order.
    #[serde(skip)]
    coming: Option<Handle>,
    /// Something that is done: who races with it does not wait.
    #[serde(skip)]
    done: Option<Handle>,
}

impl Mailbox {
    fn next_key(&self) -> String {
        signal_key(self.count + 1)
    }

    fn take(&mut self, name: &str) -> Option<(Value, DateTime<Utc>)> {
        let signal = self.taken.get_mut(name)?.pop_front()?;
        Some((signal.payload, signal.at))
    }

    fn put(&mut self, signal: Signal) {
        self.count += 1;
        self.coming = None;
        let queue = self.taken.entry(signal.name.clone()).or_default();
        queue.push_back(signal);
    }

    /// The next signal of this name that is already here.
    pub(crate) async fn poll(
        &mut self,
        ctx: &ContextInternal,
        meter: &Meter,
        cancellation: &mut Cancellation<'_>,
        name: &str,
    ) -> Result<Option<(Value, DateTime<Utc>)>, DurableError> {
        loop {
            if let Some(signal) = self.take(name) {
                return Ok(Some(signal));
            }
            if let (Some(coming), Some(done)) = (self.coming, self.done)
                && cancellation.race_of(ctx, [coming, done]).await? != 0
            {
                return Ok(None);
            }
            meter.count(ASK);
            match ctx.peek_promise(&self.next_key()).await {
                Ok(Some(signal)) => self.put(meter.read(signal)),
                Ok(None) => {
                    self.watch(ctx, meter);
                    return Ok(None);
                }
                Err(error) => return Err(cancellation.engine_error(&error)),
            }
        }
    }

    fn watch(&mut self, ctx: &ContextInternal, meter: &Meter) {
        meter.count(ASK);
        let key = self.next_key();
        self.coming = Some(Handle::of(&ctx.promise::<Weighed<Signal>>(&key)));
        self.done.get_or_insert_with(|| {
            meter.count(ASK);
            Handle::of(&ctx.sleep(Duration::ZERO))
        });
    }

    /// The next signal of this name, or `None` when the timer is done.
    pub(crate) async fn wait(
        &mut self,
        ctx: &ContextInternal,
        meter: &Meter,
        cancellation: &mut Cancellation<'_>,
        name: &str,
        mut timer: Option<Durable<'_, ()>>,
    ) -> Result<Option<(Value, DateTime<Utc>)>, DurableError> {
        loop {
            if let Some(signal) = self.take(name) {
                return Ok(Some(signal));
            }
            let key = self.next_key();
            meter.count(ASK);
            let coming = ctx.promise::<Weighed<Signal>>(&key);
            let race = match &timer {
                Some(timer) => cancellation.race(ctx, &[&coming, timer]),
                None => cancellation.race(ctx, &[&coming]),
            };
            let first = race.await?;
            let outcome = match (first, timer.take()) {
                (1, Some(timer)) => timer.await.map(|()| None),
                (_, pending) => {
                    timer = pending;
                    coming.await.map(|signal| Some(meter.read(signal)))
                }
            };
            match outcome {
                Ok(Some(signal)) => self.put(signal),
                Ok(None) => return Ok(None),
                Err(error) => return Err(cancellation.engine_error(&error)),
            }
        }
    }
}
