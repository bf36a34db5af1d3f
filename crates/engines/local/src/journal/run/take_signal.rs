//! Taking a signal.

use std::sync::Arc;

use neuron_types::signal;
use rusqlite::Connection;

use crate::journal::{
    run::{
        core::Core,
        patience::Patience,
        wanted::{Taken, Wanted},
    },
    store::error::JournalError,
    tables::{signals, steps::Operation},
};

impl Core {
    /// Takes the first signal that is wanted: the one that cancels the run before any other and before any end, and
    /// no other signal if an end has arrived that the wait asks for.
    pub(crate) async fn take_signal(
        self: &Arc<Self>,
        wanted: Arc<Wanted>,
    ) -> Result<Option<Taken>, JournalError> {
        let mut patience = Patience::default();
        loop {
            let wanted = Arc::clone(&wanted);
            let taken = self
                .with(move |core, connection| core.take_on(connection, &wanted))
                .await;
            match taken {
                Err(error) if self.may_wait_for(&error) => self.pause(&mut patience, &error).await,
                taken => return taken,
            }
        }
    }

    fn take_on(
        &self,
        connection: &mut Connection,
        wanted: &Wanted,
    ) -> Result<Option<Taken>, JournalError> {
        let Some(waiting) = self.first_wanted(connection, wanted)? else {
            return Ok(None);
        };
        let operation = Operation::wait(wanted.op, &[&waiting.signal.name]);
        let (id, at) = (waiting.id.to_string(), self.stamp());
        let end = operation.ending(&id, at);
        let place = self.save(|unsaved| {
            self.write(connection, unsaved, Some(end), |transaction, _| {
                signals::consume(transaction, waiting.id, operation.op)
            })?;
            Ok(unsaved.place)
        })?;
        let signal = waiting.signal;
        Ok(Some(Taken { signal, at, place }))
    }

    fn first_wanted(
        &self,
        connection: &Connection,
        wanted: &Wanted,
    ) -> Result<Option<signals::Waiting>, JournalError> {
        if wanted.heeds_cancel {
            let cancel = signals::first_waiting(connection, self.run, signal::CANCEL)?;
            if cancel.is_some() {
                return Ok(cancel);
            }
        }
        // No end can come meanwhile: the connection is held.
        if self.flow().has_ended(&wanted.handles) {
            return Ok(None);
        }
        let mut first: Option<signals::Waiting> = None;
        for name in &wanted.names {
            let waiting = signals::first_waiting(connection, self.run, name)?;
            let is_older =
                |other: &signals::Waiting| first.as_ref().is_none_or(|first| other.id < first.id);
            first = waiting.filter(is_older).or(first);
        }
        Ok(first)
    }
}
