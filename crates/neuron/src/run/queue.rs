//! The items of a run that its reader has not taken yet.

use std::collections::VecDeque;

use neuron_types::{RecordedEvent, RunEvent};

use super::{RunItem, Ticket, Way};

/// The items of a run that its reader has not taken yet, in order, each event once.
#[derive(Debug)]
pub(crate) struct Queue {
    way: Way,
    /// The number of the newest event.
    last: u64,
    items: VecDeque<RunItem>,
}

impl Queue {
    pub(crate) fn new(way: Way) -> Self {
        Self {
            way,
            last: 0,
            items: VecDeque::new(),
        }
    }

    /// Returns the number of the newest event.
    pub(crate) const fn last(&self) -> u64 {
        self.last
    }

    pub(crate) fn pop(&mut self) -> Option<RunItem> {
        self.items.pop_front()
    }

    /// Adds an event, and the question that it asks. A question that is answered before the reader takes it is not an
    /// item.
    pub(crate) fn add(&mut self, recorded: RecordedEvent) {
        if recorded.seq <= self.last {
            return;
        }
        self.last = recorded.seq;
        let asks = match &recorded.event {
            RunEvent::ApprovalRequested { ticket, .. } => Some(ticket.clone()),
            RunEvent::ApprovalDecided { ticket, .. } | RunEvent::ApprovalExpired { ticket } => {
                self.drop_tickets(|open| open == ticket);
                None
            }
            RunEvent::RunEnded { .. } => {
                self.drop_tickets(|_| true);
                None
            }
            _ => None,
        };
        self.items.push_back(RunItem::Event(recorded));
        if let Some(question) = asks {
            let ticket = Ticket::new(question, self.way.clone());
            self.items.push_back(RunItem::Ticket(ticket));
        }
    }

    fn drop_tickets(&mut self, is_settled: impl Fn(&str) -> bool) {
        self.items.retain(|item| match item {
            RunItem::Ticket(ticket) => !is_settled(&ticket.question().ticket),
            _ => true,
        });
    }
}

#[cfg(test)]
mod tests {
    use neuron_executor::Executor;
    use neuron_local::LocalDurableContext;
    use neuron_types::{RunId, Ticket as Question, TicketKind, Verdict};
    use serde_json::json;

    use super::*;

    fn queue() -> Queue {
        let run_id = RunId::new("r").unwrap();
        let door = LocalDurableContext::new(Executor::builder().build(), run_id);
        Queue::new(Way::Memory(door.handle()))
    }

    fn asked(seq: u64, ticket: &str) -> RecordedEvent {
        let ticket = Question {
            ticket: ticket.to_owned(),
            tool: Some("bash".to_owned()),
            args: Some(json!({})),
            ..Question::default()
        };
        let event = RunEvent::ApprovalRequested { turn: 1, ticket };
        let at = chrono::DateTime::UNIX_EPOCH;
        RecordedEvent { seq, at, event }
    }

    fn decided(seq: u64, ticket: &str) -> RecordedEvent {
        let event = RunEvent::ticket_decided(ticket, TicketKind::Call, Verdict::Approve);
        RecordedEvent {
            event,
            ..asked(seq, ticket)
        }
    }

    fn rest(queue: &mut Queue) -> Vec<String> {
        std::iter::from_fn(|| queue.pop())
            .map(|item| match item {
                RunItem::Ticket(ticket) => ticket.question().ticket.clone(),
                RunItem::Event(event) => event.seq.to_string(),
                other => format!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn a_question_follows_its_event_unless_it_was_answered_before_it_was_read() {
        let mut queue = queue();
        queue.add(asked(1, "a"));
        queue.add(asked(2, "b"));
        queue.add(decided(3, "a"));
        assert_eq!(rest(&mut queue), ["1", "2", "b", "3"]);
    }

    #[test]
    fn an_event_is_given_once() {
        let mut queue = queue();
        queue.add(asked(1, "a"));
        queue.add(asked(1, "a"));
        assert_eq!(rest(&mut queue), ["1", "a"]);
        assert_eq!(queue.last(), 1);
    }
}
