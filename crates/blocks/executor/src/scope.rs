//! What the executor knows about the attempt that it makes.

use std::{collections::BTreeMap, time::Duration};

use neuron_types::{
    ActivityOptions, Bounds, Priority, RunId, RunOrigin, RunScope, RunTags, RunTrace, StepId,
    ToolEffects, TraceContext, hex,
};
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::LatestProgress;

/// What the hashes of idempotency keys begin with, so that they are no other hashes of the same.
const KEYS: &[u8] = b"neuron idempotency key 1\0";

/// One attempt of one step: whose it is, how long it may take and what ends it early.
#[derive(Debug, Clone)]
pub struct StepScope {
    /// The run.
    pub run_id: RunId,
    /// The step.
    pub step: StepId,
    /// Whose step it is in a run that several agents take turns in; the run's own where `None`.
    pub agent: Option<String>,
    /// What no other run has, though it may have the name.
    pub nonce: Option<Uuid>,
    /// What the run is a part of in a distributed trace, if the caller that started it named that. In an attempt that
    /// is under way, what the attempt is a part of itself.
    pub trace: Option<TraceContext>,
    /// The tags that say whose run it is.
    pub tags: RunTags,
    /// The run at the top of the tree, where it is another.
    pub root: Option<RunId>,
    /// Patterns of calls that the caller who started the run allowed.
    pub allow: Vec<String>,
    /// What the run is held to beside the rules of the executor's agent.
    pub bounds: Vec<Bounds>,
    /// The guards that look at the result.
    pub guards: Vec<String>,
    /// The digests of the skills that the run's definition has, by name, if it reads one.
    pub skills: BTreeMap<String, String>,
    /// Whose requests go first where those for one key wait for their turn.
    pub priority: Priority,
    /// The attempt, counted from 1.
    pub attempt: u32,
    /// How long this attempt may take.
    pub timeout: Duration,
    /// What may be done if the attempt is lost: it decides what a timeout means.
    pub effects: ToolEffects,
    /// Ends the attempt with a cancelled failure.
    pub cancellation: CancellationToken,
    /// What the tool reported last.
    pub progress: LatestProgress,
}

impl StepScope {
    /// Makes the scope of an attempt that a door makes with these options.
    #[must_use]
    pub fn new(
        run_id: RunId,
        options: &ActivityOptions,
        attempt: u32,
        cancellation: CancellationToken,
    ) -> Self {
        Self {
            run_id,
            step: options.step,
            agent: options.agent.clone(),
            nonce: options.nonce,
            trace: options.trace.clone(),
            tags: options.tags.clone(),
            root: options.root.clone(),
            allow: options.allow.clone(),
            bounds: options.bounds.clone(),
            guards: options.guards.clone(),
            skills: options.skills.clone(),
            priority: options.priority,
            attempt,
            timeout: options.start_to_close_timeout,
            effects: options.effects,
            cancellation,
            progress: LatestProgress::default(),
        }
    }

    /// Returns the run at the top of the tree: the run itself where no other started it.
    #[must_use]
    pub fn root(&self) -> &RunId {
        self.root.as_ref().unwrap_or(&self.run_id)
    }

    /// Returns the run, as its observers see it.
    #[must_use]
    pub fn run(&self) -> RunScope {
        RunScope {
            run_id: self.run_id.clone(),
            agent: self.agent.clone(),
            nonce: self.nonce,
            trace: self.trace.clone(),
            tags: self.tags.clone(),
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

    /// Returns which run the step is of and whose, for those who are not to see more of it.
    #[must_use]
    pub fn origin(&self) -> RunOrigin<'_> {
        RunOrigin {
            run: self.run_id.as_str(),
            root: self.root().as_str(),
            tags: &self.tags,
            trace: self.trace.as_ref(),
        }
    }

    /// Returns what is the same for every attempt of one step, and different for every other step: also for a step of
    /// another run of the same name, if the run has a [nonce](Self::nonce). It is a hash, which says nothing of the run.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        let StepId {
            scope,
            turn,
            position,
        } = self.step;
        let mut hash = Sha256::new();
        hash.update(KEYS);
        match self.nonce {
            Some(nonce) => hash.update(nonce.as_bytes()),
            None => hash.update(Sha256::digest(self.run_id.as_str())),
        }
        hash.update(scope.to_be_bytes());
        hash.update(turn.to_be_bytes());
        hash.update(position.to_be_bytes());
        hex(&hash.finalize())
    }
}

#[cfg(test)]
mod tests {
    use neuron_types::{AgentSpec, ToolCall};
    use serde_json::Value;

    use super::*;

    /// The key of the first attempt at this step of a run.
    fn key(run_id: &str, nonce: Option<u128>, step: StepId) -> String {
        scope(run_id, nonce, step, 1).idempotency_key()
    }

    fn scope(run_id: &str, nonce: Option<u128>, step: StepId, attempt: u32) -> StepScope {
        let call = ToolCall {
            id: "call-1".into(),
            name: "order".into(),
            input: Value::Null,
            ..ToolCall::default()
        };
        let mut options = AgentSpec::default().tool_options(&call, step);
        options.nonce = nonce.map(Uuid::from_u128);
        let run_id = RunId::new(run_id).unwrap();
        StepScope::new(run_id, &options, attempt, CancellationToken::new())
    }

    #[test]
    fn runs_of_one_name_have_no_key_in_common() {
        let step = StepId::new(1, 1);
        let (one, other) = (key("nightly", Some(1), step), key("nightly", Some(2), step));
        assert_ne!(one, other);
        // Whatever the run is called, the nonce is its own.
        assert_eq!(one, key("moved", Some(1), step));
    }

    #[test]
    fn every_attempt_of_a_step_has_its_key_and_no_other_step_has_it() {
        let step = StepId::new(2, 1);
        let again = scope("r", Some(7), step, 2).idempotency_key();
        assert_eq!(key("r", Some(7), step), again);
        let scoped = StepId { scope: 1, ..step };
        for other in [StepId::new(1, 2), StepId::new(2, 2), scoped] {
            assert_ne!(key("r", Some(7), other), again);
        }
    }

    #[test]
    fn a_key_says_nothing_of_its_run() {
        for nonce in [Some(7), None] {
            let key = key("nightly-orders", nonce, StepId::new(1, 1));
            assert_eq!(key.len(), 64);
            assert!(key.bytes().all(|byte| byte.is_ascii_hexdigit()), "{key}");
        }
        let (one, other) = (StepId::new(1, 1), StepId::new(1, 2));
        let half = |step| key("r", Some(7), step)[..32].to_owned();
        assert_ne!(half(one), half(other), "no part of it is the run's");
    }
}
