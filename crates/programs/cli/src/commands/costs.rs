//! `neuron costs`

use std::{borrow::Cow, collections::BTreeMap};

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;

use crate::{
    CliError, Exit,
    args::CostsArgs,
    engine::each_run,
    runs::{by::By, sum::Sum},
    session::Session,
    terminal::shown,
};

/// The longest name that others are aligned with, in characters.
const WIDEST: usize = 40;

/// The runs of one tenant, agent or label.
#[derive(Debug, Serialize)]
struct Group {
    /// `None` for the runs without a name.
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
    // An age that reaches before the first date means all runs.
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
