//! The runs that a workflow's run has started.

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
    /// The results that the workflow has not asked for yet.
    ended: BTreeMap<RunId, AgentAnswer>,
    /// How many signals were sent to other runs.
    signals: u32,
}

impl Children {
    /// Returns how many have been started.
    pub(crate) const fn started(&self) -> u32 {
        self.tree.started
    }

    /// Returns the number of the next signal to another run, counted from 1.
    pub(crate) const fn next_signal(&mut self) -> u32 {
        self.signals = self.signals.saturating_add(1);
        self.signals
    }

    /// Returns how many have not ended.
    pub(crate) fn open(&self) -> u32 {
        u32::try_from(self.tree.children.len()).unwrap_or(u32::MAX)
    }

    /// Returns the key that authenticates the end of this run. `draw` returns the seed of the keys, once.
    pub(crate) fn key_of(&mut self, run: &RunId, draw: impl FnOnce() -> Uuid) -> Uuid {
        self.tree.secret.get_or_insert_with(draw);
        self.tree.key_of(run)
    }

    /// Adds a run that is about to be started.
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

    /// Records that a step starts the run.
    pub(crate) fn is_starting(&mut self, handle: Handle, run: RunId) {
        self.starting.push((handle, run));
    }

    /// Returns the steps that start runs and have not ended, in the order in which they were started.
    pub(crate) fn starting(&self) -> Vec<Handle> {
        self.starting.iter().map(|(handle, _)| *handle).collect()
    }

    /// Records that a step has ended, or is not waited for any more. Returns the run that the step starts, if it starts
    /// one.
    pub(crate) fn landed(&mut self, ended: Handle) -> Option<RunId> {
        let mut starting = self.starting.iter();
        let index = starting.position(|(handle, _)| *handle == ended)?;
        Some(self.starting.remove(index).1)
    }

    /// Returns the runs that have not ended.
    pub(crate) fn open_runs(&self) -> Vec<RunId> {
        let children = self.tree.children.iter();
        children.map(|child| child.run.clone()).collect()
    }

    /// Returns whether this run has been started, and its result was not taken since it ended.
    pub(crate) fn knows(&self, run: &RunId) -> bool {
        let mut children = self.tree.children.iter();
        self.ended.contains_key(run) || children.any(|child| child.run == *run)
    }

    /// Takes the result of this run, once it has ended.
    pub(crate) fn take(&mut self, run: &RunId) -> Option<AgentAnswer> {
        self.ended.remove(run)
    }

    /// Records the end that a run sends. Returns the event to be recorded; `None` if the run is not an open one of
    /// these, or does not know the key.
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

    /// Records that a run could not be started. Returns the event to be recorded, if the run was open.
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
