//! Detects that a run waits for an answer without end.

use neuron_types::{RecordedEvent, RunId, RunStatus, Ticket};

use super::RunFailure;

/// Watches a run whose questions are not answered for the moment from which it waits without end.
#[derive(Debug)]
pub(crate) struct Unanswered {
    run_id: RunId,
    agent: String,
    /// The run's status, once it has begun.
    status: Option<RunStatus>,
}

impl Unanswered {
    pub(crate) fn of(run_id: &RunId, agent: &str) -> Self {
        Self {
            run_id: run_id.clone(),
            agent: agent.to_owned(),
            status: None,
        }
    }

    /// Takes in an event.
    ///
    /// # Errors
    ///
    /// [`RunFailure::NobodyToAsk`] if the run waits for the answer to a ticket, of whatever kind, and that ticket never
    /// expires.
    pub(crate) fn check(&mut self, event: &RecordedEvent) -> Result<(), RunFailure> {
        let begun = || RunStatus::new(self.run_id.clone(), "local", &self.agent, event.at);
        let status = self.status.get_or_insert_with(begun);
        status.apply(&event.event, event.at);
        if !status.state.waits_for_person() {
            return Ok(());
        }
        let never_lapses = |ticket: &&Ticket| ticket.expires_at.is_none();
        let asked = status.approvals.iter().find(never_lapses);
        if asked.is_none() && !status.approvals.is_empty() {
            return Ok(());
        }
        let agent = asked.and_then(|ticket| ticket.agent.clone());
        Err(RunFailure::NobodyToAsk {
            agent: agent.unwrap_or_else(|| status.agent.clone()),
            asked: asked.cloned().map(Box::new),
        })
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use neuron_types::{RunEvent, RunPhase, TicketKind};

    use super::*;

    fn recorded(event: RunEvent) -> RecordedEvent {
        RecordedEvent {
            seq: 1,
            at: DateTime::UNIX_EPOCH,
            event,
        }
    }

    fn asked(ticket: Ticket) -> RecordedEvent {
        recorded(RunEvent::ApprovalRequested { turn: 1, ticket })
    }

    fn waiting() -> RecordedEvent {
        recorded(RunEvent::Waiting {
            state: RunPhase::WaitingForApproval,
        })
    }

    fn run() -> Unanswered {
        Unanswered::of(&RunId::new("r").unwrap(), "default")
    }

    #[test]
    fn a_ticket_of_any_kind_that_never_lapses_is_an_error_once_nothing_else_goes_on() {
        for kind in TicketKind::ALL {
            let mut run = run();
            let ticket = Ticket {
                ticket: "t1-1".into(),
                kind,
                ..Ticket::default()
            };
            run.check(&asked(ticket.clone())).unwrap();
            let failure = run.check(&waiting()).unwrap_err();
            let said = failure.to_string();
            assert!(
                said.contains(&format!("({kind} ticket t1-1, about ")),
                "{said}"
            );
            let RunFailure::NobodyToAsk { asked, .. } = failure else {
                panic!("{failure}");
            };
            assert_eq!(asked.as_deref(), Some(&ticket));
        }
    }

    #[test]
    fn a_ticket_that_lapses_is_waited_for_and_one_that_was_put_to_others_for_ever_is_not() {
        let mut run = run();
        run.check(&asked(Ticket {
            ticket: "t1-1".into(),
            expires_at: Some(DateTime::UNIX_EPOCH),
            ..Ticket::default()
        }))
        .unwrap();
        run.check(&waiting()).unwrap();
        let escalated = recorded(RunEvent::ApprovalEscalated {
            ticket: "t1-1".into(),
            to: "leads".into(),
            expires_at: None,
        });
        run.check(&escalated).unwrap_err();
    }
}
