//! How many calls of a tool one process makes at once and how fast: `concurrency` and `rate_limit` of
//! `[agents.NAME.tool.TOOL]`.

use std::time::Duration;

use neuron_tool::{
    ToolRegistry,
    builtin::{ConcurrencyLimit, RateLimit},
};

use crate::agent_file::text::{
    keys::keys,
    kinds::{Count, Sub, Timespan},
};

const RATE: &str = "rate_limit";

keys! {
    pub(crate) struct ToolLimitKeys {
        /// How many of its calls may be in progress at once.
        concurrency: Count<usize>,
        /// How many of its calls may begin in any period of this length, as `{ calls = 10, per = "1m" }`: a count and a
        /// duration.
        rate_limit: Sub<RateLimitKeys<'_>>,
    }
}

keys! {
    pub(crate) struct RateLimitKeys {
        /// How many calls may begin.
        calls: Count<usize>,
        /// The length of the period.
        per: Timespan,
    }
}

/// The limits of one tool of one agent. Clones count together, so that all executors that are made from one
/// file share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolLimits {
    concurrency: Option<(usize, ConcurrencyLimit)>,
    rate: Option<(Rate, RateLimit)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rate {
    calls: usize,
    per: Duration,
}

impl ToolLimits {
    /// Reads the keys of a tool's table, if it has any of them.
    pub(crate) fn read(table: &ToolLimitKeys<'_>) -> Option<Self> {
        let concurrency = table.concurrency();
        let rate = read_rate(table);
        (concurrency.is_some() || rate.is_some()).then(|| Self {
            concurrency: concurrency.map(|calls| (calls, ConcurrencyLimit::new(calls))),
            rate: rate.map(|rate| (rate, RateLimit::new(rate.calls, rate.per))),
        })
    }

    /// Returns how long a call waits at most, if its attempt may take this long. A write whose time ran out before it
    /// was made would count as one that may have happened, and a write that is made late needs time, too.
    pub(crate) fn max_wait(attempt: Duration) -> Duration {
        attempt / 2
    }

    /// Puts the layers around the tool. Its attempts may take this long.
    pub(crate) fn add_to(&self, registry: &mut ToolRegistry, tool: &str, attempt: Duration) {
        let max_wait = Self::max_wait(attempt);
        let (concurrency, rate) = (self.concurrency.clone(), self.rate.clone());
        let max_wait = match (&concurrency, &rate) {
            (Some(_), Some(_)) => max_wait / 2,
            _ => max_wait,
        };
        // The order matters: a call that waits for a place has not begun.
        if let Some((_, limit)) = concurrency {
            registry.add_tool_middleware(tool, limit.max_wait(max_wait));
        }
        if let Some((_, limit)) = rate {
            registry.add_tool_middleware(tool, limit.max_wait(max_wait));
        }
    }

    fn settings(&self) -> (Option<usize>, Option<Rate>) {
        (
            self.concurrency.as_ref().map(|(calls, _)| *calls),
            self.rate.as_ref().map(|(rate, _)| *rate),
        )
    }
}

/// Compares the limits of the file, not the calls in flight.
impl PartialEq for ToolLimits {
    fn eq(&self, other: &Self) -> bool {
        self.settings() == other.settings()
    }
}

impl Eq for ToolLimits {}

fn read_rate(table: &ToolLimitKeys<'_>) -> Option<Rate> {
    if table.holds_other_than_table(RATE) {
        let message = "is not a table: write { calls = 10, per = \"1m\" }";
        table.problem(RATE, table.offset_of(RATE), message);
        return None;
    }
    let rate = table.rate_limit()?;
    for (key, example) in [("calls", "calls = 10"), ("per", "per = \"1m\"")] {
        if !rate.has(key) {
            rate.missing(example);
        }
    }
    let (calls, per) = (rate.calls(), rate.per());
    Some(Rate {
        calls: calls?,
        per: per?,
    })
}
