//! Who waits for a turn, and whose is next.

use std::{collections::VecDeque, sync::Arc};

use neuron_types::Priority;
use tokio::sync::Notify;

/// How many turns in a row go to interactive requests while others wait.
const IN_A_ROW: u32 = 9;

/// Those who wait, in the order in which they came: the interactive ones before the others, who have every tenth turn.
#[derive(Debug, Default)]
pub(crate) struct Line {
    interactive: VecDeque<Waiting>,
    batch: VecDeque<Waiting>,
    /// The turns of interactive requests since others have waited for theirs.
    in_a_row: u32,
    /// The number of the next to come.
    next: u64,
}

/// One that waits.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) number: u64,
    pub(crate) tokens: u64,
    /// Others waited when it came: it does not start at once with the one before.
    pub(crate) is_spread: bool,
    pub(crate) wake: Arc<Notify>,
}

impl Line {
    pub(crate) fn is_empty(&self) -> bool {
        self.interactive.is_empty() && self.batch.is_empty()
    }

    /// Adds one to the end of its part, and returns its number.
    pub(crate) fn join(&mut self, tokens: u64, priority: Priority, wake: Arc<Notify>) -> u64 {
        let number = self.next;
        self.next += 1;
        let is_spread = !self.is_empty();
        self.part(priority).push_back(Waiting {
            number,
            tokens,
            is_spread,
            wake,
        });
        number
    }

    /// Takes a request out, wherever it stands.
    pub(crate) fn leave(&mut self, number: u64, priority: Priority) {
        self.part(priority).retain(|one| one.number != number);
        self.note_no_batch();
    }

    /// Returns the request whose turn is next.
    pub(crate) fn first(&self) -> Option<&Waiting> {
        let (first, other) = match self.is_turn_of_batch() {
            true => (&self.batch, &self.interactive),
            false => (&self.interactive, &self.batch),
        };
        first.front().or_else(|| other.front())
    }

    /// Takes out the request whose turn is next.
    pub(crate) fn take_first(&mut self) {
        if self.is_turn_of_batch() || self.interactive.is_empty() {
            self.batch.pop_front();
            self.in_a_row = 0;
        } else {
            self.interactive.pop_front();
            self.in_a_row = self.in_a_row.saturating_add(1);
        }
        self.note_no_batch();
    }

    /// Returns how many come before one that would join now, and their tokens. It is a guess where those of the other
    /// part join or are let in meanwhile.
    pub(crate) fn ahead(&self, priority: Priority) -> (usize, u64) {
        let count = |part: &VecDeque<Waiting>| {
            let tokens = part
                .iter()
                .fold(0_u64, |sum, one| sum.saturating_add(one.tokens));
            (part.len(), tokens)
        };
        let (interactive, interactive_tokens) = count(&self.interactive);
        match priority {
            Priority::Interactive => (interactive, interactive_tokens),
            Priority::Batch => {
                let (batch, tokens) = count(&self.batch);
                (
                    interactive.saturating_add(batch),
                    interactive_tokens.saturating_add(tokens),
                )
            }
        }
    }

    fn part(&mut self, priority: Priority) -> &mut VecDeque<Waiting> {
        match priority {
            Priority::Interactive => &mut self.interactive,
            Priority::Batch => &mut self.batch,
        }
    }

    fn is_turn_of_batch(&self) -> bool {
        self.in_a_row >= IN_A_ROW && !self.batch.is_empty()
    }

    /// Notes that no batch request waits: nothing is counted.
    fn note_no_batch(&mut self) {
        if self.batch.is_empty() {
            self.in_a_row = 0;
        }
    }
}
