//! Tool calls beside each other: calls of the tool service.

use neuron_runtime::lost_write;
use neuron_types::{
    ActivityOptions, AgentSpec, CompletionRequest, DurableError, FailureKind, RunEvent,
    StepFailure, ToolCall, ToolEffects, ToolOutput,
};
use restate_sdk::{
    context::{CallFuture, RequestTarget, macro_support::SealedDurableFuture},
    errors::TerminalError,
    serde::Json,
};

use crate::{
    RestateDurableContext,
    cancellation::is_cancellation,
    meter::{CALL, Weighed},
    wire::{Attempted, ToolRequest},
};

type Answered = Result<Weighed<Attempted<ToolOutput>>, TerminalError>;

impl RestateDurableContext<'_> {
    /// Starts all the calls, then waits for all of them.
    pub(crate) async fn parallel(
        &self,
        calls: &[ToolCall],
        options: &[ActivityOptions],
    ) -> Vec<Result<ToolOutput, DurableError>> {
        self.flush();
        let ctx = self.steps.ctx;
        let mut cancellation = self.steps.cancellation.lock().await;
        if let Err(error) = cancellation.check() {
            return repeated(&error, calls.len());
        }
        let mut events = self.log().take_unobserved();
        let mut futures: Vec<_> = calls
            .iter()
            .zip(options)
            .map(|(call, options)| {
                let request = self.request(call, options, std::mem::take(&mut events));
                let target = RequestTarget::service(self.names.tools(), "call");
                let headers = Vec::new();
                self.steps.meter.count(CALL);
                Box::pin(ctx.call::<_, Weighed<Attempted<ToolOutput>>>(
                    target,
                    None,
                    None,
                    None,
                    headers,
                    Json(request),
                ))
            })
            .collect();
        let mut pending: Vec<usize> = (0..futures.len()).collect();
        let mut answers: Vec<Option<Answered>> = calls.iter().map(|_| None).collect();
        let mut stopped = None;
        while !pending.is_empty() {
            let race = {
                let waiting: Vec<&dyn SealedDurableFuture> = pending
                    .iter()
                    .filter_map(|index| futures.get(*index))
                    .map(|future| &**future as &dyn SealedDurableFuture)
                    .collect();
                cancellation.race(ctx, &waiting)
            };
            match race.await {
                Ok(first) if first < pending.len() => {
                    let index = pending.remove(first);
                    if let (Some(future), Some(answer)) =
                        (futures.get_mut(index), answers.get_mut(index))
                    {
                        *answer = Some(future.as_mut().await);
                    }
                }
                Ok(_) => break,
                Err(error) => {
                    stopped = Some(error);
                    break;
                }
            }
        }
        for index in pending {
            // Whatever keeps a call from being cancelled, the run does not wait for it.
            if let Some(future) = futures.get(index)
                && let Ok(handle) = future.invocation_handle().await
            {
                handle.cancel();
            }
        }
        let mut log = self.log();
        answers
            .into_iter()
            .zip(options)
            .map(|(answer, options)| match (answer, &stopped) {
                (Some(Ok(attempted)), _) => {
                    let attempted = self.steps.meter.read(attempted);
                    log.advance(attempted.at);
                    Ok(attempted.result?)
                }
                (Some(Err(error)), _) => Err(lost_call(options, &error).into()),
                (None, Some(error)) => Err(copied(error)),
                (None, None) => Err(DurableError::engine("a call was never waited for")),
            })
            .collect()
    }

    fn request(
        &self,
        call: &ToolCall,
        options: &ActivityOptions,
        events: Vec<RunEvent>,
    ) -> ToolRequest {
        let agent = self.steps.agent;
        let called = |name: &str| name == call.name;
        // All of them, if it is none of them: the model is told which there are.
        let exists = agent.request.tools.iter().any(|tool| called(&tool.name));
        let tools = agent.request.tools.iter();
        let tools = tools.filter(|tool| !exists || called(&tool.name)).cloned();
        ToolRequest {
            run_id: self.steps.run_id.clone(),
            agent: AgentSpec {
                name: agent.name.clone(),
                request: CompletionRequest {
                    tools: tools.collect(),
                    ..CompletionRequest::default()
                },
                tool_timeout: agent.tool_timeout,
                tool_settings: agent.tool_settings.clone(),
                ..AgentSpec::default()
            },
            call: call.clone(),
            options: options.clone(),
            events,
        }
    }
}

/// A call that somebody killed in Restate.
fn lost_call(options: &ActivityOptions, error: &TerminalError) -> StepFailure {
    if is_cancellation(error) {
        return StepFailure::new(FailureKind::Cancelled, "the call was cancelled in Restate");
    }
    if options.effects == ToolEffects::Write {
        return lost_write();
    }
    StepFailure {
        retryable: false,
        ..StepFailure::new(
            FailureKind::Unavailable,
            format!("Restate ended the call: {}", error.message()),
        )
    }
}

fn repeated<T>(error: &DurableError, count: usize) -> Vec<Result<T, DurableError>> {
    (0..count).map(|_| Err(copied(error))).collect()
}

fn copied(error: &DurableError) -> DurableError {
    match error {
        DurableError::Cancelled { reason } => DurableError::Cancelled {
            reason: reason.clone(),
        },
        other => DurableError::engine(other.to_string()),
    }
}
