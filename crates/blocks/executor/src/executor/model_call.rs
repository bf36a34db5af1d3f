//! Calling a model: one attempt goes through the agent's list of models once.

use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use neuron_types::{
    CompletionRequest, CompletionResponse, ContentBlock, DynProvider, FailureKind, GuardPoint,
    HookEvent, Spent, StepFailure, StopReason, TokenUsage,
};
use rust_decimal::prelude::ToPrimitive as _;
use tracing::{Instrument, Span, field::Empty, info, warn};

use super::{
    Executor, answer_form,
    attempt::Attempt,
    failed_models::FailedModels,
    fitted::{Listed, fitted, holds_foreign, left_out, was_answered_by_several},
    judges::AskModel,
    list, record_failure, step_span, tokens, turn,
};
use crate::{
    EventSink, RateLimiter, StepScope,
    watch::{attempt_trace::AttemptTrace, measured, waiting::Waiting},
};

/// How many answers in a row may be malformed until the model is not asked again.
const MOST_MALFORMED: u32 = 3;

/// How much of an end's reason is quoted, in characters.
const LONGEST_REASON: usize = 100;

impl Executor {
    /// Calls the model: one attempt.
    ///
    /// The answer's `mismatch` says whether it is of the form that the request asks for. Its `cost_usd` is filled in from
    /// the prices of the model that answered, unless the provider did. The model is asked for a stream. If a
    /// [sink](Self::with_sink) watches, it is shown the pieces. The attempt may take as long as its scope says
    /// [without a piece](crate::longest_attempt).
    ///
    /// The answer's `left_out` ends with what the executor was built [without](super::ExecutorBuilder::left_out), but for a
    /// context strategy's calls, which have no tools.
    ///
    /// What the provider reported of an attempt that failed all the same is in its failure.
    ///
    /// A model whose answer is [malformed](FailureKind::MalformedAnswer), or ended for a
    /// [reason without a meaning](StopReason::Other), is asked again within the attempt. With the third such answer in a row
    /// it has failed, and is not tried again.
    ///
    /// # Several models
    ///
    /// Where the request has [further models](neuron_types::RequestHead::fallback_models), each is asked once, in their
    /// order, for as long as the one before [failed so that another may help](FailureKind::another_model_may_help); a
    /// further model that takes the request for an invalid one is passed over too. Each has the attempt's time for
    /// itself. A model whose provider is not here is left out, unless it is the first. The answer ends with a block
    /// that [names the model](ContentBlock::AnsweredBy). It also does where one model alone continues a conversation
    /// that several took part in.
    ///
    /// A model whose requests are [paced](super::ExecutorBuilder::limiter) is waited for 10 s at most while another follows
    /// it, and no longer than one before it asked to be left alone: neither its own rate nor a pause that its server asked
    /// for keeps the others from being asked.
    ///
    /// # Errors
    ///
    /// The provider's error; `timeout` or `cancelled` where the scope ended it; `terminated` where a hook
    /// did; `no_worker` where no such provider is registered, and `invalid_request` where the request names none. Where
    /// several models failed, that of the one that can be tried again the soonest, else that of the first.
    pub async fn call_model(
        &self,
        scope: &StepScope,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, StepFailure> {
        let executor = self.of_step(scope.agent.as_deref())?;
        executor.inner.guards.check(&scope.guards)?;
        // A run may continue with one of several models, and without the others.
        let is_one = request.fallback_models.is_empty() && !was_answered_by_several(request);
        let mut response = match is_one {
            true => executor.ask(scope, request, Duration::MAX).await?,
            false => executor.ask_in_order(scope, request).await?,
        };
        if answers_turn(scope) {
            let left_out = executor.inner.left_out.iter().cloned();
            response.left_out.extend(left_out);
        }
        Ok(response)
    }

    async fn ask_in_order(
        &self,
        scope: &StepScope,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, StepFailure> {
        let models = self.models(scope, request)?;
        let Some(own) = models.first().copied() else {
            return Err(none_asked());
        };
        let mut models = models.into_iter().peekable();
        let mut failed = FailedModels::default();
        let mut is_first = true;
        let mut spent = None;
        while let Some(model) = models.next() {
            let longest = failed.longest_turn(models.peek().is_none());
            let sent = fitted(request, own, model);
            let mut failure = match self.ask(scope, &sent, longest).await {
                Ok(mut response) => {
                    response.left_out.extend(left_out(request, own, model));
                    let content = &mut response.message.content;
                    if !content.is_empty() {
                        let model = model.name();
                        content.push(ContentBlock::AnsweredBy { model });
                    }
                    return Ok(response.with_spent_before(spent));
                }
                Err(failure) => failure,
            };
            spent = Spent::sum(spent, failure.spent.take());
            if ends_the_call(failure.kind) {
                return Err(failure.with_spent(spent));
            }
            // What is not the first model's own request may be wrong for the model alone.
            let is_adapted = !is_first || holds_foreign(request, model.provider);
            let is_misfit = is_adapted && failure.kind == FailureKind::InvalidRequest;
            let goes_on = is_misfit || failure.kind.another_model_may_help();
            info!(model = model.name(), %failure, goes_on, "a model of the list failed");
            failed.add(model, failure);
            if !goes_on {
                break;
            }
            is_first = false;
        }
        let failure = failed.into_failure().unwrap_or_else(none_asked);
        Err(failure.with_spent(spent))
    }

    /// Returns the models of the list that can be asked here, in order.
    fn models<'a>(
        &'a self,
        scope: &StepScope,
        request: &'a CompletionRequest,
    ) -> Result<Vec<Listed<'a>>, StepFailure> {
        let tenant = scope.tags.tenant.as_deref();
        let (provider, ..) = self.provider(request.provider.as_deref(), tenant)?;
        let mut models = vec![Listed {
            provider,
            model: &request.model,
        }];
        for name in &request.fallback_models {
            match Listed::parse(name) {
                Some(model) if self.provider(Some(model.provider), tenant).is_ok() => {
                    models.push(model);
                }
                _ => warn!(model = name, "a model of the list has no provider here"),
            }
        }
        Ok(models)
    }

    /// Asks one model. Its request waits for its turn for `longest_turn` at most.
    async fn ask(
        &self,
        scope: &StepScope,
        request: &CompletionRequest,
        longest_turn: Duration,
    ) -> Result<CompletionResponse, StepFailure> {
        let tenant = scope.tags.tenant.as_deref();
        let (name, ..) = self.provider(request.provider.as_deref(), tenant)?;
        let trace = AttemptTrace::of(scope);
        let start = Instant::now();
        let span = step_span!(
            self,
            scope,
            trace,
            "llm_call",
            otel.name = format!("chat {}", request.model),
            otel.kind = "client",
            model = request.model,
            input_tokens = Empty,
            output_tokens = Empty,
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = name,
            gen_ai.request.model = request.model,
            gen_ai.request.max_tokens = request.max_tokens,
            gen_ai.request.temperature = request.temperature.map(rounded),
            gen_ai.response.id = Empty,
            gen_ai.response.model = Empty,
            gen_ai.response.finish_reasons = Empty,
            gen_ai.response.time_to_first_chunk = Empty,
            gen_ai.conversation.id = %scope.run_id,
            gen_ai.usage.cache_read.input_tokens = Empty,
            gen_ai.usage.cache_write.input_tokens = Empty,
            gen_ai.usage.reasoning.output_tokens = Empty,
            neuron.cost_usd = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            error.r#type = Empty,
        );
        let result = self
            .until_well_formed(&trace.inside(scope), request, longest_turn)
            .instrument(span.clone())
            .await;
        let agent = self.agent_of(scope);
        measured::model_call(agent, scope, request, name, start.elapsed(), &result);
        match &result {
            Ok(response) => record_answer(&span, response),
            Err(failure) => record_failure(&span, failure),
        }
        result
    }

    /// Asks until an answer is not malformed, within one attempt's time.
    async fn until_well_formed(
        &self,
        scope: &StepScope,
        request: &CompletionRequest,
        longest_turn: Duration,
    ) -> Result<CompletionResponse, StepFailure> {
        let longest = self.grants.as_ref().map(|grants| grants.model_timeout());
        let mut attempt = Attempt::start(scope, longest.unwrap_or(Duration::MAX));
        let mut spent = None;
        let mut malformed = 0;
        loop {
            let asked = self.ask_once(&mut attempt, scope, request, longest_turn);
            let mut failure = match asked.await {
                Ok(response) => return Ok(response.with_spent_before(spent)),
                Err(failure) => failure,
            };
            spent = Spent::sum(spent, failure.spent.take());
            if failure.kind != FailureKind::MalformedAnswer {
                return Err(failure.with_spent(spent));
            }
            malformed += 1;
            if malformed == MOST_MALFORMED {
                failure.message = format!("{MOST_MALFORMED} times in a row: {}", failure.message);
                failure.retryable = false;
                return Err(failure.with_spent(spent));
            }
            warn!(%failure, malformed, "a model's answer is malformed");
            attempt.goes_on();
        }
    }

    async fn ask_once(
        &self,
        attempt: &mut Attempt<'_>,
        scope: &StepScope,
        request: &CompletionRequest,
        longest_turn: Duration,
    ) -> Result<CompletionResponse, StepFailure> {
        let tenant = scope.tags.tenant.as_deref();
        let (name, provider, limiter) = self.provider(request.provider.as_deref(), tenant)?;
        let of_run = provider.of_run_dyn(scope.origin());
        let provider = of_run.as_deref().unwrap_or(provider);
        self.notify(attempt, &HookEvent::PreLlmCall { request })
            .await?;
        let admission = match limiter {
            Some(limiter) => {
                let waiting = Waiting::begin(name);
                let turn = turn::await_turn(limiter, attempt, scope, request, longest_turn);
                let admission = turn.await?;
                drop(waiting);
                Some(admission)
            }
            None => None,
        };
        let sink = self.watcher(scope);
        let mut used = TokenUsage::default();
        let (start, mut first) = (Instant::now(), None);
        let come = tokens::Come {
            used: &mut used,
            first: &mut first,
        };
        let answer = tokens::answer(sink, scope, attempt, provider, request, come).await;
        if let Some(took) = first.map(|first: Instant| first.duration_since(start)) {
            measured::first_chunk(self.agent_of(scope), request, name, took);
            Span::current().record("gen_ai.response.time_to_first_chunk", took.as_secs_f64());
        }
        if let Some(admission) = admission {
            match &answer {
                Ok(response) => admission.answered(&response.usage),
                Err(failure) => admission.failed(failure.kind, failure.retry_after),
            }
        }
        let mut response =
            answer.map_err(|failure| failure.with_spent(self.spent(name, request, used)))?;
        if response.cost_usd.is_none() {
            response.cost_usd = self.inner.prices.cost(name, request, &response.usage);
        }
        if let StopReason::Other(reason) = &response.stop_reason {
            return Err(ended_oddly(name, reason).with_spent(response.spent()));
        }
        if answers_turn(scope) && self.inner.guards.look_at(GuardPoint::Output) {
            let guarded = self.inner.guards.guard_answer(&mut response);
            let guarded = attempt.rare_part(guarded).await;
            let guarded = guarded.map_err(|cut| cut.into_failure("the guards of the answer"));
            let guarded = guarded.and_then(|guarded| guarded);
            guarded.map_err(|failure| failure.with_spent(response.spent()))?;
        }
        let form = request.response_format.as_ref();
        response.mismatch = form.and_then(|form| answer_form::mismatch(form, &response));
        let event = HookEvent::PostLlmCall {
            response: &response,
        };
        let verdict = self.notify_after(attempt, &event).await;
        verdict.map_err(|failure| failure.with_spent(response.spent()))?;
        Ok(response)
    }

    /// Returns what a call used and cost that was not answered. `None` where the provider did not say.
    fn spent(
        &self,
        provider: &str,
        request: &CompletionRequest,
        usage: TokenUsage,
    ) -> Option<Box<Spent>> {
        let cost_usd = self.inner.prices.cost(provider, request, &usage);
        (usage.total() > 0).then(|| Box::new(Spent::new(usage, cost_usd)))
    }

    /// Returns the sink that watches this call. Calls of a context strategy are not watched, since they are no turn's
    /// answer, nor is an answer that guards have not looked at.
    fn watcher(&self, scope: &StepScope) -> Option<&dyn EventSink> {
        let sink = self.sink.as_deref()?;
        let is_shown = answers_turn(scope) && !self.inner.guards.look_at(GuardPoint::Output);
        (is_shown && sink.wants_tokens()).then_some(sink)
    }

    /// Returns the provider of this name, with what keeps its requests within their rate: the tenant's own, where there
    /// is one.
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

impl AskModel for Executor {
    fn ask_judge<'a>(
        &'a self,
        scope: &'a StepScope,
        request: &'a CompletionRequest,
        longest_turn: Duration,
    ) -> BoxFuture<'a, Result<CompletionResponse, StepFailure>> {
        Box::pin(self.ask(scope, request, longest_turn))
    }
}

/// Returns whether a call is for a turn's answer, and not one of a context strategy or of a judge.
fn answers_turn(scope: &StepScope) -> bool {
    scope.step.position == 0
}

/// Returns the failure of an answer whose end has no known meaning: it may lack anything.
fn ended_oddly(provider: &str, reason: &str) -> StepFailure {
    let shown: String = reason.chars().take(LONGEST_REASON).collect();
    StepFailure::new(
        FailureKind::MalformedAnswer,
        format!("the answer of {provider} ended for a reason that is not known: {shown:?}"),
    )
}

fn none_asked() -> StepFailure {
    StepFailure::new(FailureKind::Internal, "no model of the list was asked")
}

/// Returns whether a failure is of the step and not of a model.
const fn ends_the_call(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::Cancelled | FailureKind::Terminated | FailureKind::Guardrail
    )
}

fn record_answer(span: &Span, response: &CompletionResponse) {
    let usage = &response.usage;
    span.record("input_tokens", usage.input_tokens);
    span.record("output_tokens", usage.output_tokens);
    span.record("gen_ai.usage.input_tokens", usage.input_tokens);
    span.record("gen_ai.usage.output_tokens", usage.output_tokens);
    let parts = [
        (
            "gen_ai.usage.cache_read.input_tokens",
            usage.cache_read_tokens,
        ),
        (
            "gen_ai.usage.cache_write.input_tokens",
            usage.cache_creation_tokens,
        ),
        (
            "gen_ai.usage.reasoning.output_tokens",
            usage.reasoning_tokens,
        ),
    ];
    for (name, tokens) in parts {
        if let Some(tokens) = tokens {
            span.record(name, tokens);
        }
    }
    span.record("gen_ai.response.model", &response.model);
    if !response.id.is_empty() {
        span.record("gen_ai.response.id", &response.id);
    }
    let reason = response.stop_reason.as_str();
    span.record("gen_ai.response.finish_reasons", reason);
    if let Some(cost_usd) = response.cost_usd.and_then(|cost| cost.to_f64()) {
        span.record("neuron.cost_usd", cost_usd);
    }
}

/// Returns a temperature as it was written: what it is wider by is noise.
fn rounded(temperature: f32) -> f64 {
    (f64::from(temperature) * 1e4).round() / 1e4
}
