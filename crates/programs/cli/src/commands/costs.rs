//! `neuron costs`

use std::{borrow::Cow, collections::BTreeMap};

use chrono::{DateTime, TimeDelta, Utc};
use neuron_types::{RunStatus, TokenUsage};
use rust_decimal::Decimal;
use serde::Serialize;

use crate::{
    CliError, Exit,
    args::CostsArgs,
    engine::each_run,
    runs::by::By,
    session::Session,
    terminal::{describe, shown},
};

/// The longest name that others are lined up with, in characters.
const WIDEST: usize = 40;

/// What some runs used so far.
#[derive(Debug, Default, Serialize)]
struct Sum {
    runs: u64,
    turns: u64,
    usage: TokenUsage,
    /// Of the runs whose cost is known.
    cost_usd: Decimal,
    /// How many runs are not in the cost.
    runs_of_unknown_cost: u64,
}

impl Sum {
    fn add(&mut self, run: &RunStatus) {
        self.runs += 1;
        self.turns += u64::from(run.turn);
        self.usage.add(&run.usage);
        match run.cost_usd {
            Some(cost) => self.cost_usd = self.cost_usd.saturating_add(cost),
            None => self.runs_of_unknown_cost += 1,
        }
    }

    fn line(&self) -> String {
        let mut line = format!(
            "{}  {}  {}  {}",
            counted(self.runs, "run"),
            counted(self.turns, "turn"),
            describe::tokens(&self.usage),
            describe::cost(self.cost_usd)
        );
        if self.runs_of_unknown_cost > 0 {
            let runs = counted(self.runs_of_unknown_cost, "run");
            line = format!("{line}, and {runs} of unknown cost");
        }
        line
    }
}

/// The runs of one tenant, agent or label.
#[derive(Debug, Serialize)]
struct Group {
    /// `None` for the runs that have none.
    name: Option<String>,
    #[serde(flatten)]
    sum: Sum,
}

#[derive(Debug, Serialize)]
struct Costs {
    by: Option<By>,
    since: Option<DateTime<Utc>>,
    groups: Vec<Group>,
    total: Sum,
}

pub(crate) async fn costs(session: &Session, args: CostsArgs) -> Result<Exit, CliError> {
    let engine = session.engine_to_look_at().await?;
    let filter = args.filter.filter(session.global.agent.as_deref());
    let age = args.since.and_then(|age| TimeDelta::from_std(age).ok());
    // What is older than time is all.
    let since = age.and_then(|age| Utc::now().checked_sub_signed(age));
    let mut total = Sum::default();
    let mut groups: BTreeMap<Option<String>, Sum> = BTreeMap::new();
    each_run(&*engine, &filter, |run| {
        if since.is_some_and(|since| run.started_at < since) {
            return;
        }
        total.add(run);
        if let Some(by) = &args.by {
            let name = by.of(run).map(ToOwned::to_owned);
            groups.entry(name).or_default().add(run);
        }
    })
    .await?;
    let groups = groups.into_iter().map(|(name, sum)| Group { name, sum });
    let costs = Costs {
        by: args.by,
        since,
        groups: groups.collect(),
        total,
    };
    if session.output.is_json() {
        session.output.counts(&costs)?;
    } else {
        session.output.text(&text(&costs))?;
    }
    Ok(Exit::Done)
}

fn text(costs: &Costs) -> String {
    if costs.by.is_none() {
        return costs.total.line();
    }
    let groups = costs.groups.iter().map(|group| {
        let name = group.name.as_deref().map(shown::line);
        let name = name.map_or_else(|| "(none)".to_owned(), Cow::into_owned);
        (name, &group.sum)
    });
    let lines: Vec<_> = groups.chain([("total".to_owned(), &costs.total)]).collect();
    let widths = lines.iter().map(|(name, _)| name.chars().count());
    let width = widths.filter(|width| *width <= WIDEST).max();
    let width = width.unwrap_or_default();
    let lines = lines
        .iter()
        .map(|(name, sum)| format!("{name:<width$}  {}", sum.line()));
    lines.collect::<Vec<_>>().join("\n")
}

fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

#[cfg(test)]
mod tests {
    use neuron_types::RunId;

    use super::*;

    #[test]
    fn a_run_of_unknown_cost_is_counted_and_not_guessed() {
        let run_id = RunId::new("r1").unwrap();
        let mut run = RunStatus::new(run_id, "local", "a", DateTime::UNIX_EPOCH);
        run.turn = 2;
        run.usage.input_tokens = 10;
        run.cost_usd = Some(Decimal::new(25, 2));
        let mut sum = Sum::default();
        sum.add(&run);
        assert_eq!(sum.line(), "1 run  2 turns  10 tokens in, 0 out  $0.25");
        run.cost_usd = None;
        sum.add(&run);
        assert_eq!(
            sum.line(),
            "2 runs  4 turns  20 tokens in, 0 out  $0.25, and 1 run of unknown cost"
        );
    }
}
