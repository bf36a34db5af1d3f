//! The usage and cost of several runs.

use neuron_types::{ChildStatus, RunStatus, TokenUsage};
use rust_decimal::Decimal;
use serde::Serialize;

use crate::terminal::describe;

/// The usage of some runs so far.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Sum {
    runs: u64,
    turns: u64,
    usage: TokenUsage,
    /// The cost of the runs whose cost is known.
    cost_usd: Decimal,
    /// How many runs the cost does not include.
    runs_of_unknown_cost: u64,
}

impl Sum {
    /// Counts a run.
    pub(crate) fn add(&mut self, run: &RunStatus) {
        self.turns += u64::from(run.turn);
        self.spend(&run.usage, run.cost_usd);
    }

    /// Counts a run that cannot be read, from what the run that started it knows.
    pub(crate) fn add_child(&mut self, run: &ChildStatus) {
        self.spend(&run.usage, run.cost_usd);
    }

    fn spend(&mut self, usage: &TokenUsage, cost_usd: Option<Decimal>) {
        self.runs += 1;
        self.usage.add(usage);
        match cost_usd {
            Some(cost) => self.cost_usd = self.cost_usd.saturating_add(cost),
            None => self.runs_of_unknown_cost += 1,
        }
    }

    /// Returns the sum on a line, for people.
    pub(crate) fn line(&self) -> String {
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

/// Returns a number of things of one kind.
pub(crate) fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
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
