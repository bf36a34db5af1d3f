//! The shape of a tree, and the script of its runs.

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

use neuron_harness::chat;
use serde_json::{Value, json};

use crate::{
    chaos::load::{call_id, write},
    model::Model,
};

/// How many runs the first one starts.
const HELPERS: usize = 4;

/// How many runs each helper starts.
const LEAVES: usize = 2;

/// The last turn of the first run. No other run has it.
pub(crate) const LAST: usize = 5;

/// How many runs a tree has.
pub(crate) const RUNS: usize = 1 + HELPERS + HELPERS * LEAVES;

/// How many model calls a tree makes.
pub(crate) const CALLS: usize = LAST + HELPERS * turns_at(1) + HELPERS * LEAVES * turns_at(2);

/// The turn in which runs start others.
const STARTS: usize = 2;

/// The price of a million tokens of a prompt and of an answer, in US dollars: that of one token in millionths.
const PRICES: (u64, u64) = (10, 100);

/// The budget of a tree: plenty for attempts that are lost.
pub(crate) const BUDGET: Spent = Spent {
    tokens: 3_000_000,
    millionths: 150_000_000,
};

/// How long the model takes for an answer.
const ANSWER: Duration = Duration::from_millis(50); // What a kill may fall into.

/// The prefix of the first run of a tree whose runs check each other all the time.
pub(crate) const BRIEF: &str = "ended";

/// An amount of tokens and money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    pub(crate) tokens: u64,
    /// Millionths of a US dollar.
    pub(crate) millionths: u64,
}

impl Spent {
    /// Returns the amount of an answer with these tokens.
    pub(crate) fn of((input, output): (u64, u64)) -> Self {
        Self {
            tokens: input + output,
            millionths: input * PRICES.0 + output * PRICES.1,
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens + other.tokens,
            millionths: self.millionths + other.millionths,
        }
    }

    pub(crate) fn sum(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().fold(Self::default(), Self::plus)
    }

    /// Returns whether the amount is at least this much, of both.
    pub(crate) fn covers(self, other: Self) -> bool {
        self.tokens >= other.tokens && self.millionths >= other.millionths
    }
}

const fn turns_at(depth: usize) -> usize {
    match depth {
        0 => LAST,
        1 => 3,
        _ => 4,
    }
}

/// Returns how many runs are above this one.
pub(crate) fn depth(run: &str) -> usize {
    run.matches('.').count()
}

/// Returns how many turns this run has.
pub(crate) fn turns(run: &str) -> usize {
    turns_at(depth(run))
}

/// Returns whether a run is one of this tree.
pub(crate) fn is_of(root: &str, run: &str) -> bool {
    run.strip_prefix(root)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Returns the runs that this one starts.
pub(crate) fn children(run: &str) -> Vec<String> {
    let count = match depth(run) {
        0 => HELPERS,
        1 => LEAVES,
        _ => 0,
    };
    (1..=count)
        .map(|position| format!("{run}.{STARTS}-{position}"))
        .collect()
}

/// Returns all runs of a tree, each after the run that starts it.
pub(crate) fn runs(root: &str) -> Vec<String> {
    let below = children(root);
    let below = below.iter().flat_map(|child| runs(child));
    std::iter::once(root.to_owned()).chain(below).collect()
}

/// Returns the turns of a run whose call is a write.
pub(crate) fn writes(run: &str) -> &'static [usize] {
    match depth(run) {
        0 => &[3],
        1 => &[1],
        _ => &[1, 2],
    }
}

/// Returns the turn of a run whose write a person is asked about.
fn asked(run: &str) -> Option<usize> {
    (depth(run) == 2).then_some(2)
}

/// Returns the final answer of a run.
pub(crate) fn output(run: &str) -> String {
    format!("{run} has done it.")
}

/// Returns the script of the model. Successive answers never report the same number of tokens.
pub(crate) fn script() -> impl Fn(&str, usize) -> Value + Send + Sync + 'static {
    let number = AtomicU64::new(0);
    move |run, turn| {
        thread::sleep(ANSWER); // For so long the model thinks.
        let mut answer = answer(run, turn);
        let input = 100 + number.fetch_add(1, Ordering::Relaxed) % 797;
        answer["usage"] = json!({
            "prompt_tokens": input,
            "completion_tokens": 10,
            "total_tokens": input + 10,
        });
        answer
    }
}

fn answer(run: &str, turn: usize) -> Value {
    let id = call_id(turn);
    let children = children(run);
    if turn >= turns(run) {
        chat::text(&output(run))
    } else if turn == STARTS && !children.is_empty() {
        let tool = match (depth(run), run.starts_with(BRIEF)) {
            (0, true) => "agent_brief_helper",
            (0, false) => "agent_helper",
            _ => "agent_leaf",
        };
        let ids: Vec<String> = (0..children.len()).map(start_id).collect();
        let calls: Vec<_> = ids
            .iter()
            .zip(&children)
            .map(|(id, child)| (id.as_str(), tool, json!({"prompt": format!("{child} go")})))
            .collect();
        chat::calls(&calls)
    } else if writes(run).contains(&turn) {
        let is_asked = asked(run) == Some(turn);
        chat::calls(&[(&id, "bash", json!({"command": write(run, turn, is_asked)}))])
    } else {
        chat::calls(&[(&id, "read_file", json!({"path": "note"}))])
    }
}

/// Returns the id of the call that starts a run.
pub(crate) fn start_id(position: usize) -> String {
    format!("start_{position}")
}

/// Returns the agent file: two leads. One of them checks its runs with this lease.
pub(crate) fn agent_file(model: &Model, lease: &str, keys: &str) -> String {
    let mut file = model.provider("");
    let budget = format!(
        "limits = {{ tokens = {}, cost_usd = {} }}\n",
        BUDGET.tokens,
        BUDGET.millionths / 1_000_000
    );
    let lease = format!("lease = \"{lease}\"\n");
    let brief = format!("{budget}{lease}");
    let asks = "ask = [\"bash(command=true asked*)\"]\n".to_owned();
    for (name, subagents, own) in [
        ("default", "\"helper\"", budget),
        ("brief", "\"brief_helper\"", brief),
        ("helper", "\"leaf\"", String::new()),
        ("brief_helper", "\"leaf\"", lease),
        ("leaf", "", asks),
    ] {
        writeln!(
            file,
            "[agents.{name}]\nmodel = \"fake/fake-1\"\ndescription = \"Does it.\"\n\
             tools = [\"bash\", \"read_file\"]\nsandbox = \"off\"\nmax_tokens = 1000\n\
             subagents = [{subagents}]\n{own}{keys}"
        )
        .unwrap();
    }
    let (input, output) = PRICES;
    writeln!(
        file,
        "[prices.\"fake/fake-1\"]\ninput = {input}\noutput = {output}"
    )
    .unwrap();
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_as_many_runs_and_calls_as_it_says() {
        let runs = runs("killed-1");
        assert_eq!(runs.len(), RUNS);
        assert_eq!(runs[2], "killed-1.2-1.2-1");
        assert_eq!(runs.iter().map(|run| turns(run)).sum::<usize>(), CALLS);
        assert!(runs.iter().all(|run| is_of("killed-1", run)));
        assert!(!is_of("killed-1", "killed-10"));
    }
}
