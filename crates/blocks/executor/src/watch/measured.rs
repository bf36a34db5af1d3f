//! What attempts took and used, as measurements.

use std::time::Duration;

use neuron_types::{
    CompletionRequest, CompletionResponse, FailureKind, StepFailure, TokenUsage, ToolCall,
    ToolOutput,
};
use rust_decimal::prelude::ToPrimitive as _;

use super::{measure::measure, sampling::is_measuring};
use crate::StepScope;

/// Emits the measurements of a call of a model.
pub(crate) fn model_call(
    agent: Option<&str>,
    scope: &StepScope,
    request: &CompletionRequest,
    provider: &str,
    took: Duration,
    result: &Result<CompletionResponse, StepFailure>,
) {
    if !is_measuring() {
        return;
    }
    let tenant = scope.tags.tenant.as_deref();
    let answer = result.as_ref().ok();
    let failure = result.as_ref().err();
    measure!(
        histogram.gen_ai.client.operation.duration = took.as_secs_f64(),
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = provider,
        gen_ai.request.model = request.model,
        gen_ai.response.model = answer.map(|answer| answer.model.as_str()),
        error.r#type = failure.map(|failure| failure.kind.as_str()),
        agent,
        tenant,
    );
    if let Some(failure) = failure.filter(|failure| is_outage(failure.kind)) {
        measure!(
            counter.neuron.provider.outages = 1_u64,
            gen_ai.provider.name = provider,
            gen_ai.request.model = request.model,
            error.r#type = failure.kind.as_str(),
        );
    }
    again(scope, "chat", agent);
    let spent = match result {
        Ok(answer) => Some((&answer.usage, answer.cost_usd)),
        Err(failure) => failure
            .spent
            .as_deref()
            .map(|spent| (&spent.usage, spent.cost_usd)),
    };
    let Some((usage, cost_usd)) = spent else {
        return;
    };
    for (kind, tokens) in kinds(usage) {
        measure!(
            histogram.gen_ai.client.token.usage = tokens,
            gen_ai.token.r#type = kind,
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = provider,
            gen_ai.request.model = request.model,
            agent,
            tenant,
        );
    }
    if let Some(cost_usd) = cost_usd.and_then(|cost| cost.to_f64()) {
        measure!(
            histogram.neuron.cost = cost_usd,
            gen_ai.provider.name = provider,
            gen_ai.request.model = request.model,
            agent,
            tenant,
        );
    }
}

/// Emits the measurements of a call of a tool.
pub(crate) fn tool_call(
    agent: Option<&str>,
    scope: &StepScope,
    call: &ToolCall,
    took: Duration,
    result: &Result<ToolOutput, StepFailure>,
) {
    if !is_measuring() {
        return;
    }
    let error = match result {
        Ok(output) if output.is_error => Some("tool_error"),
        Ok(_) => None,
        Err(failure) => Some(failure.kind.as_str()),
    };
    measure!(
        histogram.gen_ai.execute_tool.duration = took.as_secs_f64(),
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = call.name,
        error.r#type = error,
        agent,
        tenant = scope.tags.tenant.as_deref(),
    );
    again(scope, "execute_tool", agent);
}

/// Emits the measurement of a guard's verdict.
pub(crate) fn guard(guard: &str, point: &str, verdict: &str) {
    if is_measuring() {
        measure!(
            counter.neuron.guard.verdicts = 1_u64,
            neuron.guard.name = guard,
            neuron.guard.point = point,
            neuron.guard.verdict = verdict,
        );
    }
}

/// Emits the measurement of a model's first piece of an answer.
pub(crate) fn first_chunk(
    agent: Option<&str>,
    request: &CompletionRequest,
    provider: &str,
    took: Duration,
) {
    if is_measuring() {
        measure!(
            histogram.gen_ai.client.operation.time_to_first_chunk = took.as_secs_f64(),
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = provider,
            gen_ai.request.model = request.model,
            agent,
        );
    }
}

/// Counts an attempt after the first, which followed another.
fn again(scope: &StepScope, operation: &str, agent: Option<&str>) {
    if scope.attempt > 1 {
        measure!(
            counter.neuron.step.retries = 1_u64,
            gen_ai.operation.name = operation,
            agent,
            tenant = scope.tags.tenant.as_deref(),
        );
    }
}

fn kinds(usage: &TokenUsage) -> impl Iterator<Item = (&'static str, u64)> {
    let kinds = [
        ("input", usage.input_tokens),
        ("output", usage.output_tokens),
    ];
    kinds.into_iter().filter(|(_, tokens)| *tokens > 0)
}

/// Returns whether a failure is of the server, or of the way to it, and not of what was asked.
const fn is_outage(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::RateLimited
            | FailureKind::Overloaded
            | FailureKind::Unavailable
            | FailureKind::Network
            | FailureKind::Timeout
    )
}
