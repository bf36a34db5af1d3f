//! Trees that are ended at their first run.

use std::{
    thread,
    time::{Duration, Instant},
};

use neuron_patience::{Dice, patience};
use serde_json::{Value, json};

use crate::{
    Report,
    clock::now,
    model::Model,
    site::{BETWEEN_CALLS, BETWEEN_LOOKS, Site, is_over},
    trees::shape::{self, BRIEF, CALLS, LAST, RUNS},
};

/// The manner in which trees are ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// Their first run is cancelled.
    Cancelled,
    /// The engine ends their first run, which does not notice.
    FromOutside,
}

/// How many trees are ended, and the promises about that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Endings {
    pub(crate) trees: usize,
    /// How many trees are in progress at once.
    pub(crate) at_once: usize,
    /// The longest time from a request of the model to the end.
    pub(crate) after: Duration,
    /// How long any run may continue.
    pub(crate) within: Duration,
    /// How long after the end of all runs a call may still be in flight.
    pub(crate) settles: Duration,
}

/// A tree that is ended.
#[derive(Debug)]
struct Tree {
    root: String,
    /// The number of requests of its runs after which the tree is ended.
    requests: usize,
    after: Duration,
    /// Whether its first run was over before.
    is_late: bool,
    ended: Option<Instant>,
    /// When all its runs were over, and how long that took.
    over: Option<(f64, Duration)>,
}

impl Tree {
    /// Returns whether the tree was ended, and some of its runs may not be over yet.
    fn is_ending(&self) -> bool {
        self.ended.is_some() && self.over.is_none()
    }
}

impl How {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::FromOutside => BRIEF,
        }
    }

    const fn agent(self) -> &'static str {
        match self {
            Self::Cancelled => "default",
            Self::FromOutside => "brief",
        }
    }

    fn end(self, site: &Site, root: &str) -> bool {
        match self {
            Self::Cancelled => site.ask(&["cancel", root], patience()).is_some(),
            Self::FromOutside => site.terminate(root),
        }
    }
}

/// Starts trees and ends each at a random moment. Reports the promises that were broken, and returns the figures.
pub(crate) fn end_all(
    site: &Site,
    model: &Model,
    dice: &mut Dice,
    how: How,
    endings: Endings,
    report: &mut Report,
) -> Value {
    let mut trees: Vec<Tree> = (1..=endings.trees)
        .map(|number| Tree {
            root: format!("{}-{number}", how.as_str()),
            requests: dice.below(CALLS),
            after: dice.between(Duration::ZERO, endings.after),
            is_late: false,
            ended: None,
            over: None,
        })
        .collect();
    for some in trees.chunks_mut(endings.at_once) {
        for tree in &*some {
            site.starts(&tree.root, how.agent());
        }
        end_some(site, model, how, endings, some, report);
    }
    stays_over(site, model, endings, &trees, report);
    let took = trees.iter().filter_map(|tree| tree.over);
    let longest = took.map(|(_, took)| took).max().unwrap_or_default();
    json!({
        "trees": trees.len(),
        "over_before": trees.iter().filter(|tree| tree.is_late).count(),
        "longest_s": longest.as_secs_f64(),
    })
}

/// Ends each tree at its moment, and waits until all runs of these trees are over.
fn end_some(
    site: &Site,
    model: &Model,
    how: How,
    endings: Endings,
    trees: &mut [Tree],
    report: &mut Report,
) {
    let deadline = Instant::now() + patience().max(endings.within);
    while trees.iter().any(|tree| tree.over.is_none()) {
        for tree in trees.iter_mut().filter(|tree| tree.ended.is_none()) {
            end_at_its_moment(site, model, how, tree);
        }
        let mut open = Vec::new();
        if trees.iter().any(Tree::is_ending) {
            open = look(site, trees);
        }
        if Instant::now() > deadline {
            return report.breach(site.engine, &format!("these runs go on: {open:#?}"));
        }
        thread::sleep(BETWEEN_LOOKS); // Between two looks.
    }
    for tree in trees {
        let took = tree.over.map(|(_, took)| took).unwrap_or_default();
        let what = format!("{} was over after {took:?}", tree.root);
        report.promise(site.engine, took <= endings.within, &what);
    }
}

fn end_at_its_moment(site: &Site, model: &Model, how: How, tree: &mut Tree) {
    let root = tree.root.as_str();
    let requests = model.count_of(|run| shape::is_of(root, run));
    // On a busy machine runs may consider each other gone, and the tree makes fewer requests.
    let is_through = || model.answered(root, LAST).is_some();
    if requests < tree.requests && !is_through() {
        return;
    }
    thread::sleep(tree.after); // A random moment; no event reports it.
    site.note(&format!("{root} is {}", how.as_str()));
    tree.is_late = site.wait("end of a tree", patience(), BETWEEN_CALLS, || {
        let status = site.ask(&["status", root], patience())?;
        if is_over(&status) {
            return Some(true);
        }
        how.end(site, root).then_some(false)
    });
    tree.ended = Some(Instant::now());
}

/// Notes which of these trees are over, and returns the runs of the others that are not over.
fn look(site: &Site, trees: &mut [Tree]) -> Vec<String> {
    let listed = site.newest(trees.len() * RUNS).unwrap_or_default();
    let mut open = Vec::new();
    for tree in trees.iter_mut().filter(|tree| tree.is_ending()) {
        let runs: Vec<&Value> = listed.iter().filter(|status| is_in(tree, status)).collect();
        let is_listed = runs.iter().any(|status| status["run_id"] == *tree.root);
        let going: Vec<_> = runs.iter().filter(|status| !is_over(status)).collect();
        if is_listed && going.is_empty() {
            let took = tree.ended.map(|ended| ended.elapsed());
            tree.over = took.map(|took| (now(), took));
        }
        open.extend(going.into_iter().map(|status| status.to_string()));
    }
    open
}

fn is_in(tree: &Tree, status: &Value) -> bool {
    let run = status["run_id"].as_str().unwrap_or_default();
    shape::is_of(&tree.root, run)
}

/// Reports requests of runs that were over.
fn stays_over(site: &Site, model: &Model, endings: Endings, trees: &[Tree], report: &mut Report) {
    let listed = site.wait("runs", patience(), BETWEEN_CALLS, || {
        site.newest(trees.len() * RUNS)
    });
    let over_of = |run: &str| {
        let tree = trees.iter().find(|tree| shape::is_of(&tree.root, run))?;
        tree.over.map(|(over, _)| over)
    };
    for status in listed.iter().filter(|status| !is_over(status)) {
        let run = status["run_id"].as_str().unwrap_or_default();
        let what = format!("{run} goes on after its tree was over");
        report.promise(site.engine, over_of(run).is_none(), &what);
    }
    let asked = model.asked().into_iter();
    let asked = asked.map(|asked| (asked.run, asked.at, "asked the model"));
    let written = site.read("writes");
    let written = written.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let run = words.next()?.to_owned();
        Some((run, words.nth(1)?.parse().ok()?, "wrote"))
    });
    for (run, at, what) in asked.chain(written) {
        let over = over_of(&run).unwrap_or(f64::INFINITY);
        let what = format!("{run} {what} at {at}, and was over at {over}");
        report.promise(
            site.engine,
            at <= over + endings.settles.as_secs_f64(),
            &what,
        );
    }
}
