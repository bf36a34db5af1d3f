//! The steps and timers of a run that Temporal has.

use std::{
    collections::BTreeMap,
    fmt,
    future::Future,
    task::{Context, Poll},
};

use futures::future::LocalBoxFuture;
use neuron_flow::Fact;
use neuron_types::Handle;
use temporalio_sdk::WorkflowCancellationToken;

use crate::door::place::Place;

/// The steps and timers that Temporal has.
///
/// They are polled in the order of their starts. So the order of their ends depends on the history alone: on which of
/// them arrived with one workflow task, or with one activation of it.
#[derive(Default)]
pub(crate) struct Running {
    going: BTreeMap<Handle, Going>,
}

/// A step or a timer that Temporal has.
pub(crate) struct Going {
    /// Resolves to the fact that it is over.
    future: LocalBoxFuture<'static, Fact>,
    /// Asks the step or timer to end early.
    token: WorkflowCancellationToken,
    /// Its role among the others.
    kind: Kind,
    place: Place,
}

/// The role of a step or a timer among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The call of the conversation's next answer.
    Conversation,
    /// Any other call, or a timer.
    Other,
}

impl Going {
    /// Wraps a future, which ends early once the token is cancelled.
    pub(crate) fn new(
        kind: Kind,
        place: Place,
        token: WorkflowCancellationToken,
        future: impl Future<Output = Fact> + 'static,
    ) -> Self {
        Self {
            future: Box::pin(future),
            token,
            kind,
            place,
        }
    }
}

impl Running {
    /// Returns whether Temporal has this step or timer.
    pub(crate) fn has(&self, handle: Handle) -> bool {
        self.going.contains_key(&handle)
    }

    /// Schedules a step or timer with Temporal. Returns its end if it has ended at once.
    pub(crate) fn begin(
        &mut self,
        handle: Handle,
        mut going: Going,
        cx: &mut Context<'_>,
    ) -> Option<Fact> {
        // The first poll schedules it.
        match going.future.as_mut().poll(cx) {
            Poll::Ready(fact) => Some(fact),
            Poll::Pending => {
                self.going.insert(handle, going);
                None
            }
        }
    }

    /// Returns whether the conversation's next answer is under way.
    pub(crate) fn has_conversation(&self) -> bool {
        let mut going = self.going.values();
        going.any(|going| going.kind == Kind::Conversation)
    }

    /// Returns whether everything that Temporal has is executed beside the run.
    pub(crate) fn are_all_beside(&self) -> bool {
        let mut going = self.going.values();
        going.all(|going| going.place.is_beside())
    }

    /// Returns how many bytes may still be written beside the run.
    pub(crate) fn room_beside(&self) -> usize {
        let going = self.going.values();
        going.map(|going| going.place.room()).sum()
    }

    /// Asks a step or timer to end early, and drops it unless its end is owed. If it was only dropped, it would
    /// continue.
    pub(crate) fn leave(&mut self, handle: Handle, is_owed: bool) {
        if let Some(going) = self.going.get(&handle) {
            going.token.cancel();
        }
        if !is_owed {
            self.going.remove(&handle);
        }
    }

    /// Takes what has ended: of what is executed beside the run, or of everything else.
    pub(crate) fn poll(&mut self, is_beside: bool, cx: &mut Context<'_>) -> Vec<Fact> {
        let mut ended = Vec::new();
        self.going.retain(|_, going| {
            if going.place.is_beside() != is_beside {
                return true;
            }
            match going.future.as_mut().poll(cx) {
                Poll::Ready(fact) => {
                    ended.push(fact);
                    false
                }
                Poll::Pending => true,
            }
        });
        ended
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.going.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, future::poll_fn, rc::Rc, task::Waker};

    use neuron_types::ToolOutput;

    use super::*;

    /// Returns so many calls of this kind, and the switch that ends them.
    fn calls(kind: Kind, place: &Place, count: u64) -> (Running, Rc<Cell<bool>>) {
        let mut cx = Context::from_waker(Waker::noop());
        let (mut running, is_done) = (Running::default(), Rc::<Cell<bool>>::default());
        for number in 1..=count {
            let (handle, is_done) = (Handle::new(number), Rc::clone(&is_done));
            let end = poll_fn(move |_| match is_done.get() {
                true => Poll::Ready(Fact::Over {
                    handle,
                    result: Ok(ToolOutput::text("done").into()),
                }),
                false => Poll::Pending,
            });
            let token = WorkflowCancellationToken::new();
            let going = Going::new(kind, place.clone(), token, end);
            assert!(running.begin(handle, going, &mut cx).is_none());
        }
        (running, is_done)
    }

    fn ended(facts: &[Fact]) -> Vec<u64> {
        let handles = facts.iter().map(|fact| match fact {
            Fact::Over { handle, .. } => handle.number(),
            other => panic!("{other:?}"),
        });
        handles.collect()
    }

    #[test]
    fn what_ended_at_once_is_taken_in_the_order_of_its_starts() {
        let mut cx = Context::from_waker(Waker::noop());
        let (mut running, is_done) = calls(Kind::Other, &Place::elsewhere(), 3);
        assert!(running.poll(false, &mut cx).is_empty());
        is_done.set(true);
        assert!(running.poll(true, &mut cx).is_empty(), "they are not local");
        assert_eq!(ended(&running.poll(false, &mut cx)), [1, 2, 3]);
        assert!(!running.has(Handle::new(1)));
    }

    #[test]
    fn what_is_left_is_asked_to_end_and_dropped_unless_its_end_is_owed() {
        let mut cx = Context::from_waker(Waker::noop());
        let (mut running, is_done) = calls(Kind::Other, &Place::elsewhere(), 2);
        let [dropped, owed] = [1, 2].map(Handle::new);
        let token = running.going[&owed].token.clone();
        running.leave(dropped, false);
        running.leave(owed, true);
        assert!(token.is_cancelled());
        assert!(!running.has(dropped) && running.has(owed));
        is_done.set(true);
        assert_eq!(ended(&running.poll(false, &mut cx)), [2]);
    }

    #[test]
    fn a_call_that_goes_on_elsewhere_is_one_of_the_others() {
        let mut cx = Context::from_waker(Waker::noop());
        let place = Place::beside(100);
        let (mut running, is_done) = calls(Kind::Conversation, &place, 1);
        assert!(running.are_all_beside() && running.has_conversation());
        assert_eq!(running.room_beside(), 100);
        place.leave();
        assert!(!running.are_all_beside());
        assert_eq!(running.room_beside(), 0);
        is_done.set(true);
        assert!(running.poll(true, &mut cx).is_empty());
        assert_eq!(ended(&running.poll(false, &mut cx)), [1]);
    }
}
