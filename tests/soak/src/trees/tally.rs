//! Compares the usage that trees report with the model server's.

use std::collections::{BTreeMap, BTreeSet};

use neuron_patience::patience;
use serde_json::{Value, json};

use super::shape::{self, BUDGET, Spent};
use crate::{EngineName, Report, model::Model, site::Site};

/// The answers of the model, and their use by trees.
#[derive(Debug)]
pub(crate) struct Tally {
    /// The tokens of all answers, by run and turn.
    answers: BTreeMap<(String, usize), Vec<(u64, u64)>>,
    /// The usage that the model reported for all trees.
    answered: Spent,
    used: Spent,
    reserved: Spent,
    /// The number of answers that no run has.
    lost: usize,
    /// The number of attempts that were charged.
    charged: u64,
}

/// The contents of the events of a run.
#[derive(Debug, Default)]
struct Book {
    /// The turns whose answers the run knows.
    turns: BTreeSet<usize>,
    used: Spent,
    /// The attempts that were charged, by turn.
    charged: BTreeMap<usize, u64>,
    reserved: Spent,
    /// The usage and charges of the runs that it started.
    below: BTreeMap<String, (Spent, Spent)>,
}

impl Tally {
    /// Returns the tally of a model, without any tree yet.
    pub(crate) fn of(model: &Model) -> Self {
        let mut answers: BTreeMap<(String, usize), Vec<(u64, u64)>> = BTreeMap::new();
        for answer in model.answers() {
            let of_turn = answers.entry((answer.run, answer.turn)).or_default();
            of_turn.push(answer.tokens);
        }
        Self {
            answers,
            answered: Spent::default(),
            used: Spent::default(),
            reserved: Spent::default(),
            lost: 0,
            charged: 0,
        }
    }

    /// Compares the events and the status of all runs of a tree with the model's answers.
    pub(crate) fn check(&mut self, site: &Site, root: &str, report: &mut Report) {
        let engine = site.engine;
        let events = site.ask_lines(&["events", root, "--tree"], patience());
        let status = site.ask(&["status", root, "--tree"], patience());
        let (Some(events), Some(status)) = (events, status) else {
            return report.breach(engine, &format!("{root} has no events, or no status"));
        };
        let mut books: BTreeMap<String, Book> = BTreeMap::new();
        for event in &events {
            let run = event["run"].as_str().unwrap_or_default();
            let book = books.entry(run.to_owned()).or_default();
            self.enter(engine, (run, book), event, report);
        }
        for run in shape::runs(root) {
            match books.get(&run) {
                Some(book) => self.check_run(engine, (&run, book), &books, report),
                None => report.breach(engine, &format!("{run} has no events")),
            }
        }
        self.check_status(engine, (root, &status), &books, report);
    }

    /// Takes in an event of a run.
    fn enter(
        &self,
        engine: EngineName,
        (run, book): (&str, &mut Book),
        event: &Value,
        report: &mut Report,
    ) {
        let turn = || usize::try_from(event["turn"].as_u64().unwrap()).unwrap();
        match event["type"].as_str().unwrap_or_default() {
            "model_responded" => {
                let (turn, tokens) = (turn(), tokens(&event["usage"]));
                book.used = book.used.plus(Spent::of(tokens));
                let is_new = book.turns.insert(turn);
                let known = self.answers.get(&(run.to_owned(), turn));
                let is_known = known.is_some_and(|known| known.contains(&tokens));
                // Attempts that were lost reported nothing.
                let is_first = self::tokens(&event["spent_before"]["usage"]) == (0, 0);
                let what = format!("{run} has an answer that was not given, or twice: {event}");
                report.promise(engine, is_new && is_known && is_first, &what);
            }
            "call_charged" => {
                *book.charged.entry(turn()).or_default() += event["attempts"].as_u64().unwrap();
                book.reserved = book.reserved.plus(amount(&event["charged"]));
            }
            "child_ended" => {
                let child = event["run_id"].as_str().unwrap_or_default().to_owned();
                let sums = (
                    spent(event, "usage", "cost_usd"),
                    amount(&event["reserved"]),
                );
                let is_new = book.below.insert(child, sums).is_none();
                let is_well = is_new && event["exit_reason"] == "complete";
                report.promise(engine, is_well, &format!("{run} has {event}"));
            }
            "call_exceeded" | "signal_ignored" | "model_failed" => {
                report.breach(engine, &format!("{run} has {event}"));
            }
            _ => {}
        }
    }

    /// Compares the report of a run with those of the runs below it, and with the answers of the model.
    fn check_run(
        &mut self,
        engine: EngineName,
        (run, book): (&str, &Book),
        books: &BTreeMap<String, Book>,
        report: &mut Report,
    ) {
        let turns = (1..=shape::turns(run)).collect();
        let what = format!("{run} knows the answers of the turns {:?}", book.turns);
        report.promise(engine, book.turns == turns, &what);
        let children = shape::children(run);
        let ended: Vec<&String> = book.below.keys().collect();
        let what = format!("of {run} these have ended: {ended:?}");
        report.promise(engine, ended.iter().copied().eq(&children), &what);
        for (child, told) in &book.below {
            let known = books.get(child).map(Book::all);
            let what =
                format!("{child} says that it used {known:?}, and {run} that it was {told:?}");
            report.promise(engine, known == Some(*told), &what);
        }
        for turn in turns {
            let given = self.answers.get(&(run.to_owned(), turn));
            let given = given.map(Vec::as_slice).unwrap_or_default();
            self.answered = self
                .answered
                .plus(Spent::sum(given.iter().copied().map(Spent::of)));
            let lost = given.len().saturating_sub(1);
            let charged = book.charged.get(&turn).copied().unwrap_or_default();
            self.lost += lost;
            self.charged += charged;
            // Restate does not report which attempts were lost with their worker.
            let is_charged = charged >= u64::try_from(lost).unwrap();
            let what = format!(
                "turn {turn} of {run} was answered {} times, and {charged} attempts were charged",
                given.len()
            );
            report.promise(engine, is_charged || engine == EngineName::Restate, &what);
        }
    }

    /// Compares the status of a tree with its events.
    fn check_status(
        &mut self,
        engine: EngineName,
        (root, status): (&str, &Value),
        books: &BTreeMap<String, Book>,
        report: &mut Report,
    ) {
        let nodes = status["tree"].as_array().unwrap();
        let ids: Vec<&str> = nodes
            .iter()
            .filter_map(|node| node["run_id"].as_str())
            .collect();
        let what = format!("the tree of {root} has {ids:?}");
        report.promise(engine, ids.iter().copied().eq(shape::runs(root)), &what);
        for node in nodes {
            let run = node["run_id"].as_str().unwrap_or_default();
            let own = spent(node, "usage", "cost_usd");
            let known = books.get(run).map(|book| book.used);
            let what = format!("{run} used {known:?}, and its status says {own:?}");
            report.promise(engine, known == Some(own), &what);
        }
        let used = spent(status, "tree_usage", "tree_cost_usd");
        let reserved = amount(&status["reserved"]);
        let of_runs = Spent::sum(books.values().map(|book| book.used));
        let charged = Spent::sum(books.values().map(|book| book.reserved));
        let what = format!(
            "{root} used {used:?} and reserved {reserved:?}, and its runs {of_runs:?} and {charged:?}"
        );
        report.promise(engine, used == of_runs && reserved == charged, &what);
        let all = used.plus(reserved);
        let what = format!("{root} is charged {all:?}: more than it may use");
        report.promise(engine, BUDGET.covers(all), &what);
        self.used = self.used.plus(used);
        self.reserved = self.reserved.plus(reserved);
    }

    /// Returns the tally as figures.
    pub(crate) fn figures(&self) -> Value {
        json!({
            "answered_tokens": self.answered.tokens,
            "used_tokens": self.used.tokens,
            "used_usd": dollars(self.used),
            "reserved_tokens": self.reserved.tokens,
            "reserved_usd": dollars(self.reserved),
            "answers_lost": self.lost,
            "attempts_charged": self.charged,
        })
    }
}

impl Book {
    /// Returns the usage and charges of the run and those below it.
    fn all(&self) -> (Spent, Spent) {
        let below = self.below.values().copied();
        below.fold((self.used, self.reserved), |all, (used, reserved)| {
            (all.0.plus(used), all.1.plus(reserved))
        })
    }
}

/// Returns the tokens of the prompts and of the answers of a usage.
fn tokens(usage: &Value) -> (u64, u64) {
    let number = |key: &str| usage[key].as_u64().unwrap_or_default();
    (number("input_tokens"), number("output_tokens"))
}

fn spent(value: &Value, usage: &str, cost: &str) -> Spent {
    let (input, output) = tokens(&value[usage]);
    Spent {
        tokens: input + output,
        millionths: millionths(&value[cost]),
    }
}

/// Returns an amount, which is left out of the JSON if it is zero.
fn amount(value: &Value) -> Spent {
    if value.is_null() {
        return Spent::default();
    }
    Spent {
        tokens: value["tokens"].as_u64().unwrap_or_default(),
        millionths: millionths(&value["cost_usd"]),
    }
}

/// Returns dollars, a text or a number, in millionths; an impossible amount if they are not known.
fn millionths(dollars: &Value) -> u64 {
    let dollars = match dollars {
        Value::String(text) => text.parse().ok(),
        other => other.as_f64(),
    };
    dollars.map_or(u64::MAX / 4, |dollars| (dollars * 1e6).round() as u64)
}

fn dollars(spent: Spent) -> f64 {
    spent.millionths as f64 / 1e6
}
