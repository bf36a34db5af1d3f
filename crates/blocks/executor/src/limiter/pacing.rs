//! When the next request may start.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

use super::{
    charges::Charges,
    rates::{Rates, WINDOW},
};

/// How long nothing is sent for a key whose limit was met, where the server does not say.
const PAUSE: Duration = Duration::from_secs(5);

/// After a pause of this length a request tries whether the limit still applies, whatever the server said.
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);

/// What was asked for in the last minute, and what the server said.
#[derive(Debug)]
pub(crate) struct Pacing {
    rates: Rates,
    /// When the requests of the last minute started, oldest first.
    starts: VecDeque<Instant>,
    charges: Charges,
    /// When the next may start that is not to come at once with the one before.
    spread: Option<Instant>,
    paused_until: Option<Instant>,
    /// Requests come back one by one until then.
    careful_until: Option<Instant>,
}

impl Pacing {
    pub(crate) fn new(rates: Rates) -> Self {
        Self {
            rates,
            starts: VecDeque::new(),
            charges: Charges::default(),
            spread: None,
            paused_until: None,
            careful_until: None,
        }
    }

    /// Returns when a request of this number of tokens may start at the earliest; `None` if it may now. A request that
    /// had to wait for others is spread: the one before has its share of a minute first.
    pub(crate) fn earliest(
        &mut self,
        now: Instant,
        tokens: u64,
        is_spread: bool,
    ) -> Option<Instant> {
        self.forget(now);
        let is_careful = self.careful_until.is_some_and(|until| now < until);
        let by_requests = self.rates.requests.and_then(|most| {
            let over = self.starts.len().checked_sub(count(most))?;
            Some(*self.starts.get(over)? + WINDOW)
        });
        let by_tokens = self
            .rates
            .tokens
            .and_then(|most| self.charges.room(tokens, most));
        let spread = self.spread.filter(|_| is_spread || is_careful);
        let times = [by_requests, by_tokens, spread, self.paused_until];
        times.into_iter().flatten().max().filter(|at| *at > now)
    }

    /// Counts a request that starts, and returns the number of its charge.
    pub(crate) fn start(&mut self, now: Instant, tokens: u64) -> u64 {
        if self.rates.requests.is_some() {
            self.starts.push_back(now);
        }
        self.spread = now.checked_add(self.rates.share(tokens));
        match self.rates.tokens {
            Some(_) => self.charges.add(now, tokens),
            None => 0,
        }
    }

    /// Corrects a charge by what was used. What was used beyond it was used now.
    pub(crate) fn settle(&mut self, now: Instant, charge: u64, estimated: u64, used: u64) {
        if self.rates.tokens.is_none() {
            return;
        }
        self.forget(now);
        match used.checked_sub(estimated) {
            Some(0) => {}
            Some(more) => {
                self.charges.add(now, more);
            }
            None => self.charges.lower(charge, used),
        }
    }

    /// Starts nothing for as long as the server said.
    pub(crate) fn pause(&mut self, now: Instant, asked: Option<Duration>) {
        let until = now + asked.unwrap_or(PAUSE).min(LONGEST_PAUSE);
        let until = self.paused_until.map_or(until, |paused| paused.max(until));
        self.paused_until = Some(until);
        self.careful_until = Some(until + WINDOW);
    }

    /// Estimates how long a request waits behind this number of requests and their tokens.
    pub(crate) fn wait(&mut self, now: Instant, tokens: u64, ahead: (usize, u64)) -> Duration {
        let (requests_ahead, tokens_ahead) = ahead;
        let first = self
            .earliest(now, tokens, requests_ahead > 0)
            .map_or(Duration::ZERO, |at| at.saturating_duration_since(now));
        let by_requests = self.rates.requests.map_or(Duration::ZERO, |most| {
            let share = self.rates.share(0);
            let each = u32::try_from(requests_ahead).unwrap_or(u32::MAX);
            // The starts of the last minute make room one by one.
            let over = (self.starts.len() + requests_ahead).checked_sub(count(most));
            let over = over.map(|over| over.min(self.starts.len().saturating_sub(1)));
            let room = over.and_then(|over| self.starts.get(over));
            let room = room.map_or(Duration::ZERO, |at| {
                (*at + WINDOW).saturating_duration_since(now)
            });
            first.saturating_add(share.saturating_mul(each)).max(room)
        });
        let by_tokens = self.rates.tokens.map_or(Duration::ZERO, |most| {
            let tokens = tokens.saturating_add(tokens_ahead);
            self.charges.wait(now, tokens, most)
        });
        first.max(by_requests).max(by_tokens)
    }

    /// Forgets what no longer counts.
    fn forget(&mut self, now: Instant) {
        while self.starts.front().is_some_and(|at| *at + WINDOW <= now) {
            self.starts.pop_front();
        }
        self.charges.forget(now);
    }
}

fn count(most: u32) -> usize {
    usize::try_from(most).unwrap_or(usize::MAX)
}
