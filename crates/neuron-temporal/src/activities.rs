//! The activities: model calls and tool calls, made by the executor.

use std::sync::Arc;

use neuron_runtime::{EventSink, Executor, StepScope};
use neuron_types::{CompletionResponse, FailureKind, RunId, StepFailure, ToolOutput};
use temporalio_macros::activities;
use temporalio_sdk::activities::{ActivityContext, ActivityError};
use tokio_util::sync::CancellationToken;

use crate::{
    Executors,
    attempt::attempt,
    history::transcript_before,
    payload::{Delta, Ending, MODEL, ModelStep, OBSERVE, PART, TOOL, ToolStep},
    size,
    transcript::Transcript,
    transcript_cache::TranscriptCache,
};

/// What a worker makes the calls of its runs with.
pub(crate) struct AgentActivities {
    pub(crate) executors: Executors,
    pub(crate) transcripts: TranscriptCache,
    /// Who is told of attempts that are followed by another. The executors tell it the rest.
    pub(crate) sink: Arc<dyn EventSink>,
    /// The worker shuts down.
    pub(crate) stopping: CancellationToken,
}

#[activities]
impl AgentActivities {
    /// Calls the model.
    #[activity(name = MODEL)]
    pub(crate) async fn model(
        self: Arc<Self>,
        ctx: ActivityContext,
        step: ModelStep,
    ) -> Result<CompletionResponse, ActivityError> {
        let executor = self.executors.get(&step.terms.agent);
        attempt(
            &ctx,
            executor,
            &step.terms,
            &self,
            async |executor, scope| self.call_model(&ctx, executor, &scope, &step).await,
        )
        .await
    }

    /// Takes in a part of a conversation that is too large for one input.
    #[activity(name = PART)]
    pub(crate) async fn part(
        self: Arc<Self>,
        ctx: ActivityContext,
        step: ModelStep,
    ) -> Result<(), ActivityError> {
        let executor = self.executors.get(&step.terms.agent);
        attempt(&ctx, executor, &step.terms, &self, async |_, _| {
            let run = ctx.info().workflow_run_id.clone().unwrap_or_default();
            let transcript = self.transcript(&ctx, &run, &step.delta).await?;
            self.transcripts.put(run, transcript);
            Ok(())
        })
        .await
    }

    /// Calls a tool.
    #[activity(name = TOOL)]
    pub(crate) async fn tool(
        self: Arc<Self>,
        ctx: ActivityContext,
        step: ToolStep,
    ) -> Result<ToolOutput, ActivityError> {
        let executor = self.executors.get(&step.terms.agent);
        attempt(
            &ctx,
            executor,
            &step.terms,
            &self,
            async |executor, scope| {
                let output = executor.call_tool(&scope, &step.call).await?;
                Ok(size::fit(output, ctx.info().is_local))
            },
        )
        .await
    }

    /// Tells the hooks how the run ended. It is over: none of them can end it any more.
    #[activity(name = OBSERVE)]
    pub(crate) async fn observe(
        self: Arc<Self>,
        ctx: ActivityContext,
        ending: Ending,
    ) -> Result<(), ActivityError> {
        let run_id = RunId::new(ctx.info().workflow_id.clone().unwrap_or_default());
        if let (Ok(run_id), Ok(executor)) = (run_id, self.executors.get(&ending.agent)) {
            drop(executor.observe(&run_id, &ending.tell).await);
        }
        Ok(())
    }
}

impl AgentActivities {
    async fn call_model(
        &self,
        ctx: &ActivityContext,
        executor: &Executor,
        scope: &StepScope,
        step: &ModelStep,
    ) -> Result<CompletionResponse, StepFailure> {
        let run = ctx.info().workflow_run_id.clone().unwrap_or_default();
        let mut transcript = self.transcript(ctx, &run, &step.delta).await?;
        let result = executor.call_model(scope, transcript.request()).await;
        let result = result.and_then(size::check_answer);
        if step.delta.aside {
            return result;
        }
        if let Ok(response) = &result {
            transcript
                .answer(&response.message)
                .map_err(|error| unwritable(&error))?;
        }
        self.transcripts.put(run, transcript);
        result
    }

    /// The conversation of this call: remembered, or read from the run's history.
    async fn transcript(
        &self,
        ctx: &ActivityContext,
        run: &str,
        delta: &Delta,
    ) -> Result<Transcript, StepFailure> {
        let starts_anew = delta.aside || (delta.keep == 0 && delta.head.is_some());
        let remembered = if starts_anew {
            Some(Transcript::default())
        } else {
            self.transcripts.take(run)
        };
        if let Some(mut transcript) = remembered {
            transcript
                .apply(delta)
                .map_err(|error| unwritable(&error))?;
            if transcript.stated(delta) {
                return Ok(transcript);
            }
        }
        let mut transcript = transcript_before(ctx).await?;
        transcript
            .apply(delta)
            .map_err(|error| unwritable(&error))?;
        if transcript.stated(delta) {
            return Ok(transcript);
        }
        Err(StepFailure::new(
            FailureKind::Internal,
            "the conversation that was put together from the run's history is not the one that the run states: \
             report this with the run's history",
        ))
    }
}

fn unwritable(error: &serde_json::Error) -> StepFailure {
    StepFailure::new(
        FailureKind::Internal,
        format!("a message cannot be written as JSON: {error}"),
    )
}
