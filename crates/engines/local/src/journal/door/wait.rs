//! Waiting: for the ends of what was started, for times and for signals.

use std::{future::poll_fn, sync::Arc, task::Context, task::Poll, time::Duration};

use neuron_flow::nothing_to_wait_for;
use neuron_types::{DurableError, End, Handle, Observed, Signal};
use tokio::time::Instant;

use crate::journal::{
    door::{flight::Deadline, journaled_context::JournaledContext, park_policy::ParkPolicy},
    run::wanted::Wanted,
    store::column::later,
    tables::steps::{Kind, Operation},
};

/// How long a wait may take before what led to it is written: who follows the run sees that it began.
const FIRST_FLUSH: Duration = Duration::from_millis(50);

/// How often it is looked whether the run is to be cancelled.
const BETWEEN_FLUSHES: Duration = Duration::from_millis(200);

/// How often it is looked whether a signal came.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// The result of a deadline.
const NOTHING: &str = "null";

impl JournaledContext {
    /// Starts a deadline. It counts from the newest observation, which is the same however often the process
    /// is restarted, so that nothing has to be written before it is over.
    pub(crate) fn start_deadline(&self, duration: Duration) -> Handle {
        let op = self.next_started();
        let operation = Arc::new(Operation {
            op,
            kind: Kind::Deadline,
            label: "deadline".to_owned(),
            fingerprint: format!("deadline in {} ms", duration.as_millis()),
        });
        let due_at = later(self.core.now(), duration);
        let deadline = Deadline::new(operation, due_at, duration.is_zero());
        let is_replayed = self.is_replayed(op);
        self.flight().start_deadline(deadline, is_replayed)
    }

    /// The journal's answer to a wait, or else what comes first.
    pub(crate) async fn observe_next(
        &self,
        handles: &[Handle],
        signals: &[&str],
    ) -> Result<Observed, DurableError> {
        let core = &self.core;
        let op = core.next_op();
        let taken = self.recall(op, signals).await?;
        self.flight().end_group();
        if let Some(taken) = taken {
            core.count_operation();
            return core.observe_taken(taken).map(Observed::Signal);
        }
        if !self.may_be_awaited(handles) {
            return Err(core.stopped());
        }
        if let Some(observed) = self.take_end(handles) {
            return Ok(observed);
        }
        let is_open = |handle: &Handle| self.flight().is_open(*handle);
        if signals.is_empty() && !handles.iter().any(is_open) {
            return Err(nothing_to_wait_for());
        }
        if op < core.last_recorded {
            return Err(self.left_out(op, handles, signals));
        }
        self.wait(op, handles, signals).await
    }

    /// Takes a signal that is here, if the journal does not say that there was none.
    pub(crate) async fn take_here(&self, signals: &[&str]) -> Result<Option<Signal>, DurableError> {
        let core = &self.core;
        let op = core.next_op();
        core.count_operation();
        if let Some(taken) = self.recall(op, signals).await? {
            return core.observe_taken(taken).map(Some);
        }
        if core.cancelled_at().is_some() {
            return Err(core.stopped());
        }
        if core.is_behind(op) {
            // It found nothing then, so it finds nothing now.
            return Ok(None);
        }
        if core.stop.is_interrupted() {
            return Err(DurableError::Suspended);
        }
        let wanted = Wanted::new(op, &[], signals, true);
        let taken = core.take_signal(Arc::new(wanted)).await?;
        match taken {
            Some(taken) => core.observe_taken(taken).map(Some),
            None => Ok(None),
        }
    }

    /// Whether the run is not cancelled, or may wait for these all the same: each has ended before, or was
    /// left.
    fn may_be_awaited(&self, handles: &[Handle]) -> bool {
        let Some(cancelled_at) = self.core.cancelled_at() else {
            return true;
        };
        let flight = self.flight();
        let known = self.core.known();
        let may_be = |handle: &Handle| {
            flight.is_left(*handle) || known.ends.has_until(cancelled_at, *handle)
        };
        !handles.is_empty() && handles.iter().all(may_be)
    }

    fn take_end(&self, handles: &[Handle]) -> Option<Observed> {
        let (handle, end) = self.core.take_end(handles)?;
        self.flight().is_observed(handle);
        Some(Observed::Ended(handle, end))
    }

    /// Lets everything go on until something comes.
    async fn wait(
        &self,
        op: i64,
        handles: &[Handle],
        signals: &[&str],
    ) -> Result<Observed, DurableError> {
        let core = &self.core;
        core.losses.goes_live(op);
        let stop = core.stop.token();
        let are_left = {
            let flight = self.flight();
            let is_left = |handle: &Handle| flight.is_left(*handle);
            !handles.is_empty() && handles.iter().all(is_left)
        };
        let wanted = Arc::new(Wanted::new(op, handles, signals, !are_left));
        let mut flush_at = Instant::now() + FIRST_FLUSH;
        loop {
            if core.stop.is_interrupted() {
                return Err(self.end_effects().await);
            }
            if core.stop.is_draining() && !self.flight().is_under_way() {
                return Err(DurableError::Suspended);
            }
            let is_cancelled = stop.is_cancelled() && wanted.heeds_cancel;
            // What was started is not made any more.
            if !is_cancelled {
                poll_fn(|cx| Poll::Ready(self.go_on(cx))).await?;
                if stop.is_cancelled() && wanted.heeds_cancel {
                    // It came with whatever ended, and counts before that.
                    continue;
                }
                if let Some(observed) = self.take_end(handles) {
                    return Ok(observed);
                }
                let due_at_once = self.flight().due_at_once();
                if let Some(deadline) = due_at_once {
                    self.end_deadline(&deadline).await?;
                    continue;
                }
            }
            let (is_moving, due) = (self.is_moving(), self.flight().due());
            // A signal that is here comes before the end of a time: it may have come before.
            let must_look = !is_moving || due.is_some();
            let looks = !signals.is_empty() && self.is_time_to_look(must_look);
            if is_cancelled || looks {
                if let Some(taken) = core.take_signal(Arc::clone(&wanted)).await? {
                    core.count_operation();
                    return core.observe_taken(taken).map(Observed::Signal);
                }
                // It takes none where an end came meanwhile.
                if let Some(observed) = self.take_end(handles) {
                    return Ok(observed);
                }
                if is_cancelled {
                    return Err(core.stopped());
                }
            }
            if let Some(deadline) = due {
                self.end_deadline(&deadline).await?;
                continue;
            }
            if !is_moving {
                core.flush().await?;
                if self.park == ParkPolicy::Suspend && !signals.is_empty() {
                    return Err(DurableError::Suspended);
                }
            }
            let wake_at = self.looks_again_at(flush_at, signals);
            let something = poll_fn(|cx| match self.go_on(cx) {
                // What only waits now may be put away.
                Ok(()) if is_moving == self.is_moving() && !self.core.has_end(handles) => {
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

    /// Lets everything go on for a moment.
    fn go_on(&self, cx: &mut Context<'_>) -> Result<(), DurableError> {
        let ended = self.flight().poll(cx);
        for (_, journaled) in ended {
            match journaled {
                // The run was interrupted just now.
                Ok(()) | Err(DurableError::Suspended) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn is_moving(&self) -> bool {
        self.flight().is_moving()
    }

    /// Ends the effects in flight early, and waits until they have. What has a result by then keeps it.
    async fn end_effects(&self) -> DurableError {
        self.flight().end_early();
        poll_fn(|cx| {
            let mut flight = self.flight();
            for (_, journaled) in flight.poll(cx) {
                if let Err(error @ DurableError::Engine { .. }) = journaled {
                    return Poll::Ready(error);
                }
            }
            match flight.is_moving() {
                true => Poll::Pending,
                false => Poll::Ready(DurableError::Suspended),
            }
        })
        .await
    }

    async fn end_deadline(&self, deadline: &Deadline) -> Result<(), DurableError> {
        let (operation, due_at) = (Arc::clone(deadline.operation()), deadline.due_at);
        let handle = operation.handle();
        let ended = self
            .core
            .end(operation, End::Deadline, NOTHING.to_owned(), Some(due_at));
        ended.await?;
        self.flight().is_ended(handle);
        Ok(())
    }

    /// Whether it must be looked for signals, or was not for a while.
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

    /// When there is something to be looked at again, if nothing comes before.
    fn looks_again_at(&self, flush_at: Instant, signals: &[&str]) -> Instant {
        let flight = self.flight();
        let looked_at = flight.looked_at.filter(|_| !signals.is_empty());
        let look_at = looked_at.map(|at| at + BETWEEN_LOOKS);
        let others = look_at.into_iter().chain(flight.due_next_at());
        others.fold(flush_at, Instant::min)
    }
}
