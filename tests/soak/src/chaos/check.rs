//! Checks whether the promises were kept.

use std::{collections::BTreeMap, time::Duration};

use neuron_patience::patience;
use serde_json::{Value, json};

use super::{
    faults::{Faults, Kind},
    load::call_id,
};
use crate::{Report, model::Model, site::Site};

/// The longest time between the beginning of a write and its line, in seconds.
const WRITE: f64 = 2.0;

/// The times of the writes that were made, by run and turn.
type Made = BTreeMap<(String, usize), f64>;

/// The outcomes of the writes, as the runs know them.
#[derive(Debug, Default)]
struct Outcomes {
    done: usize,
    /// The writes of unknown outcome that were made.
    unknown_made: usize,
    /// The writes of unknown outcome that were not made.
    unknown_not_made: usize,
    failed: usize,
}

/// Reports the promises that were broken, and returns the figures. `writes_of` returns the turns of a run whose call is
/// a write.
/// says.
pub(crate) fn check(
    site: &Site,
    model: &Model,
    runs: &[String],
    writes_of: fn(&str) -> &'static [usize],
    faults: &Faults,
    settles: Duration,
    report: &mut Report,
) -> Value {
    let settles = settles.as_secs_f64();
    let made = writes(site, report);
    let mut outcomes = Outcomes::default();
    for run in runs {
        let run = (run.as_str(), writes_of(run));
        check_run(site, run, &made, faults, settles, &mut outcomes, report);
    }
    let (again, unexplained) = asked_again(site, model, faults, settles, report);
    json!({
        "writes": made.len(),
        "done": outcomes.done,
        "unknown_made": outcomes.unknown_made,
        "unknown_not_made": outcomes.unknown_not_made,
        "failed": outcomes.failed,
        "model_answers": model.answers().len(),
        "asked_again": again,
        "asked_again_unexplained": unexplained,
    })
}

/// Returns the lines that the writes left. Each must be there once.
fn writes(site: &Site, report: &mut Report) -> Made {
    let mut made = Made::new();
    let mut keys: BTreeMap<String, usize> = BTreeMap::new();
    for line in site.read("writes").lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [key, run, turn, at] = words[..] else {
            report.breach(site.engine, &format!("a write left {line:?}"));
            continue;
        };
        *keys.entry(key.to_owned()).or_default() += 1;
        let call = (run.to_owned(), turn.parse().unwrap());
        if made.insert(call, at.parse().unwrap()).is_some() {
            report.breach(
                site.engine,
                &format!("the write of {run}, turn {turn}, was made twice"),
            );
        }
    }
    for (key, count) in keys {
        let what = format!("{count} writes had the key {key}");
        report.promise(site.engine, count == 1, &what);
    }
    made
}

fn check_run(
    site: &Site,
    (run, turns): (&str, &[usize]),
    made: &Made,
    faults: &Faults,
    settles: f64,
    outcomes: &mut Outcomes,
    report: &mut Report,
) {
    let Some(transcript) = site.ask(&["show", run], patience()) else {
        return report.breach(site.engine, &format!("{run} has no transcript"));
    };
    let entries = transcript["entries"].as_array().unwrap();
    for &turn in turns {
        let id = call_id(turn);
        let mut results = entries
            .iter()
            .filter(|entry| entry["type"] == "tool_result" && entry["call_id"] == id.as_str());
        let Some(result) = results.next() else {
            report.breach(site.engine, &format!("{run} has no result of {id}"));
            continue;
        };
        let at = made.get(&(run.to_owned(), turn));
        match (result["failure"].as_str(), at) {
            (None, Some(_)) => outcomes.done += 1,
            (None, None) => {
                let what = format!("{id} of {run} was reported as done and was not made");
                report.breach(site.engine, &what);
            }
            (Some("outcome_unknown"), Some(at)) => {
                outcomes.unknown_made += 1;
                let what = format!("{id} of {run} was made at {at}, and its outcome is unknown");
                report.promise(site.engine, was_killed(faults, *at, settles), &what);
            }
            (Some("outcome_unknown"), None) => outcomes.unknown_not_made += 1,
            (Some(_), _) => outcomes.failed += 1,
        }
    }
}

/// Returns whether the worker was killed between the beginning of a write and the latest time of its report.
fn was_killed(faults: &Faults, at: f64, settles: f64) -> bool {
    // The ends that were cut off meanwhile were reported when the connection was back.
    let met = faults
        .0
        .iter()
        .filter(|fault| fault.begin <= at + settles && fault.end >= at);
    let reported = met.map(|fault| fault.end).fold(at, f64::max) + settles;
    let mut kills = faults
        .0
        .iter()
        .filter(|fault| fault.kind == Kind::WorkerKilled);
    kills.any(|kill| kill.end >= at - WRITE && kill.begin <= reported)
}

/// Returns how many model calls were made again after their answer, and how many of these no fault explains.
fn asked_again(
    site: &Site,
    model: &Model,
    faults: &Faults,
    settles: f64,
    report: &mut Report,
) -> (usize, usize) {
    let mut answers: BTreeMap<(String, usize), Vec<f64>> = BTreeMap::new();
    for answer in model.answers() {
        let times = answers.entry((answer.run, answer.turn)).or_default();
        times.push(answer.at);
    }
    let (mut again, mut unexplained) = (0, 0);
    for ((run, turn), times) in answers {
        // The last answer was not followed by another request.
        for at in &times[..times.len() - 1] {
            again += 1;
            let is_explained = faults.0.iter().any(|fault| {
                fault.kind.loses_answers() && fault.begin <= at + settles && fault.end >= at - WRITE
            });
            if !is_explained {
                unexplained += 1;
                let what = format!("turn {turn} of {run} was answered at {at} and asked again");
                report.breach(site.engine, &what);
            }
        }
    }
    (again, unexplained)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chaos::faults::Fault;

    #[test]
    fn a_kill_explains_a_write_that_was_not_reported_yet() {
        let fault = |kind, begin, end| Fault { kind, begin, end };
        let cut = fault(Kind::WayCut, 101.0, 130.0);
        let kill = fault(Kind::WorkerKilled, 133.0, 135.0);
        let both = Faults(vec![cut, kill]);
        let only_kill = Faults(vec![fault(Kind::WorkerKilled, 133.0, 135.0)]);

        assert!(was_killed(&both, 100.0, 5.0));
        assert!(!was_killed(&only_kill, 100.0, 5.0));
        assert!(was_killed(&only_kill, 134.0, 5.0));
        assert!(!was_killed(&only_kill, 140.0, 5.0));
    }
}
