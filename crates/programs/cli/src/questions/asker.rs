//! Asks on the spot about the tickets of a run, while the run continues.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    future::pending,
    sync::Arc,
    time::Duration,
};

use neuron_engine::RunHandle;
use neuron_local::IdleLooks;
use neuron_types::{Decision, Refusal, RunEvent, RunStatus, Ticket};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::{
    CliError,
    decisions::decider::Decider,
    questions::question::{self, Answer},
    terminal::line_reader::LineReader,
    terminal::output::note,
    terminal::progress::Progress,
    terminal::shown,
};

/// How often and at which intervals a decision is tried whose ticket is not in the journal yet.
const EARLY_TRIES: u32 = 40;
const EARLY_WAIT: Duration = Duration::from_millis(50);

/// Puts each ticket to the person at the terminal. Decisions of other processes count, too: the question is then taken
/// back.
#[derive(Debug)]
pub(crate) struct Asker {
    run: RunHandle,
    decider: Decider,
    progress: Arc<Progress>,
    events: UnboundedReceiver<RunEvent>,
    open: VecDeque<Ticket>,
    /// The tickets that were open at the start. Events may report them again.
    known: BTreeSet<String>,
    put_off: BTreeSet<String>,
    /// The tickets whose answers the run has not received yet, and whether the run waited when they were answered.
    sent: BTreeMap<String, (Ticket, bool)>,
    /// Whether the run does nothing but wait for answers.
    waits: bool,
    /// The directory in which calls are made: a decision is for it, too.
    directory: Option<String>,
    /// The agent of the run, as far as a question names it.
    agent: Option<String>,
    /// The looks of the worker that executes the runs of the tree, if there is one.
    looks: Option<IdleLooks>,
}

impl Asker {
    /// Asks about the run's tickets: those that are open by now, and those in `events`.
    pub(crate) fn new(
        run: RunHandle,
        status: &RunStatus,
        decider: Decider,
        progress: Arc<Progress>,
        events: UnboundedReceiver<RunEvent>,
    ) -> Self {
        Self {
            run,
            decider,
            progress,
            events,
            open: status.approvals.iter().cloned().collect(),
            known: status
                .approvals
                .iter()
                .map(|open| open.ticket.clone())
                .collect(),
            put_off: BTreeSet::new(),
            sent: BTreeMap::new(),
            waits: status.state.waits_for_person(),
            directory: status.directory.clone(),
            agent: None,
            looks: None,
        }
    }

    /// Asks about a run of a tree whose runs this worker executes: a question that the person puts off does not end the
    /// asking, as other runs may continue. The tree is not parked while a question is open.
    pub(crate) fn in_tree(self, looks: &IdleLooks) -> Self {
        Self {
            looks: Some(looks.clone()),
            ..self
        }
    }

    /// Names the run's agent in the questions.
    pub(crate) fn naming(self, agent: &str) -> Self {
        Self {
            agent: Some(agent.to_owned()),
            ..self
        }
    }

    /// Asks until the run only waits for what the person put off. Otherwise never ends.
    ///
    /// # Errors
    ///
    /// [`CliError::Terminal`].
    pub(crate) async fn ask(mut self) -> Result<(), CliError> {
        loop {
            if let Some(ticket) = self.open.pop_front() {
                self.put(ticket).await?;
            } else if self.looks.is_none() && self.waits && !self.put_off.is_empty() {
                return Ok(());
            } else {
                match self.events.recv().await {
                    Some(event) => self.see(&event),
                    None => pending().await,
                }
            }
        }
    }

    async fn put(&mut self, ticket: Ticket) -> Result<(), CliError> {
        let _busy = self.looks.as_ref().map(IdleLooks::busy);
        // The directory of a run that has just begun is not known yet.
        if self.directory.is_none() {
            let status = self.run.status().await;
            self.directory = status.ok().and_then(|status| status.directory);
        }
        let directory = self.directory.clone();
        let (reader, mut question) = LineReader::new().await.map_err(CliError::Terminal)?;
        self.progress.pause();
        let mut cursor = Cursor { behind: true };
        let asked = ticket.clone();
        let who = self.who();
        let mut asking = tokio::task::spawn_blocking(move || {
            question::ask(&reader, &who, &asked, directory.as_deref())
        });
        let answer = loop {
            tokio::select! {
                answer = &mut asking => break answer,
                Some(event) = self.events.recv() => {
                    if closes(&event, &ticket.ticket) {
                        question.take_back();
                    }
                    self.see(&event);
                }
            }
        };
        let answer = answer
            .map_err(std::io::Error::other)
            .flatten()
            .map_err(CliError::Terminal)?;
        cursor.behind = answer == Answer::TakenBack;
        drop(cursor);
        self.progress.resume();
        // A key that signs may ask for its passphrase.
        drop(question);
        self.answered(ticket, answer).await;
        Ok(())
    }

    /// Returns who asks.
    fn who(&self) -> String {
        let run_id = self.run.id();
        match &self.agent {
            Some(agent) => format!("run {run_id} (agent {})", shown::line(agent)),
            None => format!("run {run_id}"),
        }
    }

    /// Records that the person does not answer the ticket here. Other runs of the tree may continue.
    fn put_off(&mut self, ticket: Ticket) {
        if self.looks.is_some() {
            let (run_id, id) = (self.run.id(), shown::line(&ticket.ticket));
            self.progress.note(&format!(
                "ticket {id} of run {run_id} stays open: `neuron approvals {run_id}` shows how to decide it"
            ));
        }
        self.put_off.insert(ticket.ticket);
    }

    async fn answered(&mut self, ticket: Ticket, answer: Answer) {
        let decision = match answer {
            Answer::Approve {
                args,
                comment,
                always,
            } => Decision {
                args,
                comment,
                always,
                ..Decision::approve(&ticket)
            },
            Answer::Deny { comment } => Decision {
                comment,
                ..Decision::deny(&ticket)
            },
            Answer::Text(text) => Decision::answer(&ticket, text),
            Answer::Filled(answers) => Decision::fill(&ticket, answers),
            Answer::Chosen(choice) => Decision::choose(&ticket, choice),
            Answer::Later => {
                self.put_off(ticket);
                return;
            }
            Answer::TakenBack => return,
        };
        let decision = match self.decided(decision).await {
            Ok(decision) => decision,
            Err(error) => {
                // The ticket can be decided elsewhere.
                self.progress.note(&error.to_string());
                self.put_off.insert(ticket.ticket);
                return;
            }
        };
        let before = self.waits;
        self.sent.insert(ticket.ticket.clone(), (ticket, before));
        match self.decide(&decision).await {
            // The run receives the answer, and an event reports when it waits again.
            Ok(()) => self.waits = false,
            Err(error) => {
                self.progress.note(&error.to_string());
                if let Some((ticket, _)) = self.sent.remove(&decision.ticket)
                    && let Some(ticket) = self.still_open(ticket, &error).await
                {
                    self.open.push_front(ticket);
                }
            }
        }
    }

    /// Returns the ticket as it is now, if the answer was not accepted and another person may still give one. Otherwise
    /// another person was faster, or the ticket expired: the run reports the result.
    async fn still_open(&self, ticket: Ticket, error: &CliError) -> Option<Ticket> {
        let refusal = match error {
            CliError::Engine(error) => error.0.refusal(),
            _ => None,
        };
        if let Some(
            Refusal::AlreadyDecided { .. }
            | Refusal::TicketExpired { .. }
            | Refusal::RunOver { .. },
        ) = refusal
        {
            return None;
        }
        match self.run.status().await {
            Ok(status) => {
                let mut open = status.approvals.into_iter();
                open.find(|open| open.ticket == ticket.ticket)
            }
            // A ticket that is not known to be closed is asked about again.
            Err(_) => Some(ticket),
        }
    }

    /// Names the person behind the decision. A signed one is about the run as the journal has it.
    async fn decided(&self, decision: Decision) -> Result<Decision, CliError> {
        if !self.decider.signs(&decision) {
            return Ok(Decider::unsigned(decision, None));
        }
        let mut status = self.run.status().await?;
        for _ in 0..EARLY_TRIES {
            let mut open = status.approvals.iter();
            if open.any(|open| open.ticket == decision.ticket) {
                break;
            }
            tokio::time::sleep(EARLY_WAIT).await;
            status = self.run.status().await?;
        }
        // One question at a time: the key may have a passphrase.
        let (_, _question) = LineReader::new().await.map_err(CliError::Terminal)?;
        self.progress.pause();
        let decided = self.decider.decided(decision, &status, None).await;
        self.progress.resume();
        decided
    }

    /// Sends the decision. An event is emitted a moment before it is journaled, so a quick answer may be early.
    async fn decide(&self, decision: &Decision) -> Result<(), CliError> {
        for _ in 0..EARLY_TRIES {
            match self.run.decide(decision).await {
                Err(error) if matches!(error.refusal(), Some(Refusal::UnknownTicket { .. })) => {
                    tokio::time::sleep(EARLY_WAIT).await;
                }
                other => return Ok(other?),
            }
        }
        Ok(self.run.decide(decision).await?)
    }

    fn see(&mut self, event: &RunEvent) {
        match event {
            RunEvent::SignalIgnored { .. }
            | RunEvent::MessageReceived { .. }
            | RunEvent::ApprovalEscalated { .. }
            | RunEvent::Upgraded { .. }
            | RunEvent::HandedOver { .. }
            | RunEvent::Guarded { .. }
            | RunEvent::Judged { .. } => {}
            // The answer was not accepted: the question is asked again.
            RunEvent::ApprovalRefused { ticket, .. } => {
                if let Some((ticket, waited)) = self.sent.remove(ticket) {
                    self.waits |= waited;
                    self.open.push_back(ticket);
                }
            }
            // The ticket accepts further answers.
            RunEvent::ApprovalGiven { ticket, .. } => {
                if let Some((ticket, waited)) = self.sent.remove(ticket) {
                    self.waits |= waited;
                    self.put_off.insert(ticket.ticket);
                }
            }
            RunEvent::Waiting { state } => self.waits = state.waits_for_person(),
            other => {
                self.waits = false;
                match other {
                    RunEvent::ApprovalRequested { ticket, .. }
                        if self.known.insert(ticket.ticket.clone()) =>
                    {
                        self.open.push_back(ticket.clone());
                    }
                    RunEvent::ApprovalDecided { ticket, .. }
                    | RunEvent::ApprovalExpired { ticket } => {
                        self.open.retain(|open| open.ticket != *ticket);
                        self.sent.remove(ticket);
                        self.put_off.remove(ticket);
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Leaves the line of an unanswered question, also when the asker is dropped.
struct Cursor {
    behind: bool,
}

impl Drop for Cursor {
    fn drop(&mut self) {
        if self.behind {
            note("");
        }
    }
}

/// Returns whether the event makes an answer unnecessary.
fn closes(event: &RunEvent, asked: &str) -> bool {
    match event {
        RunEvent::ApprovalDecided { ticket, .. } | RunEvent::ApprovalExpired { ticket } => {
            ticket == asked
        }
        RunEvent::RunEnded { .. } => true,
        _ => false,
    }
}
