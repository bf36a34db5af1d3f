//! What a run shows while it is under way.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    Amount, ExitReason, Given, RunError, RunEvent, RunId, RunOutput, RunPhase, RunTags, RunTrace,
    Spent, Ticket, TicketKind, TokenUsage, TraceContext, usage::token_usage::cost_sum,
};

/// Where a run stands and what it has used so far, the same on every engine.
///
/// It is a fold over the run's events: [`RunStatus::apply`] is the one place that says what an event means
/// for it, so that every engine shows the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunStatus {
    /// The run.
    pub run_id: RunId,
    /// `local`, `temporal`, `restate`.
    pub engine: String,
    /// The agent's name: the name of the agent that continues with it, if the run was handed over.
    pub agent: String,
    /// The name of the agent that it began as, if the run was handed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_as: Option<String>,
    /// Where it stands.
    pub state: RunPhase,
    /// The turn that is under way, counted from 1; 0 before the first.
    pub turn: u32,
    /// Tokens so far.
    pub usage: TokenUsage,
    /// Cost so far in US dollars; `None` as soon as a call's cost is not known.
    pub cost_usd: Option<Decimal>,
    /// The open tickets.
    pub approvals: Vec<Ticket>,
    /// The model's last text.
    pub last_message: Option<String>,
    /// The runs that it started.
    pub children: Vec<ChildStatus>,
    /// Tokens so far, with those of the runs that it started and that have ended, and of all below them.
    #[serde(default)]
    pub tree_usage: TokenUsage,
    /// What they cost in US dollars; `None` as soon as one is not known.
    #[serde(default)]
    pub tree_cost_usd: Option<Decimal>,
    /// The charge for model calls that were left or lost, including those of the runs below: their usage is unknown, so
    /// it is in none of the sums above.
    #[serde(default, skip_serializing_if = "Amount::is_zero")]
    pub reserved: Amount,
    /// What of all that was taken of [pools](crate::AgentSpec::pools), by name; known when the run has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pools: Option<BTreeMap<String, Amount>>,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// When something last happened.
    pub updated_at: DateTime<Utc>,
    /// What it failed with.
    pub error: Option<RunError>,
    /// The [fingerprint](crate::AgentSpec::fingerprint) of the agent's definition, once it is known.
    #[serde(default)]
    pub definition: Option<String>,
    /// For whom it runs.
    #[serde(default)]
    pub tenant: Option<String>,
    /// Who started it.
    #[serde(default)]
    pub owner: Option<String>,
    /// What else it is to be found by.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// What holds it up.
    #[serde(default)]
    pub blocked: Option<Blocked>,
    /// What sets the run apart from any other of its name, once it has begun.
    #[serde(default)]
    pub nonce: Option<Uuid>,
    /// What it is a part of in a distributed trace, if the caller who started it named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
    /// The directory that it works in, where it is known.
    #[serde(default)]
    pub directory: Option<String>,
    /// Whether decisions about it have to be signed, whichever worker verifies them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub signed: bool,
}

impl RunStatus {
    /// Returns the status of a run whose start alone is known.
    #[must_use]
    pub fn new(run_id: RunId, engine: &str, agent: &str, started_at: DateTime<Utc>) -> Self {
        Self {
            run_id,
            engine: engine.to_owned(),
            agent: agent.to_owned(),
            began_as: None,
            state: RunPhase::Running,
            turn: 0,
            usage: TokenUsage::default(),
            cost_usd: Some(Decimal::ZERO),
            approvals: Vec::new(),
            last_message: None,
            children: Vec::new(),
            tree_usage: TokenUsage::default(),
            tree_cost_usd: Some(Decimal::ZERO),
            reserved: Amount::ZERO,
            pools: None,
            started_at,
            updated_at: started_at,
            error: None,
            definition: None,
            tenant: None,
            owner: None,
            labels: BTreeMap::new(),
            blocked: None,
            nonce: None,
            trace: None,
            directory: None,
            signed: false,
        }
    }

    /// Returns the name of the agent that the run was started with.
    #[must_use]
    pub fn first_agent(&self) -> &str {
        self.began_as.as_deref().unwrap_or(&self.agent)
    }

    /// Sets whose the run is.
    #[must_use]
    pub fn with_tags(mut self, tags: &RunTags) -> Self {
        self.set_tags(tags);
        self
    }

    /// Returns whose the run is.
    #[must_use]
    pub fn tags(&self) -> RunTags {
        RunTags {
            tenant: self.tenant.clone(),
            owner: self.owner.clone(),
            labels: self.labels.clone(),
        }
    }

    /// Returns the spans of the run in its trace.
    #[must_use]
    pub const fn spans(&self) -> RunTrace<'_> {
        RunTrace {
            run: &self.run_id,
            nonce: self.nonce,
            given: self.trace.as_ref(),
        }
    }

    fn set_tags(&mut self, tags: &RunTags) {
        self.tenant.clone_from(&tags.tenant);
        self.owner.clone_from(&tags.owner);
        self.labels.clone_from(&tags.labels);
    }

    /// Takes in what happened.
    pub fn apply(&mut self, event: &RunEvent, at: DateTime<Utc>) {
        self.updated_at = at;
        match event {
            RunEvent::Waiting { state } => self.state = *state,
            RunEvent::RunEnded {
                exit_reason,
                output,
                error,
                pools,
            } => {
                self.state = exit_reason.phase();
                self.pools.clone_from(pools);
                self.last_message.clone_from(output);
                self.error.clone_from(error);
                self.approvals.clear();
            }
            // This answers nothing that is waited for.
            RunEvent::SignalIgnored { .. }
            | RunEvent::CallExceeded { .. }
            | RunEvent::Guarded { .. } => {}
            RunEvent::Judged {
                usage, cost_usd, ..
            } => self.spend(usage, *cost_usd),
            RunEvent::ApprovalGiven { .. }
            | RunEvent::ApprovalRefused { .. }
            | RunEvent::ApprovalEscalated { .. } => {
                self.apply_to_ticket(event, at);
            }
            RunEvent::ChildEnded {
                run_id,
                exit_reason,
                usage,
                cost_usd,
                reserved,
            } => {
                self.reserved = self.reserved.plus(*reserved);
                self.child_ended(run_id, *exit_reason, usage, *cost_usd);
            }
            RunEvent::CallCharged { charged, .. } => self.reserved = self.reserved.plus(*charged),
            // A message answers nothing but a wait for one.
            RunEvent::MessageReceived { .. } => {
                if self.state != RunPhase::WaitingForApproval {
                    self.state = RunPhase::Running;
                }
            }
            RunEvent::RunStarted { .. }
            | RunEvent::AgentAsked { .. }
            | RunEvent::TurnStarted { .. }
            | RunEvent::ModelResponded { .. }
            | RunEvent::AnswerRejected { .. }
            | RunEvent::LeftOut { .. }
            | RunEvent::ModelFailed { .. }
            | RunEvent::ToolCalled { .. }
            | RunEvent::ChildStarted { .. }
            | RunEvent::ToolFinished { .. }
            | RunEvent::TurnEnded { .. }
            | RunEvent::ApprovalRequested { .. }
            | RunEvent::ApprovalDecided { .. }
            | RunEvent::ApprovalExpired { .. }
            | RunEvent::DecisionRepeated { .. }
            | RunEvent::Upgraded { .. }
            | RunEvent::HandedOver { .. }
            | RunEvent::ContextCompacted { .. }
            | RunEvent::CompactionFailed { .. } => {
                self.state = RunPhase::Running;
                self.apply_progress(event);
            }
        }
        self.blocked = self.blocking_ticket();
    }

    /// Returns what keeps everything from continuing, if that is a ticket: the one that is open longest.
    fn blocking_ticket(&self) -> Option<Blocked> {
        if self.state != RunPhase::WaitingForApproval {
            return None;
        }
        let ticket = self.approvals.first()?;
        let detail = format!("ticket {} is open: {}", ticket.ticket, ticket.subject());
        Some(Blocked::new(ticket.kind.into(), ticket.opened_at, detail))
    }

    fn apply_progress(&mut self, event: &RunEvent) {
        match event {
            RunEvent::RunStarted {
                definition,
                tags,
                nonce,
                trace,
                directory,
                signed,
                ..
            } => {
                self.signed = *signed;
                self.nonce = *nonce;
                self.trace.clone_from(trace);
                self.directory.clone_from(directory);
                self.definition = Some(definition.clone()).filter(|text| !text.is_empty());
                self.set_tags(tags);
            }
            RunEvent::Upgraded { to, signed, .. } => {
                self.definition = Some(to.clone());
                self.signed |= signed;
            }
            RunEvent::HandedOver {
                to,
                definition,
                signed,
                ..
            } => {
                let before = std::mem::replace(&mut self.agent, to.clone());
                self.began_as.get_or_insert(before);
                self.definition = Some(definition.clone());
                self.signed |= signed;
            }
            RunEvent::TurnStarted { turn } => self.turn = *turn,
            RunEvent::ChildStarted { run_id, agent, .. } => {
                self.children.push(ChildStatus::new(run_id.clone(), agent));
            }
            RunEvent::ContextCompacted {
                usage, cost_usd, ..
            }
            | RunEvent::CompactionFailed {
                usage, cost_usd, ..
            } => self.spend(usage, *cost_usd),
            RunEvent::ModelResponded {
                text,
                usage,
                cost_usd,
                spent_before,
                ..
            } => {
                self.spend(usage, *cost_usd);
                self.spend_on_failures(spent_before.as_deref());
                if text.is_some() {
                    self.last_message.clone_from(text);
                }
            }
            RunEvent::ModelFailed { failure, .. } => {
                self.spend_on_failures(failure.spent.as_deref());
            }
            RunEvent::ApprovalRequested { ticket, .. } => self.approvals.push(ticket.clone()),
            RunEvent::ApprovalDecided { ticket, .. } | RunEvent::ApprovalExpired { ticket } => {
                self.approvals.retain(|open| open.ticket != *ticket);
            }
            _ => {}
        }
    }

    fn spend_on_failures(&mut self, spent: Option<&Spent>) {
        if let Some(Spent {
            usage, cost_usd, ..
        }) = spent
        {
            self.spend(usage, *cost_usd);
        }
    }

    /// Takes in what changes a ticket that stays open: nothing else continues by it.
    fn apply_to_ticket(&mut self, event: &RunEvent, at: DateTime<Utc>) {
        let (RunEvent::ApprovalGiven { ticket: named, .. }
        | RunEvent::ApprovalRefused { ticket: named, .. }
        | RunEvent::ApprovalEscalated { ticket: named, .. }) = event
        else {
            return;
        };
        let mut open = self.approvals.iter_mut();
        let Some(ticket) = open.find(|open| open.ticket == *named) else {
            return;
        };
        match event {
            RunEvent::ApprovalGiven {
                approver,
                verified,
                key,
                args,
                ..
            } => ticket.give(Given {
                name: approver.clone(),
                key: key.clone(),
                verified: *verified,
                at,
                args: args.clone(),
            }),
            RunEvent::ApprovalRefused { .. } => ticket.answered = ticket.answered.saturating_add(1),
            RunEvent::ApprovalEscalated { to, expires_at, .. } => ticket.escalate(to, *expires_at),
            _ => {}
        }
    }

    fn spend(&mut self, usage: &TokenUsage, cost_usd: Option<Decimal>) {
        self.usage.add(usage);
        self.cost_usd = cost_sum(self.cost_usd, cost_usd);
        self.tree_usage.add(usage);
        self.tree_cost_usd = cost_sum(self.tree_cost_usd, cost_usd);
    }

    fn child_ended(
        &mut self,
        run_id: &RunId,
        exit_reason: ExitReason,
        usage: &TokenUsage,
        cost_usd: Option<Decimal>,
    ) {
        let mut children = self.children.iter_mut();
        if let Some(child) = children.find(|child| child.run_id == *run_id) {
            child.state = exit_reason.phase();
            child.usage = usage.clone();
            child.cost_usd = cost_usd;
        }
        self.tree_usage.add(usage);
        self.tree_cost_usd = cost_sum(self.tree_cost_usd, cost_usd);
    }

    /// The run's output as far as it has one. `exit_reason` is why it ended, if it did.
    #[must_use]
    pub fn output(&self, exit_reason: Option<ExitReason>) -> RunOutput {
        RunOutput {
            run_id: self.run_id.clone(),
            engine: self.engine.clone(),
            agent: self.agent.clone(),
            state: self.state,
            exit_reason,
            output: self.last_message.clone(),
            turns: self.turn,
            usage: self.usage.clone(),
            cost_usd: self.cost_usd,
            tree: (!self.children.is_empty())
                .then(|| Box::new(Spent::new(self.tree_usage.clone(), self.tree_cost_usd))),
            reserved: self.reserved,
            pools: self.pools.clone(),
            error: self.error.clone(),
            approvals: self.approvals.clone(),
        }
    }
}

/// A run that another run has started, as the status of that run shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildStatus {
    /// The run.
    pub run_id: RunId,
    /// Its agent's name.
    pub agent: String,
    /// Where it stands, as far as the run that started it knows: that it has ended, or not.
    pub state: RunPhase,
    /// The tokens that it used, and the runs below it, once it has ended.
    #[serde(default)]
    pub usage: TokenUsage,
    /// What they cost in US dollars; `None` if that is not known, as long as it has not ended above all.
    #[serde(default)]
    pub cost_usd: Option<Decimal>,
}

impl ChildStatus {
    /// Returns that of a run of this agent that has been started.
    #[must_use]
    pub fn new(run_id: RunId, agent: &str) -> Self {
        Self {
            run_id,
            agent: agent.to_owned(),
            state: RunPhase::Running,
            usage: TokenUsage::default(),
            cost_usd: None,
        }
    }
}

/// What holds a run up: a ticket, or what it does not wait for. The run continues by itself as soon as that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocked {
    /// What it is.
    pub kind: BlockedKind,
    /// Since when.
    pub since: DateTime<Utc>,
    /// A sentence for people.
    pub detail: String,
    /// Of a step that keeps failing: the number of the newest attempt, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// Of a step that keeps failing: when the next attempt begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_at: Option<DateTime<Utc>>,
}

impl Blocked {
    /// Something that holds a run up since `since`, with nothing known of attempts.
    #[must_use]
    pub const fn new(kind: BlockedKind, since: DateTime<Utc>, detail: String) -> Self {
        Self {
            kind,
            since,
            detail,
            attempt: None,
            next_at: None,
        }
    }
}

/// What can hold a run up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BlockedKind {
    /// No worker that was asked has the run's agent, no worker polls the queue of what is to be done next, or no worker
    /// that is there can continue the run.
    NoWorker,
    /// No process executes the local run.
    NoProcess,
    /// The engine cannot reach the worker that has the run.
    WorkerUnreachable,
    /// A step fails and is tried again.
    StepFailing,
    /// A chat waits for a message.
    Input,
    /// A ticket of kind [`TicketKind::Call`] is open.
    Call,
    /// A ticket of kind [`TicketKind::Question`] is open.
    Question,
    /// A ticket of kind [`TicketKind::Failure`] is open.
    Failure,
    /// A ticket of kind [`TicketKind::Budget`] is open.
    Budget,
    /// A ticket of kind [`TicketKind::UnknownOutcome`] is open.
    UnknownOutcome,
    /// A ticket of kind [`TicketKind::Form`] is open.
    Form,
    /// A ticket of kind [`TicketKind::External`] is open.
    External,
    /// A ticket of kind [`TicketKind::Guard`] is open.
    Guard,
}

impl BlockedKind {
    /// Returns whether it is a ticket that is open, which the status lists.
    #[must_use]
    pub const fn is_ticket(self) -> bool {
        !matches!(
            self,
            Self::NoWorker
                | Self::NoProcess
                | Self::WorkerUnreachable
                | Self::StepFailing
                | Self::Input
        )
    }
}

impl From<TicketKind> for BlockedKind {
    fn from(kind: TicketKind) -> Self {
        match kind {
            TicketKind::Call => Self::Call,
            TicketKind::Question => Self::Question,
            TicketKind::Failure => Self::Failure,
            TicketKind::Budget => Self::Budget,
            TicketKind::UnknownOutcome => Self::UnknownOutcome,
            TicketKind::Form => Self::Form,
            TicketKind::External => Self::External,
            TicketKind::Guard => Self::Guard,
        }
    }
}
