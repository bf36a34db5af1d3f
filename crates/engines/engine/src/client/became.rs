//! How a run reacts to a decision.

use std::time::Duration;

use neuron_types::{Decision, RunEvent, Ticket};
use tokio::time::Instant;

use super::{RunClientError, RunHandle};

/// How a run reacted to a decision about one of its tickets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Became {
    /// The run took the decision: the ticket is decided, or has one of the approvals that it needs.
    Taken,
    /// The run did not take the decision.
    Rejected {
        /// The reason.
        reason: String,
    },
}

impl RunHandle {
    /// Waits until the run takes or rejects a decision that was sent to it. `open` is the ticket as it was before. Returns
    /// `None` if the run does neither within `patience`: no process executes the run, or its process is slow.
    ///
    /// An engine that accepts a decision confirms only that the decision reaches the run. The run itself verifies who made
    /// it.
    ///
    /// # Errors
    ///
    /// As [`RunClient::status`](crate::RunClient::status) and [`RunClient::events`](crate::RunClient::events).
    pub async fn became_of(
        &self,
        open: &Ticket,
        decision: &Decision,
        patience: Duration,
    ) -> Result<Option<Became>, RunClientError> {
        let until = Instant::now() + patience;
        let id = decision.id();
        let (mut answered, mut looks) = (open.answered, 0);
        loop {
            let status = self.status().await?;
            let mut tickets = status.approvals.iter();
            let now = tickets.find(|now| now.ticket == open.ticket);
            if now.is_none_or(|now| now.answered > answered) {
                answered = now.map_or(u32::MAX, |now| now.answered);
                let events = self.events_after(0).await?;
                let mut latest = events.iter().rev();
                let became = latest.find_map(|recorded| became(&recorded.event, decision, &id));
                if became.is_some() {
                    return Ok(became);
                }
            }
            let is_closed = now.is_none();
            if Instant::now() >= until || (is_closed && status.state.is_final()) {
                return Ok(None);
            }
            tokio::time::sleep(self.client().poll_interval(looks)).await;
            looks = looks.saturating_add(1);
        }
    }
}

/// Returns how the event answers a decision; `None` if the event is about another decision.
fn became(event: &RunEvent, sent: &Decision, id: &str) -> Option<Became> {
    match event {
        RunEvent::ApprovalDecided {
            ticket, decision, ..
        }
        | RunEvent::ApprovalGiven {
            ticket, decision, ..
        } if *ticket == sent.ticket && decision.as_deref() == Some(id) => Some(Became::Taken),
        RunEvent::ApprovalRefused {
            ticket,
            reason,
            decision,
        } if *ticket == sent.ticket && decision.as_deref() == Some(id) => Some(Became::Rejected {
            reason: reason.clone(),
        }),
        _ => None,
    }
}
