//! What a run shows while it is under way.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::{
    ApprovalTicket, ExitReason, RunError, RunEvent, RunId, RunOutput, RunPhase, RunTags,
    TokenUsage, request::usage::cost_sum,
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
    /// The agent's name.
    pub agent: String,
    /// Where it stands.
    pub state: RunPhase,
    /// The turn that is under way, counted from 1; 0 before the first.
    pub turn: u32,
    /// Tokens so far.
    pub usage: TokenUsage,
    /// Cost so far in US dollars; `None` as soon as a call's cost is not known.
    pub cost_usd: Option<Decimal>,
    /// The open tickets.
    pub approvals: Vec<ApprovalTicket>,
    /// The model's last text.
    pub last_message: Option<String>,
    /// The runs that it started.
    pub children: Vec<RunId>,
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
    /// What holds it up though it waits for nobody.
    #[serde(default)]
    pub blocked: Option<Blocked>,
}

impl RunStatus {
    /// The status of a run of which nothing is known but its start.
    #[must_use]
    pub fn new(run_id: RunId, engine: &str, agent: &str, started_at: DateTime<Utc>) -> Self {
        Self {
            run_id,
            engine: engine.to_owned(),
            agent: agent.to_owned(),
            state: RunPhase::Running,
            turn: 0,
            usage: TokenUsage::default(),
            cost_usd: Some(Decimal::ZERO),
            approvals: Vec::new(),
            last_message: None,
            children: Vec::new(),
            started_at,
            updated_at: started_at,
            error: None,
            definition: None,
            tenant: None,
            owner: None,
            labels: BTreeMap::new(),
            blocked: None,
        }
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

    fn set_tags(&mut self, tags: &RunTags) {
        self.tenant.clone_from(&tags.tenant);
        self.owner.clone_from(&tags.owner);
        self.labels.clone_from(&tags.labels);
    }

    /// Takes in what happened.
    pub fn apply(&mut self, event: &RunEvent, at: DateTime<Utc>) {
        self.updated_at = at;
        self.blocked = None;
        match event {
            RunEvent::Waiting { state } => self.state = *state,
            RunEvent::RunEnded {
                exit_reason,
                output,
                error,
            } => {
                self.state = exit_reason.phase();
                self.last_message.clone_from(output);
                self.error.clone_from(error);
                self.approvals.clear();
            }
            RunEvent::ApprovalRefused { .. } | RunEvent::SignalIgnored { .. } => {}
            other => {
                self.state = RunPhase::Running;
                self.apply_progress(other);
            }
        }
    }

    fn apply_progress(&mut self, event: &RunEvent) {
        match event {
            RunEvent::RunStarted {
                definition, tags, ..
            } => {
                self.definition = Some(definition.clone()).filter(|text| !text.is_empty());
                self.set_tags(tags);
            }
            RunEvent::TurnStarted { turn } => self.turn = *turn,
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
                ..
            } => {
                self.spend(usage, *cost_usd);
                if text.is_some() {
                    self.last_message.clone_from(text);
                }
            }
            RunEvent::ApprovalRequested { ticket, .. } => self.approvals.push(ticket.clone()),
            RunEvent::ApprovalDecided { ticket, .. } | RunEvent::ApprovalExpired { ticket } => {
                self.approvals.retain(|open| open.ticket != *ticket);
            }
            _ => {}
        }
    }

    fn spend(&mut self, usage: &TokenUsage, cost_usd: Option<Decimal>) {
        self.usage.add(usage);
        self.cost_usd = cost_sum(self.cost_usd, cost_usd);
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
            error: self.error.clone(),
            approvals: self.approvals.clone(),
        }
    }
}

/// What holds a run up though it waits for nobody: it goes on by itself as soon as that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocked {
    /// What it is.
    pub kind: BlockedKind,
    /// Since when.
    pub since: DateTime<Utc>,
    /// A sentence for people.
    pub detail: String,
}

/// What can hold a run up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BlockedKind {
    /// No worker that was asked has the run's agent.
    NoWorker,
}
