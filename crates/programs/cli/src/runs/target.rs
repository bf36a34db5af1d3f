//! The run and the ticket that a decision is about.

use std::slice;

use neuron_engine::{RunClientError, RunHandle};
use neuron_types::{Refusal, RunStatus, Ticket};

use crate::{
    CliError,
    runs::{follow, tree::Tree},
    session::Session,
    terminal::shown,
};

/// How many runs or tickets an error names.
const MOST_NAMES: usize = 20;

/// A command that decides about a ticket.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Verb {
    pub(crate) name: &'static str,
    /// The words after the ticket.
    pub(crate) rest: &'static str,
}

/// The run and the ticket that a decision is about.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) run: RunHandle,
    pub(crate) status: RunStatus,
    pub(crate) ticket: String,
    /// The run that was named, if the ticket is that of a run below it.
    top: Option<RunHandle>,
}

impl Target {
    /// Finds the target in what is named of this run: a ticket of its own, or `CHILD/TICKET` of a run below it. If no
    /// ticket is named, the target is the run's only open ticket.
    ///
    /// # Errors
    ///
    /// [`CliError::NoOpenTicket`], [`CliError::SeveralTickets`], [`CliError::TicketsBelow`], [`CliError::NotBelow`],
    /// and errors in asking the engine.
    pub(crate) async fn of(
        session: &Session,
        run: RunHandle,
        named: Option<String>,
        verb: Verb,
    ) -> Result<Self, CliError> {
        let status = run.status().await?;
        let ticket = match (named, status.approvals.as_slice()) {
            (Some(ticket), _) => ticket,
            (None, [only]) => only.ticket.clone(),
            (None, []) => {
                let run_id = run.id().clone();
                let below = below(session, &run, status, None, verb).await?;
                return Err(below.unwrap_or(CliError::NoOpenTicket { run_id }));
            }
            (None, several) => {
                return Err(CliError::SeveralTickets {
                    run_id: run.id().clone(),
                    tickets: several.iter().map(|open| open.ticket.clone()).collect(),
                });
            }
        };
        let is_own = has(&status, &ticket);
        match ticket.split_once('/').filter(|_| !is_own) {
            Some((child, of_child)) => Self::of_child(run, status, child, of_child).await,
            None => Ok(Self {
                run,
                status,
                ticket,
                top: None,
            }),
        }
    }

    async fn of_child(
        top: RunHandle,
        status: RunStatus,
        child: &str,
        ticket: &str,
    ) -> Result<Self, CliError> {
        let tree = Tree::below(&top, status).await?;
        let mut ids = tree.nodes.iter().map(|node| node.run_id());
        let Some(run_id) = ids.find(|run_id| run_id.as_str() == child) else {
            return Err(CliError::NotBelow {
                run_id: top.id().clone(),
                child: shown::line(child).into_owned(),
                below: runs_below(&tree),
            });
        };
        let run = RunHandle::new(top.client().clone(), run_id.clone());
        Ok(Self {
            status: run.status().await?,
            run,
            ticket: ticket.to_owned(),
            top: Some(top),
        })
    }

    /// Returns the ticket, if it is open.
    pub(crate) fn open(&self) -> Option<&Ticket> {
        let mut open = self.status.approvals.iter();
        open.find(|open| open.ticket == self.ticket)
    }

    /// Returns the run that has to be executed for this one to continue: the run that was named.
    pub(crate) fn resumed(&self) -> &RunHandle {
        self.top.as_ref().unwrap_or(&self.run)
    }

    /// Returns whether some process executes the run: the executor of a run also executes the runs below it.
    ///
    /// # Errors
    ///
    /// The engine cannot be asked.
    pub(crate) async fn is_executing(&self) -> Result<bool, RunClientError> {
        for run in slice::from_ref(&self.run).iter().chain(&self.top) {
            if follow::is_executing(run).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the error if the engine rejected the decision. If the run has no such ticket and a run below it has, the
    /// error states what to type.
    pub(crate) async fn refused(
        self,
        session: &Session,
        error: RunClientError,
        verb: Verb,
    ) -> CliError {
        if let Some(Refusal::UnknownTicket { .. }) = error.refusal() {
            let of = below(session, &self.run, self.status, Some(&self.ticket), verb);
            // An error in reading the runs below does not change the result.
            if let Ok(Some(below)) = of.await {
                return below;
            }
        }
        error.into()
    }
}

fn has(status: &RunStatus, ticket: &str) -> bool {
    status.approvals.iter().any(|open| open.ticket == ticket)
}

/// Returns the error that names the open tickets below a run: all, or those with this id. `None` without such tickets.
async fn below(
    session: &Session,
    run: &RunHandle,
    status: RunStatus,
    ticket: Option<&str>,
    verb: Verb,
) -> Result<Option<CliError>, CliError> {
    let tree = Tree::below(run, status).await?;
    let mut open = Vec::new();
    for status in tree.known().filter(|status| status.run_id != *run.id()) {
        let tickets = status.approvals.iter().map(|open| open.ticket.as_str());
        let tickets = tickets.filter(|open| ticket.is_none_or(|named| named == *open));
        open.extend(tickets.map(|open| format!("{}/{open}", status.run_id)));
    }
    let Some(first) = open.first() else {
        return Ok(None);
    };
    let Verb { name, rest } = verb;
    let typed = format!("{name} {} {}{rest}", run.id(), shown::shell_word(first));
    Ok(Some(CliError::TicketsBelow {
        run_id: run.id().clone(),
        ticket: ticket.map(|ticket| shown::line(ticket).into_owned()),
        open: names(&open),
        are_several: open.len() > 1,
        typed: session.typed(&typed),
    }))
}

/// Returns the runs below a run, in words.
fn runs_below(tree: &Tree) -> String {
    let below = tree.nodes.iter().filter(|node| node.parent.is_some());
    let below: Vec<_> = below.map(|node| node.run_id().to_string()).collect();
    if below.is_empty() {
        return "there is no run below it".to_owned();
    }
    let names = names(&below);
    match &tree.incomplete {
        Some(why) => format!("{names} are, and {why}"),
        None if below.len() == 1 => format!("only {names} is"),
        None => format!("{names} are"),
    }
}

/// Returns the first of these, and how many more there are.
fn names(all: &[String]) -> String {
    let named: Vec<_> = all
        .iter()
        .take(MOST_NAMES)
        .map(|name| shown::line(name))
        .collect();
    let more = match all.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_a_few_and_says_how_many_more_there_are() {
        let ids: Vec<_> = (1..=22).map(|number| format!("r.{number}-1")).collect();
        let said = names(&ids);
        assert!(said.starts_with("r.1-1, r.2-1, "), "{said}");
        assert!(said.ends_with("r.20-1 and 2 more"), "{said}");
        assert_eq!(names(ids.get(..2).unwrap()), "r.1-1, r.2-1");
    }
}
