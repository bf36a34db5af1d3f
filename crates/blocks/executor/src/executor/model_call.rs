//! Model calls: which provider makes them, who watches, and what an attempt comes to.

use std::time::Duration;

use neuron_types::{
    CompletionRequest, CompletionResponse, DynProvider, FailureKind, HookEvent, StepFailure,
};
use tracing::{Instrument, field::Empty, info_span};

use super::{Executor, answer_form, attempt::Attempt, list, record_failure, tokens, turn};
use crate::{EventSink, RateLimiter, StepScope};

impl Executor {
    /// Calls the model: one attempt.
    ///
    /// The answer's `mismatch` says whether it is of the form that the request asks for. Its `cost_usd` is filled in from the prices, unless the provider did. If a
    /// [sink](Self::with_sink) watches, the model is asked for a stream, and the sink is told its pieces; what
    /// is answered is the same.
    ///
    /// # Errors
    ///
    /// The provider's error; `timeout` or `cancelled` where the scope ended it; `terminated` where a hook
    /// did; `no_worker` where no such provider is registered, and `invalid_request` where the request names none.
    pub async fn call_model(
        &self,
        scope: &StepScope,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, StepFailure> {
        let executor = self.of_step(scope.agent.as_deref())?;
        let tenant = scope.tenant.as_deref();
        let (name, provider, limiter) = executor.provider(request.provider.as_deref(), tenant)?;
        let span = info_span!(
            "llm_call",
            run_id = %scope.run_id,
            turn = scope.step.turn,
            attempt = scope.attempt,
            model = request.model,
            input_tokens = Empty,
            output_tokens = Empty,
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = name,
            gen_ai.request.model = request.model,
            gen_ai.response.model = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            error.r#type = Empty,
        );
        let result = executor
            .model_attempt(scope, (name, provider, limiter), request)
            .instrument(span.clone())
            .await;
        match &result {
            Ok(response) => {
                span.record("input_tokens", response.usage.input_tokens);
                span.record("output_tokens", response.usage.output_tokens);
                span.record("gen_ai.response.model", &response.model);
                span.record("gen_ai.usage.input_tokens", response.usage.input_tokens);
                span.record("gen_ai.usage.output_tokens", response.usage.output_tokens);
            }
            Err(failure) => record_failure(&span, failure),
        }
        result
    }

    async fn model_attempt(
        &self,
        scope: &StepScope,
        (name, provider, limiter): (&str, &dyn DynProvider, Option<&RateLimiter>),
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, StepFailure> {
        let what = "the model call";
        let longest = self.grants.as_ref().map(|grants| grants.model_timeout());
        let mut attempt = Attempt::start(scope, longest.unwrap_or(Duration::MAX));
        self.notify(&attempt, &HookEvent::PreLlmCall { request })
            .await?;
        let admission = match limiter {
            Some(limiter) => Some(turn::await_turn(limiter, &mut attempt, scope, request).await?),
            None => None,
        };
        let answer = attempt
            .part(async {
                match self.watcher(scope) {
                    Some(sink) => tokens::watched(sink, scope, provider, request).await,
                    None => provider.complete_dyn(request).await,
                }
            })
            .await
            .map_err(|cut| cut.into_failure(what))?
            .map_err(StepFailure::from);
        if let Some(admission) = admission {
            match &answer {
                Ok(response) => admission.answered(&response.usage),
                Err(failure) => admission.failed(failure.kind, failure.retry_after),
            }
        }
        let mut response = answer?;
        if response.cost_usd.is_none() {
            response.cost_usd = self.inner.prices.cost(name, request, &response.usage);
        }
        let form = request.response_format.as_ref();
        response.mismatch = form.and_then(|form| answer_form::mismatch(form, &response));
        let event = HookEvent::PostLlmCall {
            response: &response,
        };
        self.notify_after(&attempt, &event).await?;
        Ok(response)
    }

    /// Who watches this call. Nobody watches those of a context strategy, which are no turn's answer.
    fn watcher(&self, scope: &StepScope) -> Option<&dyn EventSink> {
        let sink = self.sink.as_deref()?;
        (scope.step.position == 0 && sink.wants_tokens()).then_some(sink)
    }

    /// The provider of this name, with what keeps its requests within their rate: the tenant's own, where there is one.
    pub(super) fn provider(
        &self,
        asked: Option<&str>,
        tenant: Option<&str>,
    ) -> Result<(&str, &dyn DynProvider, Option<&RateLimiter>), StepFailure> {
        let providers = &self.inner.providers;
        let found = match asked {
            Some(name) => providers.get_key_value(name),
            None if providers.len() == 1 => providers.first_key_value(),
            None => None,
        };
        found
            .map(|(name, provider)| {
                let tenants = self.inner.tenant_providers.get(name);
                let own = tenants.and_then(|tenants| tenants.get(tenant?));
                let limiter = match own {
                    None => self.inner.limiters.get(name),
                    Some(_) => {
                        let limiters = self.inner.tenant_limiters.get(name);
                        limiters.and_then(|limiters| limiters.get(tenant?))
                    }
                };
                (name.as_str(), own.unwrap_or(provider).as_ref(), limiter)
            })
            .ok_or_else(|| {
                let (kind, what) = match asked {
                    Some(name) => (
                        FailureKind::NoWorker,
                        format!("there is no provider {name:?}"),
                    ),
                    None => (
                        FailureKind::InvalidRequest,
                        "the request names no provider".to_owned(),
                    ),
                };
                let known = list(providers.keys().map(String::as_str));
                StepFailure::new(kind, format!("{what}: this executor has {known}"))
            })
    }
}
