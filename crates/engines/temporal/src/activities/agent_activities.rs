//! The activities: model calls and tool calls, made by the executor.

use std::sync::Arc;

use neuron_executor::{Executor, Executors, StepScope};
use neuron_flow::look_again;
use neuron_types::{
    CompletionResponse, FailureKind, Outcome, RunId, RunScope, StepFailure, ToolOutput,
};
use temporalio_macros::activities;
use temporalio_sdk::activities::{ActivityContext, ActivityError};

use crate::{
    activities::{attempt::Attempts, blocking::beside_others},
    conversation::{
        history::{transcript, transcript_since},
        known_results::{NAMED, length},
        memory::Memory,
        transcript::Transcript,
    },
    wire::{
        activity_inputs::{
            Delta, EffectStep, Ending, MODEL, MODEL_BESIDE, ModelStep, Need, OBSERVE, PART,
            PERFORM, SEEK,
        },
        failure::activity_error,
        payload_limits,
        stated::{ResultOf, step_name},
    },
};

/// The executors and caches with which a worker makes the calls of its runs.
pub(crate) struct AgentActivities {
    pub(crate) executors: Executors,
    pub(crate) memory: Memory,
    pub(crate) attempts: Attempts,
}

#[activities]
impl AgentActivities {
    /// Ends in a worker that has what a step needs. A worker that lacks it leaves the activity to another.
    #[activity(name = SEEK)]
    pub(crate) async fn seek(
        self: Arc<Self>,
        ctx: ActivityContext,
        need: Need,
    ) -> Result<(), ActivityError> {
        let executor = self.executors.of(&need.agent);
        let checked = executor
            .and_then(|executor| executor.check(need.step_agent.as_deref(), need.of_step()));
        checked.map_err(|lacking| activity_error(&lacking, Some(look_again(ctx.info().attempt))))
    }

    /// Calls the model.
    #[activity(name = MODEL)]
    pub(crate) async fn model(
        self: Arc<Self>,
        ctx: ActivityContext,
        step: ModelStep,
    ) -> Result<CompletionResponse, ActivityError> {
        let executor = self.executors.of(&step.terms.agent);
        self.attempts
            .make(
                &ctx,
                executor.as_ref().map_err(Clone::clone),
                &step.terms,
                async |executor, scope| {
                    let response = self.call_model(&ctx, executor, &scope, &step).await?;
                    response.ok_or_else(another)
                },
            )
            .await
            .map(|(response, life)| response.with_spent_before(life.spent()))
    }

    /// Calls the model beside the run. Returns `None`, without a call, if the conversation is not complete here: a part
    /// of it may not be in the history yet.
    #[activity(name = MODEL_BESIDE)]
    pub(crate) async fn model_beside(
        self: Arc<Self>,
        ctx: ActivityContext,
        step: ModelStep,
    ) -> Result<Option<CompletionResponse>, ActivityError> {
        let executor = self.executors.of(&step.terms.agent);
        self.attempts
            .make(
                &ctx,
                executor.as_ref().map_err(Clone::clone),
                &step.terms,
                async |executor, scope| self.call_model(&ctx, executor, &scope, &step).await,
            )
            .await
            // The activity makes one attempt.
            .map(|(response, _)| response)
    }

    /// Adds a part of a conversation that is too large for one input.
    #[activity(name = PART)]
    pub(crate) async fn part(
        self: Arc<Self>,
        ctx: ActivityContext,
        step: ModelStep,
    ) -> Result<(), ActivityError> {
        let executor = self.executors.of(&step.terms.agent);
        self.attempts
            .make(
                &ctx,
                executor.as_ref().map_err(Clone::clone),
                &step.terms,
                async |_, _| {
                    let run = run_of(&ctx);
                    let transcript = self.transcript(&ctx, &run, &step.delta).await?;
                    self.remember(run, transcript.ok_or_else(another)?, &step.delta);
                    Ok(())
                },
            )
            .await
            .map(|((), _)| ())
    }

    /// Makes every step except the calls of the conversation's model.
    #[activity(name = PERFORM)]
    pub(crate) async fn perform(
        self: Arc<Self>,
        ctx: ActivityContext,
        step: EffectStep,
    ) -> Result<Outcome, ActivityError> {
        // The hooks are notified of a step once, by its first attempt.
        let (agent, step_agent) = (&step.terms.agent, step.terms.step_agent.as_deref());
        let executor = self.executors.of_step(agent, step_agent, &step.effect);
        self.attempts
            .make(
                &ctx,
                executor.as_ref().map_err(Clone::clone),
                &step.terms,
                async |executor, scope| {
                    let outcome = beside_others(executor.perform(&scope, &step.effect)).await?;
                    let outcome = payload_limits::fitting_outcome(outcome, ctx.info().is_local)?;
                    if let Outcome::Tool(ToolOutput { content, .. }) = &outcome
                        && length(content) >= step.named_from.unwrap_or(NAMED)
                    {
                        let name = step_name(step.terms.step);
                        self.memory.put_result(&run_of(&ctx), name, content);
                    }
                    Ok(outcome)
                },
            )
            .await
            .map(|(outcome, life)| outcome.with_spent_before(life.spent()))
    }

    /// Notifies the hooks of how the run ended. The run is over: no hook can end it any more.
    #[activity(name = OBSERVE)]
    pub(crate) async fn observe(
        self: Arc<Self>,
        ctx: ActivityContext,
        ending: Ending,
    ) -> Result<(), ActivityError> {
        let run_id = RunId::new(ctx.info().workflow_id.clone().unwrap_or_default());
        if let (Ok(run_id), Ok(executor)) = (run_id, self.executors.of(&ending.agent)) {
            let run = ending.run.unwrap_or_else(|| RunScope::new(run_id));
            drop(executor.observe(&run, &ending.events).await);
        }
        Ok(())
    }
}

impl AgentActivities {
    /// Calls the model. Returns `None` if the conversation here differs from the one that the run states.
    async fn call_model(
        &self,
        ctx: &ActivityContext,
        executor: &Executor,
        scope: &StepScope,
        step: &ModelStep,
    ) -> Result<Option<CompletionResponse>, StepFailure> {
        let run = run_of(ctx);
        let Some(mut transcript) = self.transcript(ctx, &run, &step.delta).await? else {
            return Ok(None);
        };
        let result = executor.call_model(scope, transcript.request()).await;
        let result = result.and_then(payload_limits::check_answer);
        if step.delta.aside {
            return result.map(Some);
        }
        if let Ok(response) = &result {
            transcript
                .answer(&response.message)
                .map_err(|error| unwritable(&error))?;
        }
        self.remember(run, transcript, &step.delta);
        result.map(Some)
    }

    /// Returns the conversation of this call: from memory, or read from the run's history.
    async fn transcript(
        &self,
        ctx: &ActivityContext,
        run: &str,
        delta: &Delta,
    ) -> Result<Option<Transcript>, StepFailure> {
        let mut known = if delta.aside {
            Transcript::default()
        } else {
            self.memory.take(run).unwrap_or_default()
        };
        let find = |named: &ResultOf| self.memory.result(run, &named.step);
        let is_applied = known
            .apply(delta, find)
            .map_err(|error| unwritable(&error))?;
        let mut found = match is_applied {
            true => known.stated(delta).then_some(known),
            // Another worker has had the run since. This worker knows where to continue reading.
            false => transcript_since(ctx, known, delta).await?,
        };
        if found.is_none() {
            found = transcript(ctx, delta).await?;
        }
        if let Some(transcript) = &mut found {
            transcript.mark = Some(ctx.info().activity_id.clone());
        }
        Ok(found)
    }

    /// Remembers the conversation. The results that became part of it need not be remembered separately.
    fn remember(&self, run: String, transcript: Transcript, delta: &Delta) {
        for named in delta.names() {
            self.memory.forget_result(&run, &named.step);
        }
        self.memory.put(run, transcript);
    }
}

fn run_of(ctx: &ActivityContext) -> String {
    ctx.info().workflow_run_id.clone().unwrap_or_default()
}

/// Returns a retryable failure: the run may state something that only a worker of another build can read.
fn another() -> StepFailure {
    StepFailure::new(
        FailureKind::Unavailable,
        "the conversation that this worker puts together from the run's history is not the one that the run states: the \
         call is left to a worker of another build. If there is none, report this with the run's history",
    )
}

fn unwritable(error: &serde_json::Error) -> StepFailure {
    StepFailure::new(
        FailureKind::Internal,
        format!("a message cannot be written as JSON: {error}"),
    )
}
