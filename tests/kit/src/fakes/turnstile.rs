//! Blocks the next call, whichever it is.

use std::sync::Arc;

use neuron_patience::{Dice, patience};
use tokio::{sync::watch, time::timeout};

/// Lets a number of calls begin and blocks the next ones, so that a disturbance meets the run in progress, whatever the
/// speed of the machine. Clones are one turnstile; it is open at first.
#[derive(Debug, Clone, Default)]
pub struct Turnstile(Arc<watch::Sender<State>>);

/// The moment at which a run is disturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A call has begun after this many others: it is blocked, and no other call is to begin.
    InCall {
        /// How many calls begin before.
        after: usize,
    },
    /// This many calls have ended since the last moment, and the run is processing their results. No other call begins.
    BetweenCalls {
        /// How many of them.
        after: usize,
    },
}

impl Moment {
    /// Returns a moment after at least one call and at most this many.
    ///
    /// # Panics
    ///
    /// If the number allows no such moment.
    #[must_use]
    pub fn drawn(dice: &mut Dice, most: usize) -> Self {
        let after = 1 + dice.below(most);
        if dice.coin() {
            Self::InCall { after }
        } else {
            Self::BetweenCalls { after }
        }
    }

    /// Returns how many calls pass before it.
    #[must_use]
    pub const fn after(self) -> usize {
        let (Self::InCall { after } | Self::BetweenCalls { after }) = self;
        after
    }
}

#[derive(Debug, Default)]
struct State {
    /// How many calls may still begin; `None` for any number.
    left: Option<usize>,
    /// How many calls are blocked.
    held: usize,
    /// How many calls are in flight.
    under_way: usize,
    /// How many calls ended since it was closed.
    ended: usize,
    /// The number of this closing.
    round: usize,
}

impl State {
    fn set(&mut self, left: Option<usize>) {
        self.left = left;
        self.ended = 0;
        self.round += 1;
    }
}

impl Turnstile {
    /// Closes the turnstile: from now on only as many calls begin as the moment allows, those that are blocked first.
    pub fn close_for(&self, moment: Moment) {
        self.0.send_modify(|state| state.set(Some(moment.after())));
    }

    /// Lets every call begin, also those that are blocked.
    pub fn open(&self) {
        self.0.send_modify(|state| state.set(None));
    }

    /// Waits for the moment for which it was closed.
    ///
    /// # Panics
    ///
    /// If it does not come within [`patience`].
    pub async fn reached(&self, moment: Moment) {
        self.until(&format!("{moment:?}"), |state| match moment {
            Moment::InCall { .. } => state.held > 0,
            Moment::BetweenCalls { after } => state.ended >= after,
        })
        .await;
    }

    /// Waits until no call is in flight or blocked, for example because their callers are gone.
    ///
    /// # Panics
    ///
    /// If that does not happen within [`patience`].
    pub async fn emptied(&self) {
        let is_empty = |state: &State| state.held == 0 && state.under_way == 0;
        self.until("end of every call", is_empty).await;
    }

    async fn until(&self, what: &str, is_so: impl FnMut(&State) -> bool) {
        let mut states = self.0.subscribe();
        let reached = timeout(patience(), states.wait_for(is_so)).await;
        assert!(reached.is_ok(), "no {what} in time: {:?}", self.0);
    }

    /// Begins a call: blocks it until it may pass. The call ends when the returned value is dropped.
    pub(crate) async fn pass(&self) -> Passed {
        let mut states = self.0.subscribe();
        let mut held = None;
        loop {
            if let Some(passed) = self.begin() {
                return passed;
            }
            held.get_or_insert_with(|| Held::at(self));
            let round = states.borrow_and_update().round;
            // The sender is part of this value, so there is always another state.
            states.wait_for(|state| state.round != round).await.ok();
        }
    }

    /// Begins a call, if one may begin.
    fn begin(&self) -> Option<Passed> {
        let mut round = None;
        self.0.send_if_modified(|state| {
            let left = state.left.map(|left| left.checked_sub(1));
            if left == Some(None) {
                return false;
            }
            state.left = left.flatten();
            state.under_way += 1;
            round = Some(state.round);
            true
        });
        let turnstile = self.clone();
        round.map(|round| Passed { turnstile, round })
    }
}

/// A call that is blocked.
#[derive(Debug)]
struct Held(Turnstile);

impl Held {
    fn at(turnstile: &Turnstile) -> Self {
        turnstile.0.send_modify(|state| state.held += 1);
        Self(turnstile.clone())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.0.send_modify(|state| state.held -= 1);
    }
}

/// A call that began.
#[derive(Debug)]
pub(crate) struct Passed {
    turnstile: Turnstile,
    round: usize,
}

impl Drop for Passed {
    fn drop(&mut self) {
        self.turnstile.0.send_modify(|state| {
            state.under_way -= 1;
            state.ended += usize::from(state.round == self.round);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Moment, Turnstile};

    #[tokio::test]
    async fn holds_what_comes_after_so_many() {
        let turnstile = Turnstile::default();
        drop(turnstile.pass().await);
        let moment = Moment::InCall { after: 2 };
        turnstile.close_for(moment);
        let (one, two) = (turnstile.pass().await, turnstile.pass().await);
        let third = tokio::spawn({
            let turnstile = turnstile.clone();
            async move { drop(turnstile.pass().await) }
        });
        turnstile.reached(moment).await;
        assert!(!third.is_finished());
        drop((one, two));
        turnstile.open();
        third.await.unwrap();
    }

    #[tokio::test]
    async fn what_is_held_counts_anew_when_it_is_closed_again() {
        let turnstile = Turnstile::default();
        let moment = Moment::BetweenCalls { after: 1 };
        turnstile.close_for(moment);
        drop(turnstile.pass().await);
        turnstile.reached(moment).await;
        let second = tokio::spawn({
            let turnstile = turnstile.clone();
            async move { drop(turnstile.pass().await) }
        });
        turnstile.close_for(moment);
        turnstile.reached(moment).await;
        second.await.unwrap();
        turnstile.emptied().await;
    }
}
