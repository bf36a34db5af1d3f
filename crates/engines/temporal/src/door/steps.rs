//! Steps as activities: what is scheduled, and its result.

use std::{future::Future, rc::Rc, time::Duration};

use neuron_flow::{StepLife, StepTerms, cancelled_between, look_again};
use neuron_types::{
    ActivityOptions, CompletionRequest, CompletionResponse, Effect, FailureKind, Needed, Outcome,
    RunId, Step, StepFailure, ToolEffects, json_bytes,
};
use temporalio_common::error::ActivityExecutionError;
use temporalio_sdk::{TimerOptions, TimerResult, WorkflowCancellationToken, WorkflowContext};

use crate::{
    activities::agent_activities::AgentActivities,
    conversation::{delta_encoder::aside, known_results::NAMED_BESIDE},
    door::place::Place,
    state::{
        agent_host::{AgentHost, time_of},
        run_view::RunView,
    },
    wire::{
        activity_inputs::{Delta, EffectStep, ModelStep, Need, Terms},
        activity_options,
        failure::step_failure,
        heartbeat_timeouts::HeartbeatTimeouts,
        payload_limits::{self, LARGEST_ANSWER, MARKER},
    },
};

/// The longest timer that the server accepts.
pub(crate) const LONGEST_TIMER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Schedules the steps of one run. Cheap to clone.
pub(crate) struct Steps<W> {
    pub(crate) ctx: WorkflowContext<AgentHost<W>>,
    agent: Rc<str>,
}

impl<W> Clone for Steps<W> {
    fn clone(&self) -> Self {
        Self {
            ctx: self.ctx.clone(),
            agent: Rc::clone(&self.agent),
        }
    }
}

impl<W> Steps<W> {
    /// Returns the steps of a run of this agent.
    pub(crate) fn new(ctx: WorkflowContext<AgentHost<W>>, agent: &str) -> Self {
        Self {
            ctx,
            agent: agent.into(),
        }
    }

    /// Returns the agent's name.
    pub(crate) fn agent(&self) -> &str {
        &self.agent
    }

    pub(crate) fn view<T>(&self, change: impl FnOnce(&mut RunView) -> T) -> T {
        self.ctx.state_mut(|host| change(&mut host.view))
    }

    /// Counts the bytes that are added to the history.
    pub(crate) fn count(&self, payload: &impl serde::Serialize) -> usize {
        // What cannot be written as JSON fails where it is written.
        let bytes = json_bytes(payload).unwrap_or_default();
        self.view(|view| view.fill.add(bytes));
        bytes
    }

    /// Returns the heartbeat timeouts of steps whose agent sets none.
    fn heartbeats(&self) -> HeartbeatTimeouts {
        self.ctx.state(|host| host.hosting.segments.heartbeats)
    }

    /// Returns the terms of the step, with what the hooks have not been notified of yet.
    fn terms(&self, options: &ActivityOptions) -> Terms {
        let events = self.view(RunView::take_unobserved);
        Terms::new(&self.agent, options, events)
    }

    /// Makes a step. It is scheduled at the first poll. A model call that is aside is not part of the conversation.
    pub(crate) async fn make(
        self,
        step: Step,
        is_aside: bool,
        place: Place,
        token: WorkflowCancellationToken,
    ) -> Result<Outcome, StepFailure> {
        let Step { effect, options } = step;
        match effect {
            Effect::Model(request) => {
                let response = self.model(request, options, is_aside, place, token);
                response.await.map(Outcome::Model)
            }
            Effect::Summary(request) => {
                let response = self.model(request, options, true, place, token);
                response.await.map(Outcome::Summary)
            }
            Effect::Agent(child) => self.start_other(*child, token).await,
            Effect::Signal(signal) => self.signal_other(*signal, token).await,
            effect => self.perform(effect, options, place, token).await,
        }
    }

    /// Makes a step that calls no model.
    async fn perform(
        self,
        effect: Effect,
        options: ActivityOptions,
        place: Place,
        token: WorkflowCancellationToken,
    ) -> Result<Outcome, StepFailure> {
        payload_limits::check_effect(&effect, &options.bounds)?;
        let is_tool = matches!(effect, Effect::Tool(_));
        let mut step = EffectStep {
            terms: self.terms(&options),
            effect,
            named_from: self.view(|view| view.named_from).filter(|_| is_tool),
        };
        let answer = if place.is_beside() {
            let activity = activity_options::local(&options, &summary(&step.effect), &token);
            let performed =
                self.ctx
                    .execute_local_activity(AgentActivities::perform, step.clone(), activity);
            let answer = performed.await;
            let answer = answer.map_err(|error| step_failure(&error, options.effects));
            let bytes = answer.as_ref().map_or(0, |outcome| self.count(outcome));
            self.was_made_beside(bytes);
            match answer {
                Ok(outcome) => Ok(outcome),
                Err(failure) => {
                    place.leave();
                    step.terms = self
                        .after_attempt(step.terms, &options, failure, &token)
                        .await?;
                    self.perform_activity(step, &options, &token).await
                }
            }
        } else {
            self.perform_activity(step, &options, &token).await
        };
        let outcome = answer?;
        if let Outcome::Tool(output) = &outcome {
            self.view(|view| view.results.note(options.step, &output.content));
        }
        Ok(outcome)
    }

    async fn perform_activity(
        &self,
        step: EffectStep,
        options: &ActivityOptions,
        token: &WorkflowCancellationToken,
    ) -> Result<Outcome, StepFailure> {
        let need = Need::new(&self.agent, options, step.effect.needs());
        let outcome = self
            .where_it_can_be(&need, options, token, || {
                self.count(&step);
                let (summary, heartbeats) = (summary(&step.effect), self.heartbeats());
                let activity = activity_options::normal(options, &summary, heartbeats, token);
                let performed =
                    self.ctx
                        .execute_activity(AgentActivities::perform, step.clone(), activity);
                async move {
                    let answer = performed.await;
                    self.was_answered();
                    answer
                }
            })
            .await?;
        self.count(&outcome);
        Ok(outcome)
    }

    /// Calls the model: with what is new in the conversation, or aside from it. The call is scheduled at the first
    /// poll, after the parts that are too large for one input.
    pub(crate) async fn model(
        self,
        request: CompletionRequest,
        options: ActivityOptions,
        is_aside: bool,
        place: Place,
        token: WorkflowCancellationToken,
    ) -> Result<Box<CompletionResponse>, StepFailure> {
        let deltas = if is_aside {
            aside(&request).map(|delta| vec![delta])
        } else {
            self.view(|view| {
                view.named_from = place.is_beside().then_some(NAMED_BESIDE);
                view.state(&request)
            })
        };
        let mut deltas = deltas.map_err(|error| unwritable(&error))?;
        let Some(last) = deltas.pop() else {
            return Err(StepFailure::new(
                FailureKind::Internal,
                "a request without anything to say",
            ));
        };
        if !deltas.is_empty() {
            place.leave();
        }
        for delta in deltas {
            self.part(delta, &request, &options, &token).await?;
        }
        let step = ModelStep {
            terms: self.terms(&options),
            delta: last,
        };
        let options = activity_options::with_turns(options, request.models().count());
        let response = if place.is_beside() {
            self.model_beside(step, &request, &options, &place, &token)
                .await?
        } else {
            self.model_activity(step, &request, &options, &token)
                .await?
        };
        self.count(&response);
        if !is_aside {
            self.view(|view| view.encoder.answer(&response.message))
                .map_err(|error| unwritable(&error))?;
        }
        Ok(Box::new(response))
    }

    async fn model_activity(
        &self,
        step: ModelStep,
        request: &CompletionRequest,
        options: &ActivityOptions,
        token: &WorkflowCancellationToken,
    ) -> Result<CompletionResponse, StepFailure> {
        self.count_conversation(&step)?;
        let needed = Needed::Provider(request.provider.as_deref());
        let need = Need::new(&self.agent, options, needed);
        self.where_it_can_be(&need, options, token, || {
            let (model, heartbeats) = (&request.model, self.heartbeats());
            let activity = activity_options::normal(options, model, heartbeats, token);
            let called = self
                .ctx
                .execute_activity(AgentActivities::model, step.clone(), activity);
            if !step.delta.aside {
                self.view(|view| view.encoder.stated());
            }
            async move {
                let response = called.await;
                self.was_answered();
                response
            }
        })
        .await
    }

    /// Makes a step by an activity. If the worker lacks what the step needs, nothing was done: the run waits for a
    /// worker that has it, shows that in its status, and makes the step again. That does not count as an attempt.
    async fn where_it_can_be<T, F>(
        &self,
        need: &Need,
        options: &ActivityOptions,
        token: &WorkflowCancellationToken,
        schedule: impl Fn() -> F,
    ) -> Result<T, StepFailure>
    where
        F: Future<Output = Result<T, ActivityExecutionError>>,
    {
        let mut looks = 0;
        loop {
            let answer = schedule().await;
            let failure = match answer {
                Ok(output) => return Ok(output),
                Err(error) => step_failure(&error, options.effects),
            };
            if failure.kind != FailureKind::NoWorker || token.is_cancelled() {
                return Err(failure);
            }
            self.block(&failure);
            // The worker that was found lacks it after all.
            if looks > 0 && self.is_cancelled_during(look_again(looks), token).await {
                return Err(cancelled_between());
            }
            looks += 1;
            self.count(need);
            let activity = activity_options::seek(options, token);
            let found = self
                .ctx
                .execute_activity(AgentActivities::seek, need.clone(), activity);
            found
                .await
                .map_err(|error| step_failure(&error, ToolEffects::ReadOnly))?;
        }
    }

    /// Shows why the run is blocked.
    pub(crate) fn block(&self, why: &StepFailure) {
        let now = time_of(&self.ctx);
        let details = self.view(|view| {
            view.block(why.message.clone(), now);
            view.details()
        });
        self.ctx.set_current_details(details);
    }

    /// Makes one attempt in the worker that has the run, and further attempts by an activity.
    async fn model_beside(
        &self,
        mut step: ModelStep,
        request: &CompletionRequest,
        options: &ActivityOptions,
        place: &Place,
        token: &WorkflowCancellationToken,
    ) -> Result<CompletionResponse, StepFailure> {
        let is_aside = step.delta.aside;
        let input = match is_aside {
            // What is not part of the conversation is in no history.
            true => 0,
            false => json_bytes(&step).map_err(|error| unwritable(&error))?,
        };
        if self.has_room_beside(LARGEST_ANSWER.saturating_add(input)) {
            let mut activity = activity_options::local(options, &request.model, token);
            // The history is the transcript.
            activity.include_arguments_in_marker = !is_aside;
            let called = self.ctx.execute_local_activity(
                AgentActivities::model_beside,
                step.clone(),
                activity,
            );
            if !is_aside {
                self.view(|view| view.encoder.stated());
            }
            let answer = called.await;
            let answer = answer.map_err(|error| step_failure(&error, options.effects));
            let output = match &answer {
                Ok(Some(response)) => json_bytes(response).unwrap_or_default(),
                _ => 0,
            };
            self.view(|view| view.fill.add(input));
            self.was_made_beside(input.saturating_add(output));
            match answer {
                Ok(Some(response)) => return Ok(response),
                // The hooks were notified, and the model was not called.
                Ok(None) => step.terms.events.clear(),
                Err(failure) => {
                    step.terms = self
                        .after_attempt(step.terms, options, failure, token)
                        .await?;
                }
            }
        }
        place.leave();
        self.model_activity(step, request, options, token).await
    }

    /// Passes to the model activities a part of what is too large for one input.
    async fn part(
        &self,
        delta: Delta,
        request: &CompletionRequest,
        options: &ActivityOptions,
        token: &WorkflowCancellationToken,
    ) -> Result<(), StepFailure> {
        let step = ModelStep {
            terms: Terms::new(&self.agent, options, Vec::new()),
            delta,
        };
        self.count_conversation(&step)?;
        let needed = Needed::Provider(request.provider.as_deref());
        let need = Need::new(&self.agent, options, needed);
        self.where_it_can_be(&need, options, token, || {
            let (model, heartbeats) = (&request.model, self.heartbeats());
            let activity = activity_options::normal(options, model, heartbeats, token);
            self.ctx
                .execute_activity(AgentActivities::part, step.clone(), activity)
        })
        .await
    }

    /// Counts what is stated of the conversation, if it can be stated.
    fn count_conversation(&self, step: &ModelStep) -> Result<(), StepFailure> {
        let bytes = self.count(step);
        payload_limits::check_conversation(bytes).inspect_err(|_| {
            self.view(|view| {
                view.encoder.forget();
                view.put_back_unobserved(step.terms.events.clone());
            });
        })
    }

    /// Returns whether so many bytes may be written in addition to what is to be written already.
    pub(crate) fn has_room_beside(&self, bytes: usize) -> bool {
        let written = self.ctx.state(|host| host.view.local_bytes);
        payload_limits::fit_together(bytes, written)
    }

    /// Records that an attempt was made beside the run, whose marker carries so many bytes.
    pub(crate) fn was_made_beside(&self, bytes: usize) {
        self.view(|view| {
            view.fill.add_beside();
            view.local_bytes += bytes + MARKER;
        });
    }

    /// Records that the server answered, so it has what was written beside the run before.
    pub(crate) fn was_answered(&self) {
        self.view(|view| view.local_bytes = 0);
    }

    /// Waits before a step is repeated whose only attempt beside the run failed, if it is repeated. Returns the terms
    /// for that.
    pub(crate) async fn after_attempt(
        &self,
        terms: Terms,
        options: &ActivityOptions,
        failure: StepFailure,
        token: &WorkflowCancellationToken,
    ) -> Result<Terms, StepFailure> {
        if failure.kind == FailureKind::NoWorker && !token.is_cancelled() {
            // Nothing was done: the next attempt is the first.
            return Ok(terms);
        }
        // Every run that has begun has a valid id.
        let Ok(run_id) = RunId::new(self.ctx.workflow_id()) else {
            return Err(failure);
        };
        if token.is_cancelled() {
            return Err(failure);
        }
        let mut life = StepLife::default();
        let step = StepTerms::of(&run_id, options);
        let again = life.failed(&step, failure, 1, time_of(&self.ctx))?;
        if !self.ctx.is_replaying() {
            let sink = self.ctx.state(|host| host.hosting.sink.clone());
            sink.retry(&again.notice);
        }
        if self.is_cancelled_during(again.notice.delay, token).await {
            return Err(life.ends_with(cancelled_between()));
        }
        Ok(terms.made_beside(life))
    }

    /// Waits, and returns whether the step was cancelled meanwhile. A delay of zero costs no timer.
    async fn is_cancelled_during(
        &self,
        delay: Duration,
        token: &WorkflowCancellationToken,
    ) -> bool {
        if delay.is_zero() {
            return false;
        }
        let timer = TimerOptions::builder(delay.min(LONGEST_TIMER))
            .cancellation_token(token.clone())
            .build();
        if self.ctx.timer(timer).await == TimerResult::Cancelled {
            return true;
        }
        self.was_answered();
        false
    }
}

/// Returns the summary that a server shows of the effect.
fn summary(effect: &Effect) -> String {
    match effect {
        Effect::Tool(call) => call.name.clone(),
        other => format!("{} {}", other.kind().as_str(), other.name()),
    }
}

fn unwritable(error: &serde_json::Error) -> StepFailure {
    StepFailure::new(
        FailureKind::Internal,
        format!("a message cannot be written as JSON: {error}"),
    )
}
