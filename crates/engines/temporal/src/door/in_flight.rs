//! What a run has going on beside itself.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    future::Future,
    task::{Context, Poll},
};

use futures::future::LocalBoxFuture;
use neuron_types::{End, Handle, Started};
use temporalio_sdk::WorkflowCancellationToken;

use crate::door::{begun::is_write, place::Place};

/// Everything that was started and whose end nobody has observed.
///
/// What is in flight is polled in the order of the starts, so the order of the ends is a function of the history
/// alone: which of them came with one workflow task, or with one activation of it.
#[derive(Default)]
pub(crate) struct InFlight {
    count: u64,
    /// Started, and not handed to Temporal yet.
    begun: BTreeMap<Handle, Started>,
    running: BTreeMap<Handle, Running>,
    /// Ends that nobody has observed, in their order.
    ended: VecDeque<Ended>,
}

/// A step or a timer that Temporal has.
pub(crate) struct Running {
    future: LocalBoxFuture<'static, End>,
    /// Asks it to end early.
    token: WorkflowCancellationToken,
    /// What it is to the others.
    kind: Kind,
    place: Place,
    /// Somebody gave it up.
    is_left: bool,
}

/// An end that nobody has observed.
struct Ended {
    handle: Handle,
    end: End,
    /// It is that of a write: it is observed even if it was left.
    is_write: bool,
}

/// What a step or a timer is to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The call of the conversation's next answer.
    Conversation,
    /// A call that has to come to its end.
    Write,
    /// A timer.
    Deadline,
    /// Any other call.
    Other,
}

impl Running {
    /// Comes to its end, early once the token is cancelled.
    pub(crate) fn new(
        kind: Kind,
        place: Place,
        token: WorkflowCancellationToken,
        future: impl Future<Output = End> + 'static,
    ) -> Self {
        Self {
            future: Box::pin(future),
            token,
            kind,
            place,
            is_left: false,
        }
    }
}

impl InFlight {
    fn next_handle(&mut self) -> Handle {
        self.count += 1;
        Handle::new(self.count)
    }

    /// Takes up one more, which is to be handed to Temporal.
    pub(crate) fn begin(&mut self, begun: Started) -> Handle {
        let handle = self.next_handle();
        self.begun.insert(handle, begun);
        handle
    }

    /// Takes up one more, which has ended.
    pub(crate) fn begin_ended(&mut self, end: End, is_write: bool) -> Handle {
        let handle = self.next_handle();
        self.ended.push_back(Ended {
            handle,
            end,
            is_write,
        });
        handle
    }

    /// What is to be handed to Temporal.
    pub(crate) fn begun(&self) -> impl Iterator<Item = &Started> {
        self.begun.values()
    }

    /// Takes the first that is to be handed to Temporal.
    pub(crate) fn take_begun(&mut self) -> Option<(Handle, Started)> {
        self.begun.pop_first()
    }

    /// Ends whatever has not been handed to Temporal, but for what `end` has no end of.
    pub(crate) fn end_begun(&mut self, end: impl Fn(&Started) -> Option<End>) {
        let ended = &mut self.ended;
        self.begun.retain(|handle, begun| match end(begun) {
            Some(end) => {
                ended.push_back(Ended {
                    handle: *handle,
                    end,
                    is_write: is_write(begun),
                });
                false
            }
            None => true,
        });
    }

    /// Hands one to Temporal.
    pub(crate) fn run(&mut self, handle: Handle, mut running: Running, cx: &mut Context<'_>) {
        // The first poll is what schedules it.
        match running.future.as_mut().poll(cx) {
            Poll::Ready(end) => self.ended.push_back(Ended {
                handle,
                end,
                is_write: running.kind == Kind::Write,
            }),
            Poll::Pending => {
                self.running.insert(handle, running);
            }
        }
    }

    /// Whether anything but timers is in flight.
    pub(crate) fn has_effects(&self) -> bool {
        let mut running = self.running.values();
        let is_timer = |begun: &Started| matches!(begun, Started::Deadline(_));
        !self.begun.values().all(is_timer) || running.any(|running| running.kind != Kind::Deadline)
    }

    /// How many of this kind Temporal has.
    pub(crate) fn count(&self, kind: Kind) -> usize {
        let running = self.running.values();
        running.filter(|running| running.kind == kind).count()
    }

    /// Whether all that Temporal has is made beside the run.
    pub(crate) fn are_all_beside(&self) -> bool {
        let mut running = self.running.values();
        running.all(|running| running.place.is_beside())
    }

    /// How many bytes may still be written beside the run.
    pub(crate) fn room_beside(&self) -> usize {
        let running = self.running.values();
        running.map(|running| running.place.room()).sum()
    }

    /// Gives one up, and returns whether its end will still be observed.
    pub(crate) fn leave(&mut self, handle: Handle) -> bool {
        self.begun.remove(&handle);
        if let Some(running) = self.running.get_mut(&handle) {
            // Dropping it alone would leave it to go on.
            running.token.cancel();
            if running.kind == Kind::Write {
                running.is_left = true;
                return true;
            }
            self.running.remove(&handle);
        }
        let is_dropped = |ended: &Ended| ended.handle == handle && !ended.is_write;
        self.ended.retain(|ended| !is_dropped(ended));
        self.has_ended(handle)
    }

    /// Keeps what has ended, of what is made beside the run or of everything else.
    pub(crate) fn poll(&mut self, is_beside: bool, cx: &mut Context<'_>) {
        let ended = &mut self.ended;
        self.running.retain(|handle, running| {
            if running.place.is_beside() != is_beside {
                return true;
            }
            match running.future.as_mut().poll(cx) {
                Poll::Ready(end) => {
                    ended.push_back(Ended {
                        handle: *handle,
                        end,
                        is_write: running.kind == Kind::Write,
                    });
                    false
                }
                Poll::Pending => true,
            }
        });
    }

    /// Takes the first end of one of these.
    pub(crate) fn take(&mut self, asked: &[Handle]) -> Option<(Handle, End)> {
        let place = self
            .ended
            .iter()
            .position(|ended| asked.contains(&ended.handle))?;
        let Ended { handle, end, .. } = self.ended.remove(place)?;
        Some((handle, end))
    }

    fn has_ended(&self, handle: Handle) -> bool {
        self.ended.iter().any(|ended| ended.handle == handle)
    }

    /// Whether one of these can still end.
    pub(crate) fn is_any(&self, asked: &[Handle]) -> bool {
        let can_end = |handle: &Handle| {
            self.begun.contains_key(handle)
                || self.running.contains_key(handle)
                || self.has_ended(*handle)
        };
        asked.iter().any(can_end)
    }

    /// Whether each of these has ended, or is waited for only because it could not be dropped.
    pub(crate) fn are_left(&self, asked: &[Handle]) -> bool {
        let is_left = |handle: &Handle| {
            let running = self.running.get(handle);
            !self.begun.contains_key(handle) && running.is_none_or(|running| running.is_left)
        };
        !asked.is_empty() && asked.iter().all(is_left)
    }
}

impl fmt::Debug for InFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InFlight")
            .field("begun", &self.begun.keys())
            .field("running", &self.running.keys())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, future::poll_fn, rc::Rc, task::Waker, time::Duration};

    use neuron_types::ToolOutput;

    use super::*;

    /// A call that ends when the cell says so.
    fn call(
        kind: Kind,
        place: &Place,
        is_done: &Rc<Cell<bool>>,
    ) -> (Running, WorkflowCancellationToken) {
        let (token, is_done) = (WorkflowCancellationToken::new(), Rc::clone(is_done));
        let end = poll_fn(move |_| match is_done.get() {
            true => Poll::Ready(End::Effect(Ok(ToolOutput::text("done").into()))),
            false => Poll::Pending,
        });
        (Running::new(kind, place.clone(), token.clone(), end), token)
    }

    /// So many calls of this kind, and what ends them.
    fn calls(kind: Kind, place: &Place, count: usize) -> (InFlight, Vec<Handle>, Rc<Cell<bool>>) {
        let mut cx = Context::from_waker(Waker::noop());
        let (mut in_flight, is_done) = (InFlight::default(), Rc::default());
        let handles = (0..count).map(|_| in_flight.begin(Started::Deadline(Duration::ZERO)));
        let handles: Vec<_> = handles.collect();
        while let Some((handle, _)) = in_flight.take_begun() {
            in_flight.run(handle, call(kind, place, &is_done).0, &mut cx);
        }
        (in_flight, handles, is_done)
    }

    #[test]
    fn what_ended_at_once_is_observed_in_the_order_of_its_starts() {
        let mut cx = Context::from_waker(Waker::noop());
        let (mut in_flight, handles, is_done) = calls(Kind::Other, &Place::elsewhere(), 3);
        in_flight.poll(false, &mut cx);
        assert!(in_flight.take(&handles).is_none());
        is_done.set(true);
        in_flight.poll(true, &mut cx);
        assert!(in_flight.take(&handles).is_none(), "they are not local");
        in_flight.poll(false, &mut cx);
        // What nobody asked for is kept.
        let taken = [&handles[1..], &handles, &handles].map(|asked| in_flight.take(asked));
        let taken = taken.map(|end| end.map(|(handle, _)| handle));
        assert_eq!(
            taken,
            [Some(handles[1]), Some(handles[0]), Some(handles[2])]
        );
        assert!(!in_flight.has_effects() && !in_flight.is_any(&handles));
    }

    #[test]
    fn a_write_that_is_left_is_waited_for_and_any_other_call_is_dropped() {
        let mut cx = Context::from_waker(Waker::noop());
        let (mut in_flight, handles, is_done) = calls(Kind::Write, &Place::elsewhere(), 1);
        assert!(!in_flight.are_left(&handles));
        assert!(in_flight.leave(handles[0]));
        assert!(in_flight.are_left(&handles) && in_flight.is_any(&handles));
        is_done.set(true);
        in_flight.poll(false, &mut cx);
        assert!(in_flight.take(&handles).is_some());
        assert!(!in_flight.leave(handles[0]), "its end was observed");

        for (kind, place) in [
            (Kind::Conversation, Place::elsewhere()),
            (Kind::Other, Place::beside(1)),
            (Kind::Other, Place::elsewhere()),
        ] {
            let (mut in_flight, handles, _) = calls(kind, &place, 1);
            assert!(!in_flight.leave(handles[0]));
            assert!(!in_flight.has_effects() && in_flight.are_left(&handles));
        }
    }

    #[test]
    fn what_is_left_is_asked_to_end() {
        let mut cx = Context::from_waker(Waker::noop());
        let mut in_flight = InFlight::default();
        for kind in [Kind::Write, Kind::Other] {
            let handle = in_flight.begin(Started::Deadline(Duration::ZERO));
            let (running, token) = call(kind, &Place::elsewhere(), &Rc::default());
            in_flight.take_begun().unwrap();
            in_flight.run(handle, running, &mut cx);
            in_flight.leave(handle);
            assert!(token.is_cancelled());
        }
    }

    #[test]
    fn a_call_that_goes_on_elsewhere_is_one_of_the_others() {
        let mut cx = Context::from_waker(Waker::noop());
        let place = Place::beside(100);
        let (mut in_flight, handles, is_done) = calls(Kind::Conversation, &place, 1);
        assert!(in_flight.are_all_beside());
        assert_eq!(in_flight.room_beside(), 100);
        place.leave();
        assert!(!in_flight.are_all_beside());
        assert_eq!(in_flight.room_beside(), 0);
        is_done.set(true);
        in_flight.poll(true, &mut cx);
        assert!(in_flight.take(&handles).is_none());
        in_flight.poll(false, &mut cx);
        assert!(in_flight.take(&handles).is_some());
    }

    #[test]
    fn what_was_not_handed_over_is_left_without_a_trace() {
        let mut in_flight = InFlight::default();
        let handle = in_flight.begin(Started::Deadline(Duration::ZERO));
        assert!(!in_flight.are_left(&[handle]));
        assert!(!in_flight.leave(handle));
        assert!(!in_flight.has_effects() && in_flight.are_left(&[handle]));
        assert!(!in_flight.are_left(&[]), "nothing is waited for");
    }
}
