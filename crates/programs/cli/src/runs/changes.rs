//! The options that change an agent for one run, and the run's tags.

use std::{str::FromStr, time::Duration};

use clap::Args;
use neuron_types::{
    AgentOrigin, AgentSpec, CallerSetting, LimitOverrides, OverrideRejected, Overrides, RunTags,
};
use rust_decimal::Decimal;

/// The changes of a run to its agent, and the run's tags.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ChangeArgs {
    /// Another model; on an engine, only if the agent lets callers set it
    #[arg(long, value_name = "PROVIDER/MODEL")]
    pub(crate) model: Option<String>,
    /// A lower limit: turns, tool_calls, tokens, cost_usd, duration or deadline
    #[arg(long = "limit", value_name = "KEY=VALUE")]
    pub(crate) limits: Vec<LimitArg>,
    /// Require approval for these calls too, such as "bash(command=git push*)"
    #[arg(long, value_name = "CALL")]
    pub(crate) ask: Vec<String>,
    /// Deny these calls too
    #[arg(long, value_name = "CALL")]
    pub(crate) deny: Vec<String>,
    /// Make these calls without approval; on an engine, only if the agent lets callers set it
    #[arg(long, value_name = "CALL")]
    pub(crate) allow: Vec<String>,
    /// The tenant of the run
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: Option<String>,
    /// A label of the run, for filters and sums
    #[arg(long = "label", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<LabelArg>,
}

impl ChangeArgs {
    /// Returns the changes to the agent.
    pub(crate) fn overrides(&self) -> Overrides {
        let mut limits = LimitOverrides::default();
        for LimitArg(limit) in &self.limits {
            limits.turns = limit.turns.or(limits.turns);
            limits.tool_calls = limit.tool_calls.or(limits.tool_calls);
            limits.tokens = limit.tokens.or(limits.tokens);
            limits.cost_usd = limit.cost_usd.or(limits.cost_usd);
            limits.duration = limit.duration.or(limits.duration);
            limits.deadline = limit.deadline.or(limits.deadline);
        }
        Overrides {
            limits,
            ask: self.ask.clone(),
            deny: self.deny.clone(),
            allow: self.allow.clone(),
            model: self.model.clone(),
            ..Overrides::default()
        }
    }

    /// Returns the run's tenant, owner and labels.
    pub(crate) fn tags(&self) -> RunTags {
        let labels = self.labels.iter();
        RunTags {
            tenant: self.tenant.clone(),
            labels: labels
                .map(|LabelArg { key, value }| (key.clone(), value.clone()))
                .collect(),
            ..RunTags::default()
        }
    }
}

/// The settings of an agent that its owner at this machine may change.
const OWN: [CallerSetting; 2] = [CallerSetting::Model, CallerSetting::Allow];

/// Returns the changes of a run of this machine's user to an agent, in case the run adopts a later definition of it.
pub(crate) fn origin_here(overrides: Overrides) -> AgentOrigin {
    AgentOrigin {
        overrides,
        may_set: OWN.into(),
    }
}

/// Returns the agent for a run of this machine's user. The agent is the user's own: the user may also set what lets
/// it do more.
///
/// # Errors
///
/// Returns the error of the first change that the agent rejects all the same.
pub(crate) fn narrowed_here(
    agent: &AgentSpec,
    overrides: &Overrides,
) -> Result<AgentSpec, OverrideRejected> {
    let mut own = agent.clone();
    own.callers_may_set.extend(OWN);
    let mut narrowed = own.narrowed(overrides)?;
    narrowed.callers_may_set.clone_from(&agent.callers_may_set);
    Ok(narrowed)
}

/// One limit, such as `turns=5`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LimitArg(LimitOverrides);

/// The reason why a text is not a valid setting.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoSetting {
    #[error("write KEY=VALUE")]
    Form,
    #[error(
        "there is no limit {0:?}: use turns, tool_calls, tokens, cost_usd, duration or deadline"
    )]
    Limit(String),
    #[error("{0:?} is not a whole number: write one such as 5")]
    Count(String),
    #[error("{0:?} is not an amount of US dollars: write one such as 5 or 0.50")]
    Money(String),
    #[error("{0:?} is not a duration: write one with its unit, such as 30m")]
    Duration(String),
}

impl FromStr for LimitArg {
    type Err = NoSetting;

    fn from_str(text: &str) -> Result<Self, NoSetting> {
        let (key, value) = text.split_once('=').ok_or(NoSetting::Form)?;
        let none = LimitOverrides::default();
        Ok(Self(match key {
            "turns" => LimitOverrides {
                turns: Some(count(value)?),
                ..none
            },
            "tool_calls" => LimitOverrides {
                tool_calls: Some(count(value)?),
                ..none
            },
            "tokens" => LimitOverrides {
                tokens: Some(count(value)?),
                ..none
            },
            "cost_usd" => LimitOverrides {
                cost_usd: Some(money(value)?),
                ..none
            },
            "duration" => LimitOverrides {
                duration: Some(duration(value)?),
                ..none
            },
            "deadline" => LimitOverrides {
                deadline: Some(duration(value)?),
                ..none
            },
            other => return Err(NoSetting::Limit(other.to_owned())),
        }))
    }
}

fn count<T: FromStr>(text: &str) -> Result<T, NoSetting> {
    // The digits may be grouped as in the agent file.
    let digits = text.replace('_', "");
    digits
        .parse()
        .map_err(|_| NoSetting::Count(text.to_owned()))
}

fn money(text: &str) -> Result<Decimal, NoSetting> {
    let amount = Decimal::from_str(text).ok();
    amount
        .filter(|amount| !amount.is_sign_negative())
        .ok_or_else(|| NoSetting::Money(text.to_owned()))
}

pub(crate) fn duration(text: &str) -> Result<Duration, NoSetting> {
    humantime::parse_duration(text).map_err(|_| NoSetting::Duration(text.to_owned()))
}

/// A label, such as `report=q3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LabelArg {
    pub(crate) key: String,
    pub(crate) value: String,
}

impl FromStr for LabelArg {
    type Err = NoSetting;

    fn from_str(text: &str) -> Result<Self, NoSetting> {
        match text.split_once('=') {
            Some((key, value)) if !key.is_empty() => Ok(Self {
                key: key.to_owned(),
                value: value.to_owned(),
            }),
            _ => Err(NoSetting::Form),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_limits_as_they_stand_in_the_agent_file() {
        let texts = [
            "turns=5",
            "tokens=2_000_000",
            "cost_usd=0.50",
            "duration=30m",
            "deadline=2h",
            "turns=4",
        ];
        let args = ChangeArgs {
            limits: texts.iter().map(|text| text.parse().unwrap()).collect(),
            ..ChangeArgs::default()
        };
        let limits = args.overrides().limits;
        assert_eq!(
            limits,
            LimitOverrides {
                turns: Some(4),
                tokens: Some(2_000_000),
                cost_usd: Some(Decimal::new(50, 2)),
                duration: Some(Duration::from_secs(1800)), // Only compared, never waited for.
                deadline: Some(Duration::from_secs(7200)), // Only compared, never waited for.
                ..LimitOverrides::default()
            }
        );
        for wrong in ["turns", "turns=-1", "colour=5", "cost_usd=-1", "duration=5"] {
            assert!(wrong.parse::<LimitArg>().is_err(), "{wrong}");
        }
        for wrong in ["report", "=q3"] {
            assert!(wrong.parse::<LabelArg>().is_err(), "{wrong}");
        }
    }
}
