//! What the requests of the last minute used.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

use super::rates::{WINDOW, tokens_take};

/// The tokens that the requests of the last minute used, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Charges {
    charges: VecDeque<Charge>,
    sum: u64,
    /// The number of the next.
    next: u64,
}

#[derive(Debug)]
struct Charge {
    number: u64,
    at: Instant,
    tokens: u64,
}

impl Charges {
    /// Charges tokens, and returns the number of the charge.
    pub(crate) fn add(&mut self, at: Instant, tokens: u64) -> u64 {
        let number = self.next;
        self.next += 1;
        self.sum = self.sum.saturating_add(tokens);
        self.charges.push_back(Charge { number, at, tokens });
        number
    }

    /// Takes a charge that is not older than a minute down to this.
    pub(crate) fn lower(&mut self, number: u64, tokens: u64) {
        let charge = self.charges.iter_mut().find(|one| one.number == number);
        if let Some(charge) = charge {
            self.sum = self
                .sum
                .saturating_sub(charge.tokens.saturating_sub(tokens));
            charge.tokens = charge.tokens.min(tokens);
        }
    }

    /// Forgets what is older than a minute.
    pub(crate) fn forget(&mut self, now: Instant) {
        while let Some(oldest) = self.charges.front()
            && oldest.at + WINDOW <= now
        {
            self.sum = self.sum.saturating_sub(oldest.tokens);
            self.charges.pop_front();
        }
    }

    /// Returns when there is room for this number of tokens at the earliest; `None` if there is now. More than the
    /// whole rate has room when nothing else was charged for a minute.
    pub(crate) fn room(&self, tokens: u64, per_minute: u64) -> Option<Instant> {
        let mut over = self.sum.saturating_add(tokens).saturating_sub(per_minute);
        let mut charges = self.charges.iter();
        let mut at = None;
        while over > 0
            && let Some(charge) = charges.next()
        {
            over = over.saturating_sub(charge.tokens);
            at = Some(charge.at + WINDOW);
        }
        at
    }

    /// Estimates how long it takes until this number of tokens has been admitted.
    pub(crate) fn wait(&self, now: Instant, tokens: u64, per_minute: u64) -> Duration {
        let room = self.room(tokens, per_minute);
        let until = room.map_or(Duration::ZERO, |at| at.saturating_duration_since(now));
        // What a window does not hold comes in the next ones.
        until.saturating_add(tokens_take(tokens.saturating_sub(per_minute), per_minute))
    }
}
