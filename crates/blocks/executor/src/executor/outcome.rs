//! What became of a call whose outcome is unknown, asked of its tool.

use neuron_types::{
    HookEvent, OutcomeRequest, PermissionDecision, StepFailure, ToolCall, ToolContext, ToolError,
    ToolOutput,
};
use tracing::warn;

use super::{
    Executor,
    attempt::{Attempt, Cut},
    tool_result::bound,
};
use crate::StepScope;

impl Executor {
    /// Asks a tool what became of a call of it; `None` if the tool does not know it either.
    ///
    /// Nothing is known of what is not granted, or denied. Hooks see an outcome as they see the output of a call, and
    /// nothing before it, since no call is made.
    ///
    /// # Errors
    ///
    /// What may be otherwise later: the tool is unavailable, or not here. Other failures of a tool leave the outcome
    /// unknown.
    pub(super) async fn ask_outcome(
        &self,
        scope: &StepScope,
        request: &OutcomeRequest,
    ) -> Result<Option<ToolOutput>, StepFailure> {
        let step = request.step;
        let asked = ToolCall::new("", request.name.clone(), request.input.clone());
        let grants = self.grants.as_deref();
        if grants.is_some_and(|grants| !grants.has(&asked.name)) {
            return Ok(None);
        }
        let judged = self.judge_of(scope, &asked.name).judge(&asked).await;
        if matches!(judged, PermissionDecision::Deny(_)) {
            return Ok(None);
        }
        self.check_tool(&asked.name)?;
        self.inner.guards.check(&scope.guards)?;
        let Some(tool) = self.inner.tools.get(&asked.name) else {
            return Ok(None);
        };
        let made = StepScope {
            step,
            ..scope.clone()
        };
        let context = ToolContext {
            step,
            idempotency_key: made.idempotency_key(),
            ..self.context(scope)
        };
        let longest = grants.map_or(scope.timeout, |grants| grants.tool_timeout(&asked.name));
        let attempt = Attempt::start(scope, longest);
        let outcome = tool.outcome_dyn(&context.idempotency_key, asked.input, &context);
        let output = match attempt.part(outcome).await {
            Ok(Ok(output)) => output.filter(|output| output.pending.is_none()),
            Ok(Err(error)) => unknown_after(&asked.name, error)?,
            Err(Cut::Panicked(text)) => {
                warn!(
                    "the tool {} panicked when it was asked for an outcome: {text}",
                    asked.name
                );
                None
            }
            Err(cut) => return Err(cut.into_failure("the question for an outcome")),
        };
        let Some(mut output) = output else {
            return Ok(None);
        };
        bound(&mut output, self.inner.max_result_bytes);
        let guards = &self.inner.guards;
        let output = guards.after_call(&attempt, &asked.name, output).await?;
        let event = HookEvent::PostToolExecution {
            tool_name: &asked.name,
            output: &output,
        };
        self.notify_after(&attempt, &event).await?;
        Ok(Some(output))
    }
}

/// Returns what is known after an error: nothing, unless the tool may be asked again.
fn unknown_after(tool: &str, error: ToolError) -> Result<Option<ToolOutput>, StepFailure> {
    let is_cancelled = matches!(error, ToolError::Cancelled);
    let failure = StepFailure::from(error);
    if is_cancelled || failure.retryable {
        return Err(failure);
    }
    warn!("the tool {tool} does not say what became of a call: {failure}");
    Ok(None)
}
