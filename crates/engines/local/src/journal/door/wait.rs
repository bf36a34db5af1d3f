//! Waiting: for the ends of what was started, for times and for signals.

use std::{
    future::poll_fn,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use chrono::{DateTime, Utc};
use neuron_flow::{Adapter, Asked, Fact, Flow, Left, Timer};
use neuron_types::{DurableError, Signal};
use tokio::time::Instant;

use crate::journal::{
    door::{journaled_context::JournaledContext, park_policy::ParkPolicy},
    run::wanted::Wanted,
    store::column::wall_clock,
};

/// How long a wait may take before the events that led to it are written: clients that follow the run see that it
/// began.
const FIRST_FLUSH: Duration = Duration::from_millis(50);

/// The interval between two checks whether the run is to be cancelled.
const BETWEEN_FLUSHES: Duration = Duration::from_millis(200);

/// The interval between two checks whether a signal came.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// The result of a deadline.
const NOTHING: &str = "null";

impl Adapter for JournaledContext {
    fn flow(&self) -> &Mutex<Flow> {
        &self.core.flow
    }

    fn left(&self, left: Left) {
        let mut flight = self.flight();
        match left.attempt {
            Some(key) if left.is_owed => flight.running.end_early(key),
            _ => flight.running.drop_all_of(left.handle),
        }
        drop(flight);
        left.failing
            .into_iter()
            .for_each(|step| self.core.step_over(step));
    }

    /// Takes what the journal has for the request. A poll takes a signal that has arrived, unless the journal shows
    /// that the poll found no signal.
    async fn settle(&self, asked: &Asked<'_>) -> Result<(), DurableError> {
        let core = &self.core;
        let (op, is_recalled, broken) = {
            let flight = self.flight();
            (flight.asked, flight.is_recalled, flight.broken.clone())
        };
        if let Some(broken) = broken {
            return Err(broken.into());
        }
        if is_recalled {
            return Ok(());
        }
        let mut taken = self.recall(op, asked.signals).await?;
        self.flight().is_recalled = true;
        // A poll that is replayed found nothing then, so it finds nothing now.
        let is_live = !core.flow().is_cancelled() && !core.is_behind(op);
        if taken.is_none() && !asked.parks && is_live {
            if core.stop.is_interrupted() {
                return Err(DurableError::Suspended);
            }
            let wanted = Wanted::new(op, &[], asked.signals, true);
            taken = core.take_signal(Arc::new(wanted)).await?;
        } else if taken.is_some() && asked.parks {
            core.count_operation();
        }
        self.flight().taken = taken.and_then(|taken| core.take_cancel(taken));
        Ok(())
    }

    /// Polls everything in flight until something arrives.
    async fn wait(&self, asked: &Asked<'_>) -> Result<(), DurableError> {
        let (core, op) = (&self.core, self.flight().asked);
        let Asked {
            handles, signals, ..
        } = *asked;
        if op < core.last_recorded {
            return Err(self.left_out(op, handles, signals));
        }
        core.losses.goes_live(op);
        let stop = core.stop.token();
        let are_left = core.flow().are_left(handles);
        let wanted = Arc::new(Wanted::new(op, handles, signals, !are_left));
        let mut flush_at = Instant::now() + FIRST_FLUSH;
        let mut quiet_since = None;
        loop {
            if core.stop.is_interrupted() {
                return Err(self.end_effects().await);
            }
            if core.stop.is_draining() && !self.is_under_way() {
                return Err(DurableError::Suspended);
            }
            let is_cancelled = stop.is_cancelled() && wanted.heeds_cancel;
            // What was started is not made any more.
            if !is_cancelled {
                poll_fn(|cx| Poll::Ready(self.go_on(cx))).await?;
                if stop.is_cancelled() && wanted.heeds_cancel {
                    // The cancellation came together with what ended, and counts before that.
                    continue;
                }
                if core.flow().has_ended(handles) {
                    return Ok(());
                }
                if let Some(timer) = self.timer(|timer| timer.time.is_zero()) {
                    self.end_deadline(timer).await?;
                    continue;
                }
            }
            let (is_moving, due) = (self.is_moving(), self.timer(|timer| self.is_due(timer)));
            // A signal that has arrived comes before the end of a time: it may have come before.
            let must_look = !is_moving || due.is_some();
            let looks = !signals.is_empty() && self.is_time_to_look(must_look);
            if is_cancelled || looks {
                if let Some(taken) = core.take_signal(Arc::clone(&wanted)).await? {
                    core.count_operation();
                    self.flight().taken = core.take_cancel(taken);
                    return Ok(());
                }
                // It takes no signal if an end came meanwhile.
                if core.flow().has_ended(handles) {
                    return Ok(());
                }
                if is_cancelled {
                    return Err(core.stopped());
                }
            }
            if let Some(timer) = due {
                self.end_deadline(timer).await?;
                continue;
            }
            if is_moving {
                quiet_since = None;
            } else {
                core.flush().await?;
                if self.is_to_be_put_away(&mut quiet_since) && !signals.is_empty() {
                    return Err(DurableError::Suspended);
                }
            }
            let wake_at = self.looks_again_at(flush_at, signals);
            let something = poll_fn(|cx| match self.go_on(cx) {
                // A run that only waits now may be put away.
                Ok(()) if is_moving == self.is_moving() && !core.flow().has_ended(handles) => {
                    Poll::Pending
                }
                went_on => Poll::Ready(went_on),
            });
            tokio::select! {
                biased;
                looked = something => looked?,
                () = stop.cancelled(), if !stop.is_cancelled() => {}
                () = tokio::time::sleep_until(wake_at) => {
                    if flush_at <= Instant::now() {
                        // The next commit meets the same error and reports it.
                        if let Err(error) = core.look().await {
                            tracing::debug!(%error, run_id = %core.run_id, "the journal cannot be written just now");
                        }
                        flush_at = Instant::now() + BETWEEN_FLUSHES;
                    }
                }
            }
        }
    }

    fn signal_at(&self, _: &[&str]) -> Option<u64> {
        self.flight().taken.as_ref().map(|taken| taken.place)
    }

    fn take_signal(&self, _: &[&str]) -> Option<Signal> {
        let taken = self.flight().taken.take()?;
        self.core.advance(taken.at);
        Some(taken.signal)
    }

    fn hands_out(&self, at: DateTime<Utc>) {
        self.core.advance(at);
    }
}

impl JournaledContext {
    /// Polls everything in flight once, and begins what is to be made.
    fn go_on(&self, cx: &mut Context<'_>) -> Result<(), DurableError> {
        let mut flight = self.flight();
        loop {
            self.begin(&mut flight);
            let ended = flight.running.poll(cx);
            if ended.is_empty() {
                return Ok(());
            }
            for journaled in ended {
                match journaled {
                    // The run was interrupted just now.
                    Ok(()) | Err(DurableError::Suspended) => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }

    /// Returns whether a run without anything in progress is put away: at once, or when nothing below it is in progress
    /// either.
    fn is_to_be_put_away(&self, quiet_since: &mut Option<u64>) -> bool {
        match (self.park, &self.below) {
            (ParkPolicy::Wait, _) => false,
            (ParkPolicy::Suspend, None) => true,
            (ParkPolicy::Suspend, Some(looks)) => {
                let since = *quiet_since.get_or_insert_with(|| looks.count());
                looks.is_idle_since(since)
            }
        }
    }

    /// Returns whether an attempt is in flight.
    fn is_moving(&self) -> bool {
        !self.flight().running.is_empty()
    }

    /// Returns whether an attempt is in flight, or follows one that this process has made.
    fn is_under_way(&self) -> bool {
        let (flight, flow) = (self.flight(), self.core.flow());
        let mut attempts = flow.attempts();
        attempts
            .any(|attempt| flight.has_begun(attempt.key.handle) || attempt.step.effect.is_signal())
    }

    /// Ends the attempts in flight early, and waits until they have ended. An attempt that has a result by then keeps
    /// it.
    async fn end_effects(&self) -> DurableError {
        self.flight().running.end_all_early();
        poll_fn(|cx| {
            let mut flight = self.flight();
            for journaled in flight.running.poll(cx) {
                if let Err(error @ DurableError::Engine { .. }) = journaled {
                    return Poll::Ready(error);
                }
            }
            match flight.running.is_empty() {
                true => Poll::Ready(DurableError::Suspended),
                false => Poll::Pending,
            }
        })
        .await
    }

    /// Returns the first timer that is waited for and matches.
    fn timer(&self, is_it: impl Fn(&Timer) -> bool) -> Option<Timer> {
        self.core.flow().timers().find(is_it)
    }

    fn is_due(&self, timer: &Timer) -> bool {
        let wake_at = self.flight().wakes.get(&timer.handle).copied().flatten();
        timer.due <= wall_clock() || wake_at.is_some_and(|at| at <= Instant::now())
    }

    async fn end_deadline(&self, timer: Timer) -> Result<(), DurableError> {
        let handle = timer.handle;
        let operation = self.flight().operation(handle).cloned();
        let Some(operation) = operation else {
            return Ok(());
        };
        let end = Fact::Due { handle };
        let ended = self
            .core
            .end(operation, end, NOTHING.to_owned(), Some(timer.due));
        Ok(ended.await?)
    }

    /// Returns whether signals must be looked up, or were not for a while.
    fn is_time_to_look(&self, must_look: bool) -> bool {
        let mut flight = self.flight();
        let now = Instant::now();
        let is_recent = flight.looked_at.is_some_and(|at| now < at + BETWEEN_LOOKS);
        if is_recent && !must_look {
            return false;
        }
        flight.looked_at = Some(now);
        true
    }

    /// Returns when the next check is due, if nothing arrives before.
    fn looks_again_at(&self, flush_at: Instant, signals: &[&str]) -> Instant {
        let (flight, flow) = (self.flight(), self.core.flow());
        let looked_at = flight.looked_at.filter(|_| !signals.is_empty());
        let look_at = looked_at.map(|at| at + BETWEEN_LOOKS);
        let due = flight.first_of(flow.timers().map(|timer| timer.handle));
        look_at.into_iter().chain(due).fold(flush_at, Instant::min)
    }
}
