//! Kills of workers and servers during trees of runs.

use std::{collections::BTreeMap, sync::atomic::AtomicBool, thread, time::Duration};

use neuron_patience::{Dice, long_patience, patience};
use serde_json::{Value, json};

use crate::{
    Report,
    chaos::{
        check::check,
        faults::{Faults, Kind, Pace},
        load,
    },
    model::Model,
    raised::Raised,
    site::{BETWEEN_CALLS, Site, is_over},
    trees::{
        shape::{self, RUNS},
        tally::Tally,
    },
};

/// How often workers and servers are killed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kills {
    pub(crate) workers: usize,
    /// The kills of the server, on an engine that has one.
    pub(crate) servers: usize,
    /// How many trees are in progress at once.
    pub(crate) at_once: usize,
    pub(crate) pace: Pace,
    /// How long after an event a fault may still have affected it.
    pub(crate) settles: Duration,
}

/// Starts trees until all faults are made. Reports the promises that were broken, and returns the figures.
pub(crate) fn killed(
    site: &Site,
    model: &Model,
    dice: &mut Dice,
    kills: Kills,
    report: &mut Report,
) -> Value {
    let mut kinds = vec![Kind::WorkerKilled; kills.workers];
    if site.engine.server().is_some() {
        kinds.extend(vec![Kind::ServerRestarted; kills.servers]);
    }
    let kinds = dice.shuffled(kinds);
    let is_enough = AtomicBool::new(false);
    let (roots, faults) = thread::scope(|scope| {
        let end = Raised(&is_enough);
        let starting = scope.spawn(|| {
            load::start_runs(
                site,
                model,
                "killed",
                shape::LAST,
                kills.at_once,
                &is_enough,
            )
        });
        let faults = Faults::of(site, model, dice, kills.pace, kinds);
        drop(end);
        (starting.join().unwrap(), faults)
    });
    let runs: Vec<String> = roots.iter().flat_map(|root| shape::runs(root)).collect();
    all_end(site, &roots, &runs, report);

    let found = check(
        site,
        model,
        &runs,
        shape::writes,
        &faults,
        kills.settles,
        report,
    );
    for run in &runs {
        check_results(site, run, report);
    }
    let mut tally = Tally::of(model);
    for root in &roots {
        tally.check(site, root, report);
    }
    json!({
        "trees": roots.len(),
        "runs": runs.len(),
        "faults": faults.counts(),
        "found": found,
        "tally": tally.figures(),
    })
}

/// Reports the runs whose answer did not reach the run that started them.
fn check_results(site: &Site, run: &str, report: &mut Report) {
    let children = shape::children(run);
    if children.is_empty() {
        return;
    }
    let Some(transcript) = site.ask(&["show", run], patience()) else {
        return report.breach(site.engine, &format!("{run} has no transcript"));
    };
    let entries = transcript["entries"].as_array().unwrap();
    for (position, child) in children.iter().enumerate() {
        let id = shape::start_id(position);
        let mut results = entries
            .iter()
            .filter(|entry| entry["type"] == "tool_result" && entry["call_id"] == id.as_str());
        let result = results.next().map(Value::to_string).unwrap_or_default();
        let is_well = result.contains(&shape::output(child)) && results.next().is_none();
        let what = format!("{run} read of {child}: {result}");
        report.promise(site.engine, is_well, &what);
    }
}

/// Waits until all of these trees are over, and reports each of their runs that did not do its task.
fn all_end(site: &Site, roots: &[String], runs: &[String], report: &mut Report) {
    let mut open = usize::MAX;
    let listed = site.wait("end of all trees", long_patience(), BETWEEN_CALLS, || {
        let listed = site.newest(roots.len() * RUNS)?;
        let over: Vec<_> = listed.iter().filter(|status| is_over(status)).collect();
        let is_listed = |root: &&String| over.iter().any(|status| status["run_id"] == ***root);
        let left = roots.iter().filter(|root| !is_listed(root)).count();
        if open != left {
            open = left;
            site.note(&format!("{left} of {} trees go on", roots.len()));
        }
        (left == 0 && over.len() == listed.len()).then_some(listed)
    });
    let listed: BTreeMap<&str, &Value> = listed
        .iter()
        .map(|status| (status["run_id"].as_str().unwrap_or_default(), status))
        .collect();
    for run in runs {
        let status = listed.get(run.as_str()).copied().unwrap_or(&Value::Null);
        let is_well = status["state"] == "completed"
            && status["last_message"].as_str() == Some(&shape::output(run));
        report.promise(
            site.engine,
            is_well,
            &format!("{run} did not complete: {status}"),
        );
    }
    report.promise(
        site.engine,
        listed.len() == runs.len(),
        &format!("{} runs are listed of {}", listed.len(), runs.len()),
    );
}
