//! What the clones of a limiter share.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use neuron_types::Priority;
use tokio::{sync::Notify, time::Instant};

use super::{line::Line, pacing::Pacing, rates::Rates, turned_away::TurnedAway};

/// The state of a limiter.
#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    pacing: Pacing,
    line: Line,
    /// When the requests come back that were turned away, soonest first: each has a turn of its own.
    away: [VecDeque<Instant>; 2],
}

/// What one that asks for its turn is answered.
#[derive(Debug)]
pub(crate) enum Turn {
    /// It may start, and has this charge.
    Now(u64),
    /// It is the next, and may start then.
    At(Instant),
    /// Others come before it. It is woken when it is the next.
    Behind,
}

impl Shared {
    pub(crate) fn new(rates: Rates) -> Self {
        Self {
            state: Mutex::new(State {
                pacing: Pacing::new(rates),
                line: Line::default(),
                away: Default::default(),
            }),
        }
    }

    /// Starts a request at once, if no other waits and nothing is in its way. Returns its charge.
    pub(crate) fn start_now(&self, tokens: u64) -> Option<u64> {
        let (mut state, now) = self.lock();
        let is_free = state.line.is_empty() && state.pacing.earliest(now, tokens, false).is_none();
        is_free.then(|| state.pacing.start(now, tokens))
    }

    /// Adds a request to the line. Returns its number there.
    ///
    /// # Errors
    ///
    /// It would wait longer than it can.
    pub(crate) fn join(
        &self,
        tokens: u64,
        priority: Priority,
        longest: Duration,
        wake: Arc<Notify>,
    ) -> Result<u64, TurnedAway> {
        let (mut state, now) = self.lock();
        let ahead = state.line.ahead(priority);
        if state.pacing.wait(now, tokens, ahead) > longest {
            return Err(state.turn_away(now, tokens, priority));
        }
        Ok(state.line.join(tokens, priority, wake))
    }

    /// Asks for the turn of one in the line. One that may start has left it.
    pub(crate) fn turn(&self, number: u64) -> Turn {
        let (mut state, now) = self.lock();
        let Some(first) = state.line.first() else {
            return Turn::Behind;
        };
        let (tokens, is_spread) = (first.tokens, first.is_spread);
        if first.number != number {
            return Turn::Behind;
        }
        if let Some(at) = state.pacing.earliest(now, tokens, is_spread) {
            return Turn::At(at);
        }
        state.line.take_first();
        let charge = state.pacing.start(now, tokens);
        state.wake_first();
        Turn::Now(charge)
    }

    /// Takes a request out of the line that waits no longer.
    pub(crate) fn leave(&self, number: u64, priority: Priority) {
        let (mut state, _) = self.lock();
        state.line.leave(number, priority);
        state.wake_first();
    }

    /// Returns what one is answered that has waited as long as it can.
    pub(crate) fn turn_away(&self, tokens: u64, priority: Priority) -> TurnedAway {
        let (mut state, now) = self.lock();
        state.turn_away(now, tokens, priority)
    }

    /// Charges the tokens that a request used.
    pub(crate) fn settle(&self, charge: u64, estimated: u64, used: u64) {
        let (mut state, now) = self.lock();
        state.pacing.settle(now, charge, estimated, used);
        state.wake_first();
    }

    /// Notes that the server wants no requests for this time.
    pub(crate) fn pause(&self, asked: Option<Duration>) {
        let (mut state, now) = self.lock();
        state.pacing.pause(now, asked);
    }

    /// Locks the state. The time is taken under the lock, so that starts are counted in their order.
    fn lock(&self) -> (MutexGuard<'_, State>, Instant) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state, Instant::now())
    }
}

impl State {
    /// Returns when a request may come back, behind all that wait and all that come back before.
    fn turn_away(&mut self, now: Instant, tokens: u64, priority: Priority) -> TurnedAway {
        let (requests, waiting_tokens) = self.line.ahead(priority);
        let [interactive, batch] = &mut self.away;
        for away in [&mut *interactive, &mut *batch] {
            while away.front().is_some_and(|at| *at <= now) {
                away.pop_front();
            }
        }
        let (count, own) = match priority {
            Priority::Interactive => (interactive.len(), interactive),
            Priority::Batch => (interactive.len() + batch.len(), batch),
        };
        // They are taken to be as large as this one.
        let away_tokens = tokens.saturating_mul(u64::try_from(count).unwrap_or(u64::MAX));
        let ahead = (
            requests.saturating_add(count),
            waiting_tokens.saturating_add(away_tokens),
        );
        let wait = self.pacing.wait(now, tokens, ahead);
        if let Some(at) = now.checked_add(wait) {
            own.push_back(at);
        }
        TurnedAway { wait }
    }

    fn wake_first(&self) {
        if let Some(first) = self.line.first() {
            first.wake.notify_one();
        }
    }
}
