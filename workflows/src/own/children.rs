//! What a workflow's run knows of the runs that it has started.

use std::collections::BTreeMap;

use neuron_types::{
    Amount, Child, ChildEnd, ExitReason, Handle, Pooled, RunError, RunEvent, RunId, StepFailure,
    TokenUsage, Tree,
};
use rust_decimal::Decimal;
use uuid::Uuid;

use super::agent_answer::AgentAnswer;

/// The runs that a workflow's run has started.
#[derive(Default)]
pub(crate) struct Children {
    tree: Tree,
    /// The steps that start runs and have not ended.
    starting: Vec<(Handle, RunId)>,
    /// What those came to that nobody has asked about yet.
    ended: BTreeMap<RunId, AgentAnswer>,
    /// How many signals were sent to other runs.
    signals: u32,
}

impl Children {
    /// How many have been started.
    pub(crate) const fn started(&self) -> u32 {
        self.tree.started
    }

    /// Returns the number of the next signal to another run, counted from 1.
    pub(crate) const fn next_signal(&mut self) -> u32 {
        self.signals = self.signals.saturating_add(1);
        self.signals
    }

    /// How many have not ended.
    pub(crate) fn open(&self) -> u32 {
        u32::try_from(self.tree.children.len()).unwrap_or(u32::MAX)
    }

    /// Returns the key by which the end of this run is taken. `draw` makes what keys are made of, once.
    pub(crate) fn key_of(&mut self, run: &RunId, draw: impl FnOnce() -> Uuid) -> Uuid {
        self.tree.secret.get_or_insert_with(draw);
        self.tree.key_of(run)
    }

    /// A run is about to be started.
    pub(crate) fn add(&mut self, run: RunId, agent: &str) {
        self.tree.started = self.tree.started.saturating_add(1);
        self.tree.children.push(Child {
            run,
            agent: agent.to_owned(),
            position: None,
            leased: Pooled::default(),
            answered: 0,
            heard_at: None,
            looked_at: None,
        });
    }

    /// A step starts it.
    pub(crate) fn is_starting(&mut self, handle: Handle, run: RunId) {
        self.starting.push((handle, run));
    }

    /// The steps that start runs and have not ended, in the order in which they were started.
    pub(crate) fn starting(&self) -> Vec<Handle> {
        self.starting.iter().map(|(handle, _)| *handle).collect()
    }

    /// A step that starts a run has ended, or is not waited for any more. Returns the run, if there was such a step.
    pub(crate) fn landed(&mut self, ended: Handle) -> Option<RunId> {
        let mut starting = self.starting.iter();
        let index = starting.position(|(handle, _)| *handle == ended)?;
        Some(self.starting.remove(index).1)
    }

    /// The runs that have not ended.
    pub(crate) fn open_runs(&self) -> Vec<RunId> {
        let children = self.tree.children.iter();
        children.map(|child| child.run.clone()).collect()
    }

    /// Whether this one has been started, and not been asked about since it ended.
    pub(crate) fn knows(&self, run: &RunId) -> bool {
        let mut children = self.tree.children.iter();
        self.ended.contains_key(run) || children.any(|child| child.run == *run)
    }

    /// Takes what this run came to, once it has ended.
    pub(crate) fn take(&mut self, run: &RunId) -> Option<AgentAnswer> {
        self.ended.remove(run)
    }

    /// A run says that it has ended. Returns what is to be recorded; `None` if it is none of these that are open, or does
    /// not know the key.
    pub(crate) fn end(&mut self, end: ChildEnd) -> Option<RunEvent> {
        let index = self.tree.child_of(&end)?;
        let child = self.tree.children.remove(index);
        let event = RunEvent::ChildEnded {
            run_id: end.run.clone(),
            exit_reason: end.exit_reason,
            usage: end.usage,
            cost_usd: end.cost_usd,
            reserved: end.reserved,
        };
        let answer = AgentAnswer {
            agent: child.agent,
            run: end.run.clone(),
            exit_reason: end.exit_reason,
            output: end.output,
            error: end.error,
        };
        self.ended.insert(end.run, answer);
        Some(event)
    }

    /// A run could not be started. Returns what is to be recorded, if it was open.
    pub(crate) fn not_started(&mut self, run: RunId, failure: &StepFailure) -> Option<RunEvent> {
        let mut children = self.tree.children.iter();
        let index = children.position(|child| child.run == run)?;
        let child = self.tree.children.remove(index);
        let exit_reason = ExitReason::Failed;
        let answer = AgentAnswer {
            agent: child.agent,
            run: run.clone(),
            exit_reason,
            output: None,
            error: Some(RunError {
                kind: failure.kind,
                message: format!("not started: {}", failure.message),
            }),
        };
        self.ended.insert(run.clone(), answer);
        Some(RunEvent::ChildEnded {
            run_id: run,
            exit_reason,
            usage: TokenUsage::default(),
            cost_usd: Some(Decimal::ZERO),
            reserved: Amount::ZERO,
        })
    }
}
