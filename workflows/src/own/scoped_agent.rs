//! One agent among those that take turns.

use std::fmt;

use neuron_context::Strategy;
use neuron_loop::{AgentLoop, AgentMachine};
use neuron_types::{
    AgentSpec, DurableContext, DurableError, ExitReason, Lineage, Message, RunEvent, RunInput,
    RunState, Stage,
};
use serde::de::DeserializeOwned;

use super::{door::Door, text::from_text, turn::Turn, workflow_error::WorkflowError};

/// One of the agents that take turns in a run, and its conversation so far. Made by [`Door::scoped`].
///
/// It has its own instructions, model, tools, rules and limits. Turns are counted through the whole run; its limit
/// of turns only counts its own.
pub struct ScopedAgent<'a, D> {
    door: &'a Door<D>,
    scope: u16,
    spec: AgentSpec,
    state: Option<RunState>,
    /// Its own turns so far.
    turns: u32,
}

impl<D: DurableContext> Door<D> {
    /// Returns the agent of this name, with an empty conversation. Its steps and tickets have a
    /// [scope](neuron_types::StepId::scope) of their own.
    ///
    /// # Errors
    ///
    /// [`WorkflowError::UnknownAgent`].
    pub fn scoped(&self, agent: &str) -> Result<ScopedAgent<'_, D>, WorkflowError> {
        let (scope, spec) = self.member(agent)?;
        Ok(ScopedAgent::new(self, scope, spec.clone()))
    }
}

impl<'a, D: DurableContext> ScopedAgent<'a, D> {
    pub(crate) const fn new(door: &'a Door<D>, scope: u16, spec: AgentSpec) -> Self {
        Self {
            door,
            scope,
            spec,
            state: None,
            turns: 0,
        }
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// Returns its conversation so far.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        let state = self.state.as_ref();
        state.map_or(&[], |state| &state.conversation[..])
    }

    /// Sends it a prompt, and returns its answer. It remembers the prompts and answers before.
    ///
    /// # Errors
    ///
    /// [`WorkflowError::Agent`] if it has no answer because it met a limit or failed; [`WorkflowError::NotItsTurn`],
    /// [`WorkflowError::HistoryFull`], or the error that keeps the door from continuing: the cancelling of the run
    /// above all.
    pub async fn ask(&mut self, prompt: impl Into<String>) -> Result<String, WorkflowError> {
        let prompt = prompt.into();
        if self.door.engine_door().must_continue_as_new() {
            return Err(WorkflowError::HistoryFull);
        }
        let turn = Turn::take(self.door).ok_or_else(|| WorkflowError::NotItsTurn {
            agent: self.spec.name.clone(),
        })?;
        let state = self.start(Message::user(prompt), turn.before);
        let limit = state.agent.limits.turns;
        let strategy = Strategy::from_policy(&self.spec.context);
        let mut agent = AgentLoop::resume(self.door, strategy, state);
        let output = agent.run().await?;
        let state = agent.machine().state().clone();
        self.turns += state.turn.saturating_sub(turn.before);
        let raised = limit.zip(state.agent.limits.turns);
        if let (Some(own), Some((before, after))) = (&mut self.spec.limits.turns, raised) {
            // What a person added also applies to later prompts.
            *own = own.saturating_add(after.saturating_sub(before));
        }
        self.state = Some(state);
        match (output.exit_reason, output.output) {
            (Some(ExitReason::Complete), text) => Ok(text.unwrap_or_default()),
            (Some(ExitReason::Cancelled), _) => {
                let reason = output.error.map(|error| error.message);
                Err(DurableError::Cancelled { reason }.into())
            }
            (exit_reason, _) => Err(WorkflowError::Agent {
                agent: self.spec.name.clone(),
                exit_reason: exit_reason.unwrap_or(ExitReason::Failed),
                error: output.error,
            }),
        }
    }

    /// As [`ask`](Self::ask), with an answer of the agent's [form](neuron_types::ResponseFormat).
    ///
    /// # Errors
    ///
    /// As [`ask`](Self::ask); [`WorkflowError::Answer`] if the answer is not a `T`.
    pub async fn ask_for<T: DeserializeOwned>(
        &mut self,
        prompt: impl Into<String>,
    ) -> Result<T, WorkflowError> {
        let answer = self.ask(prompt).await?;
        from_text(&answer).map_err(|source| WorkflowError::Answer {
            agent: self.spec.name.clone(),
            source,
        })
    }

    /// Returns where its loop starts: its conversation with the prompt, in a run of so many turns.
    pub(crate) fn start(&mut self, prompt: Message, before: u32) -> RunState {
        let asked = RunEvent::AgentAsked {
            scope: self.scope,
            agent: self.spec.name.clone(),
            prompt: prompt.text(),
        };
        let mut state = match self.state.take() {
            Some(mut state) => {
                state.conversation.push(prompt);
                // Guards check what the workflow writes now, and nothing of the answer before counts.
                state.unguarded = 1;
                state.mismatches = 0;
                state.looped = None;
                state.stage = Stage::TakeInput { closing: false };
                state.last_text = None;
                // The children that it left when it ended are charged, and were asked to end.
                state.tree.children.clear();
                state
            }
            None => {
                // Its tickets are the run's, and decisions about them are checked against the run's status.
                let run = self.door.turns().status.clone();
                let lineage = Lineage {
                    signed: run.signed,
                    trace: run.trace.clone(),
                    ..run.nonce.map(Lineage::of).unwrap_or_default()
                };
                let mut input = RunInput::new(self.spec.clone(), prompt);
                input.tags = run.tags();
                input.parent.clone_from(&self.door.parent);
                if let Some(parent) = &mut input.parent {
                    // The lease belongs to the whole run, and not to each agent.
                    parent.lease = None;
                }
                input.directory = run.directory;
                let machine = AgentMachine::new(input, self.door.now()).with_lineage(lineage);
                let mut state = RunState::from(machine);
                state.scope = self.scope;
                state.definition = run.definition.unwrap_or_default();
                state
            }
        };
        let others = before.saturating_sub(self.turns);
        let turns = self.spec.limits.turns;
        state.agent.limits.turns = turns.map(|turns| turns.saturating_add(others));
        state.turn = before;
        state.outbox = vec![asked];
        state
    }
}

impl<D> fmt::Debug for ScopedAgent<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedAgent")
            .field("agent", &self.spec.name)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}
