//! How a person raises a limit of a run.

use std::{str::FromStr, time::Duration};

use rust_decimal::Decimal;

use crate::{LimitOverrides, Limits};

/// By how much a limit is raised: what `extend:KEY=VALUE` says of a ticket of kind
/// [budget](crate::TicketKind::Budget).
///
/// ```
/// use neuron_types::{Extension, Limits};
///
/// let mut limits = Limits { turns: Some(10), ..Limits::default() };
/// Extension::parse("turns", "5")?.raise(&mut limits);
/// assert_eq!(limits.turns, Some(15));
/// assert!(Extension::parse("duration", "5").is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extension {
    /// `turns`: this many more.
    Turns(u32),
    /// `tool_calls`: this many more.
    ToolCalls(u32),
    /// `tokens`: this many more.
    Tokens(u64),
    /// `cost_usd`: this many more US dollars.
    CostUsd(Decimal),
    /// `duration`: this much longer.
    Duration(Duration),
    /// `deadline`: this much later.
    Deadline(Duration),
}

impl Extension {
    /// Reads the limit's name and by how much it is raised: a whole number, an amount of US dollars as `2` or `0.50`, or a
    /// time with its unit as `90s`, `30m`, `2h` or `1d`. It is more than nothing.
    ///
    /// # Errors
    ///
    /// A sentence that says what there is to write.
    pub fn parse(key: &str, by: &str) -> Result<Self, String> {
        match key {
            "turns" => count(by).map(Self::Turns),
            "tool_calls" => count(by).map(Self::ToolCalls),
            "tokens" => count(by).map(Self::Tokens),
            "cost_usd" => money(by).map(Self::CostUsd),
            "duration" => time(by).map(Self::Duration),
            "deadline" => time(by).map(Self::Deadline),
            other => Err(format!(
                "there is no limit {other:?}: extend turns, tool_calls, tokens, cost_usd, duration or deadline"
            )),
        }
    }

    /// Raises the limit by this amount. An unset limit stays unset.
    pub fn raise(self, limits: &mut Limits) {
        match self {
            Self::Turns(by) => add(&mut limits.turns, |most| most.saturating_add(by)),
            Self::ToolCalls(by) => add(&mut limits.tool_calls, |most| most.saturating_add(by)),
            Self::Tokens(by) => add(&mut limits.tokens, |most| most.saturating_add(by)),
            Self::CostUsd(by) => add(&mut limits.cost_usd, |most| most.saturating_add(by)),
            Self::Duration(by) => add(&mut limits.duration, |most| most.saturating_add(by)),
            Self::Deadline(by) => add(&mut limits.deadline, |most| most.saturating_add(by)),
        }
    }
}

impl LimitOverrides {
    /// Notes the limit that was raised by this, as it is now.
    pub fn note(&mut self, extension: Extension, limits: &Limits) {
        match extension {
            Extension::Turns(_) => self.turns = limits.turns,
            Extension::ToolCalls(_) => self.tool_calls = limits.tool_calls,
            Extension::Tokens(_) => self.tokens = limits.tokens,
            Extension::CostUsd(_) => self.cost_usd = limits.cost_usd,
            Extension::Duration(_) => self.duration = limits.duration,
            Extension::Deadline(_) => self.deadline = limits.deadline,
        }
    }

    /// Raises the limits that are below these. One that there is not stays none.
    pub fn raise(&self, limits: &mut Limits) {
        fn raise<T: Ord + Copy>(limit: &mut Option<T>, raised: Option<T>) {
            *limit = limit.map(|limit| raised.map_or(limit, |raised| limit.max(raised)));
        }
        raise(&mut limits.turns, self.turns);
        raise(&mut limits.tool_calls, self.tool_calls);
        raise(&mut limits.tokens, self.tokens);
        raise(&mut limits.cost_usd, self.cost_usd);
        raise(&mut limits.duration, self.duration);
        raise(&mut limits.deadline, self.deadline);
    }
}

fn add<T: Copy>(limit: &mut Option<T>, raise: impl FnOnce(T) -> T) {
    *limit = limit.map(raise);
}

fn count<T: FromStr + Default + PartialEq>(text: &str) -> Result<T, String> {
    // As in the agent file.
    let count: Option<T> = text.replace('_', "").parse().ok();
    count
        .filter(|count| *count != T::default())
        .ok_or_else(|| format!("{text:?} is no whole number of 1 or more"))
}

fn money(text: &str) -> Result<Decimal, String> {
    let amount = Decimal::from_str(text).ok();
    amount
        .filter(|amount| *amount > Decimal::ZERO)
        .ok_or_else(|| {
            format!("{text:?} is no amount of US dollars above 0: write one as 2 or 0.50")
        })
}

fn time(text: &str) -> Result<Duration, String> {
    let unit = text.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let number = text.strip_suffix(unit).unwrap_or_default();
    let seconds = match unit {
        "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3_600),
        "d" => Some(86_400),
        _ => None,
    };
    let number = number.parse::<u64>().ok().filter(|number| *number > 0);
    let seconds = number.zip(seconds).and_then(|(n, of)| n.checked_mul(of));
    seconds.map(Duration::from_secs).ok_or_else(|| {
        format!("{text:?} is no time: write one with its unit, as 90s, 30m, 2h or 1d")
    })
}
