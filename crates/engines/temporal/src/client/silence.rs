//! Task queues whose workers do not answer: the client does not wait for each of their runs.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// The answers of the workers of a task queue.
#[derive(Debug, Clone, Copy, Default)]
struct Heard {
    /// Whether a worker answered about a run.
    has_answered: bool,
    /// Whether no worker answered about a run.
    was_silent: bool,
    /// The number of runs that are listed without an answer.
    listed: usize,
}

/// The answers of workers while one list was made.
#[derive(Debug, Default)]
pub(super) struct Silence(Mutex<BTreeMap<String, Heard>>);

impl Silence {
    /// Returns whether further runs of this queue need no query: its workers did not answer, and never have.
    pub(super) fn is_known(&self, queue: &str) -> bool {
        self.with(queue, |heard| heard.was_silent && !heard.has_answered)
    }

    /// Records that a worker of this queue answered.
    pub(super) fn broken(&self, queue: &str) {
        self.with(queue, |heard| heard.has_answered = true);
    }

    /// Records that no worker answered about a run, which is listed without an answer.
    pub(super) fn noted(&self, queue: &str) {
        self.with(queue, |heard| {
            heard.was_silent = true;
            heard.listed += 1;
        });
    }

    /// Returns a sentence for each queue with runs that are listed without an answer, with their number.
    pub(super) fn reasons(self) -> Vec<String> {
        let heard = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let silent = heard.into_iter().filter(|(_, heard)| heard.listed > 0);
        let reasons = silent.map(|(queue, heard)| {
            let runs = match heard.listed {
                1 => "a run of it is".to_owned(),
                runs => format!("{runs} runs of it are"),
            };
            format!(
                "no worker of the task queue \"{queue}\" answered, so that {runs} listed without tickets, turns and costs"
            )
        });
        reasons.collect()
    }

    fn with<T>(&self, queue: &str, look: impl FnOnce(&mut Heard) -> T) -> T {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        look(heard.entry(queue.to_owned()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_silent_whose_workers_have_never_answered() {
        let silence = Silence::default();
        assert!(!silence.is_known("here"));
        silence.noted("here");
        silence.noted("there");
        silence.noted("there");
        assert!(silence.is_known("here"));
        silence.broken("here");
        assert!(!silence.is_known("here"));
        let reasons = silence.reasons();
        assert_eq!(reasons.len(), 2);
        assert!(reasons[0].contains("\"here\" answered, so that a run of it is listed"));
        assert!(reasons[1].contains("2 runs of it are listed"));
    }
}
