//! Asks on the spot about the tickets of a run, while the run goes on.

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

/// How often and how far apart a decision is tried whose ticket is not in the journal yet.
const EARLY_TRIES: u32 = 40;
const EARLY_WAIT: Duration = Duration::from_millis(50);

/// Puts each ticket to the person at the terminal. What another process decides meanwhile counts too: its
/// question is taken back.
#[derive(Debug)]
pub(crate) struct Asker {
    run: RunHandle,
    decider: Decider,
    progress: Arc<Progress>,
    events: UnboundedReceiver<RunEvent>,
    open: VecDeque<Ticket>,
    /// The tickets that were open at the start may be told of again.
    known: BTreeSet<String>,
    put_off: BTreeSet<String>,
    /// Tickets that were answered and that the run has not taken the answer of, and whether it waited then.
    sent: BTreeMap<String, (Ticket, bool)>,
    /// Nothing goes on but questions.
    waits: bool,
    /// Where calls are made: a decision is for it too.
    directory: Option<String>,
    /// Whose run it is, as far as a question says it.
    agent: Option<String>,
    /// The looks of the worker that executes the runs of its tree, if it has one.
    looks: Option<IdleLooks>,
}

impl Asker {
    /// Asks about the run's tickets: those that are open by now, and those that `events` tell of.
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

    /// Has it ask about a run of a tree, whose runs this worker executes: what the person puts off does not end the asking, as
    /// others may go on. The tree is not put away while a question stands.
    pub(crate) fn in_tree(self, looks: &IdleLooks) -> Self {
        Self {
            looks: Some(looks.clone()),
            ..self
        }
    }

    /// Has the questions name the run's agent.
    pub(crate) fn naming(self, agent: &str) -> Self {
        Self {
            agent: Some(agent.to_owned()),
            ..self
        }
    }

    /// Asks until nothing goes on any more because the person put off what is left. Else it never ends.
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
        // It is not known of a run that has just begun.
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

    /// Who asks.
    fn who(&self) -> String {
        let run_id = self.run.id();
        match &self.agent {
            Some(agent) => format!("run {run_id} (agent {})", shown::line(agent)),
            None => format!("run {run_id}"),
        }
    }

    /// The person does not say anything to it here. Others of the tree may go on.
    fn put_off(&mut self, ticket: Ticket) {
        if self.looks.is_some() {
            let (run_id, id) = (self.run.id(), shown::line(&ticket.ticket));
            self.progress.note(&format!(
                "ticket {id} of run {run_id} stays open: `neuron approvals {run_id}` says how to decide it"
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
                // It can be decided elsewhere.
                self.progress.note(&error.to_string());
                self.put_off.insert(ticket.ticket);
                return;
            }
        };
        let before = self.waits;
        self.sent.insert(ticket.ticket.clone(), (ticket, before));
        match self.decide(&decision).await {
            // The run takes it up, and tells when it waits again.
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

    /// The ticket as it is now, if what was said about it was not taken and somebody else may still say it. Else somebody was
    /// faster, or it lapsed: the run tells what came of it.
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
            // What is not known to be closed is put again.
            Err(_) => Some(ticket),
        }
    }

    /// Says whose it is. One that is signed is about what the journal says of the run.
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

    /// An event is told a moment before it is journaled, so a quick answer may be early.
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
            // The answer was not taken: the question is put again.
            RunEvent::ApprovalRefused { ticket, .. } => {
                if let Some((ticket, waited)) = self.sent.remove(ticket) {
                    self.waits |= waited;
                    self.open.push_back(ticket);
                }
            }
            // It takes others too.
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

/// Leaves the line of a question that nobody answered, also when the asker is dropped.
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

/// Whether nobody need answer any more.
fn closes(event: &RunEvent, asked: &str) -> bool {
    match event {
        RunEvent::ApprovalDecided { ticket, .. } | RunEvent::ApprovalExpired { ticket } => {
            ticket == asked
        }
        RunEvent::RunEnded { .. } => true,
        _ => false,
    }
}
