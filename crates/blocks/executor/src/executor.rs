//! The one place where effects happen: model calls and tool calls, with the hooks around them.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use neuron_tool::ToolRegistry;
use neuron_types::{
    AgentSpec, Asking, DynProvider, FailureKind, HookEvent, Needed, PermissionDecision, Place,
    RunNotice, RunScope, StepFailure, ToolCall, ToolContext, ToolDefinition, ToolEffects,
    ToolOutput, VerifyDecision, VerifyOutcome, VerifyRequest,
};
use serde_json::Value;
use tracing::{Instrument, Span, field::Empty, warn};

use self::{
    approved::Approvers,
    attempt::{Attempt, Cut, no_result},
    deferred::Deferred,
    grants::Grants,
    guarded_call::GuardedCall,
    guards::Guards,
    hooks::{Hooks, ToolVerdict},
    judge::{Judge, denied},
    reporter::Reporter,
    step_span::step_span,
    tool_result::{bound, settle, unknown_outcome},
};
use crate::{
    EventSink, Prices, RateLimiter, Sessions, StepScope,
    watch::{
        attempt_trace::AttemptTrace,
        measured, notices,
        sampling::{is_measuring, is_recording},
    },
};

mod answer_form;
mod approved;
mod attempt;
mod builder;
mod deferred;
mod definition;
mod failed_models;
mod find_tools;
mod fitted;
mod grants;
mod guarded_call;
mod guards;
mod hooks;
mod judge;
mod judges;
mod model_call;
mod of_step;
mod outcome;
mod perform;
mod place;
mod preview;
mod reporter;
mod step_span;
mod tokens;
mod tool_result;
mod turn;
mod verifiers;
mod verify;

pub use attempt::panic_text;
pub use builder::ExecutorBuilder;

/// Makes model calls and tool calls, one attempt a call. The same on every engine; cheap to clone.
///
/// Each call runs under its scope's timeout and ends with its cancellation. Nothing here retries: the door does. A call
/// copies the conversation only where models of several providers answered in it; its tokens are counted where they are
/// [limited](ExecutorBuilder::limiter).
///
/// # The result of a tool call
///
/// | The tool | The call |
/// | --- | --- |
/// | answers | its output, cut to the result bound |
/// | does not exist, rejects its arguments, fails, is denied or panics | an output with `is_error` that the model reads |
/// | reports that its input can never be right | fails as `tool_input`, which ends the run |
/// | is unavailable | fails as `unavailable` |
/// | has no result in time | fails as `timeout`; a write as `outcome_unknown` |
/// | is lost before it answers | fails as `network`; a write as `outcome_unknown` |
/// | is [deferred](neuron_types::ToolDefinition::deferred) and answers | its output is [pending](ToolOutput::pending), with the hash of the token that it was handed |
/// | is cancelled | fails as `cancelled` |
/// | is one that the [agent's](Executor::granting) rules ask about, and brings along no [decision](neuron_types::Approval) that counts | fails as `not_approved`: it is not called |
/// | is not [granted](Executor::granting) to the agent any more, or is denied | an output with `is_error`: it is not called |
/// | is [`find_tools`](neuron_types::FIND_TOOLS) and none that is registered | what was [found](neuron_types::FindTools::answer) among the tools of the agent |
/// | is granted and not here | fails as `no_worker`: it is not called |
///
/// Arguments are checked against the tool's schema before the tool is called, unless the tool declares that it checks
/// them itself.
#[derive(Clone)]
pub struct Executor {
    inner: Arc<Inner>,
    /// What the executor may do; all that it can where `None`.
    grants: Option<Arc<Grants>>,
    /// Those of the agents that its runs may be handed over to.
    others: Option<Arc<dyn OtherAgents>>,
    /// The definitions that its worker has.
    definitions: Option<Arc<BTreeMap<String, AgentSpec>>>,
    /// Receives answers while they come, and how far tool calls are.
    sink: Option<Arc<dyn EventSink>>,
    /// Where its runs are.
    place: Option<Arc<Place>>,
    /// Where sessions are kept.
    sessions: Option<Arc<dyn Sessions>>,
    /// The directory that the run worked in before.
    moved_from: Option<Arc<Path>>,
    /// The verifier of the workflow whose step is made, for an agent that knows no approvers.
    lent_verifier: Option<Arc<dyn VerifyDecision>>,
}

/// The executors of agents, by their names: those that make the steps of a run which was [handed
/// over](Executor::beside) to them.
pub trait OtherAgents: Send + Sync {
    /// Returns the executor of this agent, if it has one of its own.
    fn executor(&self, agent: &str) -> Option<&Executor>;
}

impl OtherAgents for BTreeMap<String, Executor> {
    fn executor(&self, agent: &str) -> Option<&Executor> {
        self.get(agent)
    }
}

struct Inner {
    providers: BTreeMap<String, Arc<dyn DynProvider>>,
    /// By the provider's name and the tenant.
    tenant_providers: BTreeMap<String, BTreeMap<String, Arc<dyn DynProvider>>>,
    /// By the provider's name.
    limiters: BTreeMap<String, RateLimiter>,
    /// By the provider's name and the tenant, for its own provider.
    tenant_limiters: BTreeMap<String, BTreeMap<String, RateLimiter>>,
    tools: ToolRegistry,
    /// What is not among the tools since it cannot be used, each a sentence.
    left_out: Vec<String>,
    hooks: Hooks,
    guards: Guards,
    prices: Prices,
    cwd: PathBuf,
    environment: BTreeMap<String, String>,
    max_result_bytes: usize,
    /// By the tool's name, where it differs.
    max_result_bytes_of: BTreeMap<String, usize>,
    team: BTreeMap<String, Executor>,
    verifier: Option<Arc<dyn VerifyDecision>>,
    deferred: Deferred,
}

impl Executor {
    /// Makes this executor and later clones report to a sink how far tool calls are, and the answers of models while
    /// they come if the sink [wants tokens](EventSink::wants_tokens).
    ///
    /// The doors of this crate and the workers of both engines do this with their own sink.
    #[must_use]
    pub fn with_sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.sink = Some(sink);
        self
    }

    /// Sets where the runs of this executor and of later clones are, as the doors and workers of every engine do.
    /// Decisions are signed for one place: until it is known no signature can be verified.
    #[must_use]
    pub fn with_place(mut self, place: Place) -> Self {
        self.place = Some(Arc::new(place));
        self
    }

    /// Sets the sessions that this executor and later clones hand to runs that continue one. Without sessions such a
    /// run fails.
    ///
    /// The door of journaled runs sets those of its home, if none were set before.
    #[must_use]
    pub fn with_sessions(mut self, sessions: Arc<dyn Sessions>) -> Self {
        self.sessions = Some(sessions);
        self
    }

    /// Returns whether the executor has [sessions](Self::with_sessions).
    #[must_use]
    pub fn has_sessions(&self) -> bool {
        self.sessions.is_some()
    }

    /// Notes for this executor and later clones that the run was moved here on purpose from this directory: what was
    /// decided about calls there counts here. Without it a decision counts for its own directory only.
    #[must_use]
    pub fn moved_from(mut self, directory: &Path) -> Self {
        self.moved_from = Some(directory.into());
        self
    }

    /// Restricts this executor and later clones to what the worker's current definition of the agent allows, whatever
    /// definition a run carries. Calls of tools that the agent does not have, and calls that it denies, end with
    /// results that state this. So does a call of a tool that may change something here, and that the run takes for one
    /// that does not. No attempt takes longer than the agent allows.
    ///
    /// A call that the agent's rules ask about is made only if it brings along the decisions of those who are to be
    /// asked: the run's own rules may be older, or may come from a caller who is not to decide here. Else it fails as
    /// `not_approved`, and the run asks.
    ///
    /// The workers of both engines do this with the agents that they have.
    #[must_use]
    pub fn granting(mut self, agent: &AgentSpec) -> Self {
        self.grants = Some(Arc::new(Grants::of(agent)));
        self
    }

    /// As [`granting`](Self::granting), in runs that the agent's owner starts: they may [allow](neuron_types::Overrides::allow)
    /// calls whatever the agent lets callers set.
    #[must_use]
    pub fn granting_owner(mut self, agent: &AgentSpec) -> Self {
        self.grants = Some(Arc::new(Grants::of(agent).of_owner()));
        self
    }

    /// Checks whether the executor has what a step needs. `agent` is the scoped agent that the step belongs to, as in
    /// [`StepScope::agent`].
    ///
    /// # Errors
    ///
    /// A failure of kind [`FailureKind::NoWorker`] that names what is missing.
    pub fn check(&self, agent: Option<&str>, needed: Needed<'_>) -> Result<(), StepFailure> {
        let executor = self.of_step(agent)?;
        match needed {
            Needed::Provider(name) => executor.provider(name, None).map(drop),
            Needed::Tool(name) => executor.check_tool(name),
            Needed::Agent(name) => executor.check_agent(name),
            Needed::Executor => Ok(()),
        }
    }

    fn check_tool(&self, name: &str) -> Result<(), StepFailure> {
        let tools = &self.inner.tools;
        // A call of a tool that is not granted, as all are without grants, is rejected by a result and not by a worker
        // that lacks the tool.
        let is_granted = self.grants.as_ref().is_some_and(|grants| grants.has(name));
        if !is_granted || tools.get(name).is_some() {
            return Ok(());
        }
        let known = list(tools.names());
        let message = format!("the tool {name:?} is not here: this executor has {known}");
        Err(StepFailure::new(FailureKind::NoWorker, message))
    }

    /// Returns the executor that acts for an agent that takes turns in the runs of this workflow, where the agent has a
    /// run of its own.
    ///
    /// # Errors
    ///
    /// A failure of kind [`FailureKind::NoWorker`] if there is [no member](ExecutorBuilder::member) of this name.
    pub fn of_member(&self, agent: &str) -> Result<Self, StepFailure> {
        self.of_step(Some(agent))
    }

    /// Returns the tools' working directory.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.inner.cwd
    }

    /// Returns the registered tools.
    #[must_use]
    pub fn tools(&self) -> &ToolRegistry {
        &self.inner.tools
    }

    /// Calls one tool: one attempt.
    ///
    /// # Errors
    ///
    /// What the model cannot do anything about: see the table at [`Executor`]. And `terminated` if a hook ended the
    /// run.
    pub async fn call_tool(
        &self,
        scope: &StepScope,
        call: &ToolCall,
    ) -> Result<ToolOutput, StepFailure> {
        let executor = self.of_step(scope.agent.as_deref())?;
        let trace = AttemptTrace::of(scope);
        let span = step_span!(
            executor,
            scope,
            trace,
            "tool_execution",
            otel.name = format!("execute_tool {}", call.name),
            position = scope.step.position,
            tool_name = call.name,
            duration_ms = Empty,
            is_error = Empty,
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = call.name,
            gen_ai.tool.call.id = call.id,
            gen_ai.tool.type = "function",
            gen_ai.conversation.id = %scope.run_id,
            error.r#type = Empty,
        );
        let start = Instant::now();
        let result = executor
            .tool_attempt(&trace.inside(scope), call)
            .instrument(span.clone())
            .await;
        let elapsed = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        span.record("duration_ms", elapsed);
        let agent = executor.agent_of(scope);
        measured::tool_call(agent, scope, call, start.elapsed(), &result);
        match &result {
            Ok(output) => {
                span.record("is_error", output.is_error);
            }
            Err(failure) => record_failure(&span, failure),
        }
        result
    }

    /// Returns what a tool learns of the run, whatever it is asked in this step.
    fn context(&self, scope: &StepScope) -> ToolContext {
        ToolContext {
            cwd: self.inner.cwd.clone(),
            run_id: scope.run_id.to_string(),
            root: scope.root().to_string(),
            tags: scope.tags.clone(),
            trace: scope.trace.clone(),
            environment: self.inner.environment.clone(),
            // A child, so that a tool that cancels its token ends itself and not the run.
            cancellation_token: scope.cancellation.child_token(),
            ..ToolContext::default()
        }
    }

    async fn tool_attempt(
        &self,
        scope: &StepScope,
        call: &ToolCall,
    ) -> Result<ToolOutput, StepFailure> {
        let (tools, grants) = (&self.inner.tools, self.grants.as_ref());
        self.inner.guards.check(&scope.guards)?;
        let refusal = grants.and_then(|grants| grants.refusal(call, scope.effects));
        if let Some(refusal) = refusal {
            return Ok(refusal);
        }
        let judge = self.judge_of(scope, &call.name).allowing(&scope.allow);
        let judged = judge.judge(call).await;
        if let PermissionDecision::Deny(reason) = &judged {
            return Ok(ToolOutput::error(denied(reason)));
        }
        self.check_tool(&call.name)?;
        if tools.get(&call.name).is_none() && !self.finds_tools(&call.name) {
            return Ok(ToolOutput::unknown_tool(&call.name, tools.names()));
        }
        if let PermissionDecision::Ask(asking) = judged {
            Box::pin(self.check_approved(scope, call, judge.definition(), asking, false)).await?;
        }
        if !call.input.is_object() {
            return Ok(not_an_object(&call.input));
        }
        let longest = grants.map(|grants| grants.tool_timeout(&call.name));
        let attempt = Attempt::start(scope, longest.unwrap_or(Duration::MAX));
        let mut changed = match self.before_tool(&attempt, call).await? {
            ToolVerdict::Call(changed) => changed,
            ToolVerdict::Skip(reason) => {
                return Ok(ToolOutput::error(format!(
                    "the call was not made: {reason}"
                )));
            }
        };
        let input = changed.as_ref().unwrap_or(&call.input);
        let guarded = self.inner.guards.before_call(&attempt, call, input);
        match guarded.await? {
            GuardedCall::Made(None) => {}
            GuardedCall::Made(with) => changed = with,
            GuardedCall::Asked(Asking { reason, .. }) if changed.is_some() => {
                return Ok(ToolOutput::error(format!(
                    "not called: {reason}, and nobody was asked about what a hook made of it"
                )));
            }
            GuardedCall::Asked(asking) => {
                Box::pin(self.check_approved(scope, call, judge.definition(), asking, true))
                    .await?;
            }
            GuardedCall::Refused(refusal) => return Ok(*refusal),
        }
        let changed = changed.map(|input| ToolCall {
            input,
            ..call.clone()
        });
        if let Some(changed) = &changed
            && let Some(refusal) = Box::pin(judge.refused_change(call, changed)).await
        {
            return Ok(refusal);
        }
        let call = changed.as_ref().unwrap_or(call);

        let is_deferred = self.inner.deferred.has(&call.name);
        let context = ToolContext {
            step: scope.step,
            progress_reporter: Some(Arc::new(Reporter::new(self.sink.clone(), scope, call))),
            idempotency_key: scope.idempotency_key(),
            preview: call.preview.clone(),
            completion_token: is_deferred.then(verify::new_token),
            skills: scope.skills.clone(),
            resumed: call.resumed.clone(),
            ..self.context(scope)
        };
        let outcome = attempt
            .part_with_notice(&context.cancellation_token, self.make_call(call, &context))
            .await;
        let what = || format!("the tool {}", call.name);
        let mut output = match outcome {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => settle(error, scope.effects)?,
            Err(Cut::Panicked(text)) => ToolOutput::error(format!("{} panicked: {text}", what())),
            Err(Cut::Timeout(limit)) if scope.effects == ToolEffects::Write => {
                return Err(unknown_outcome(&no_result(&what(), limit)));
            }
            Err(cut) => return Err(cut.into_failure(&what())),
        };
        let own_bound = self.inner.max_result_bytes_of.get(&call.name);
        bound(
            &mut output,
            *own_bound.unwrap_or(&self.inner.max_result_bytes),
        );
        if let Some(token) = &context.completion_token
            && !output.is_error
            && output.pending.is_none()
        {
            output = self.inner.deferred.pending(&call.name, token, &output);
        }
        let guards = &self.inner.guards;
        let output = guards.after_call(&attempt, &call.name, output).await?;
        let event = HookEvent::PostToolExecution {
            tool_name: &call.name,
            output: &output,
        };
        self.notify_after(&attempt, &event).await?;
        Ok(output)
    }

    /// Returns what judges the calls of this tool at a step. What the caller allowed does not count.
    fn judge_of<'a>(&'a self, scope: &'a StepScope, tool: &str) -> Judge<'a> {
        let (tools, grants) = (&self.inner.tools, self.grants.as_deref());
        Judge::new(tool, grants, tools, &scope.bounds, &self.inner.cwd)
    }

    /// Checks that people approved a call that the worker's own rules ask about, or the bounds of the run, whatever
    /// asks for the step; `each_time` where a guard asks.
    async fn check_approved(
        &self,
        scope: &StepScope,
        call: &ToolCall,
        definition: Option<&ToolDefinition>,
        asking: Asking,
        each_time: bool,
    ) -> Result<(), StepFailure> {
        let verifier = self.verifier();
        let approvers = Approvers {
            verifier: verifier.as_deref(),
            place: self.place.as_deref(),
            scope,
            cwd: &self.inner.cwd,
            moved_from: self.moved_from.as_deref(),
            each_time,
        };
        approvers.check(call, definition, asking).await
    }

    /// Verifies whose a decision is before a run takes it up: the person whose decision the run would reject learns of
    /// it, and the decision uses up nothing. `agent` is [whose ticket](neuron_types::Ticket::agent) it is about.
    ///
    /// Returns `None` where this cannot be known here: decisions about the run are signed and this executor knows no
    /// approvers; it has no such agent; or several agents take turns and the ticket does not name one.
    #[must_use]
    pub fn judge_decision(
        &self,
        agent: Option<&str>,
        request: &VerifyRequest,
    ) -> Option<VerifyOutcome> {
        let executor = self.of_step(agent).ok()?;
        let (verifier, place) = (executor.own_verifier(), executor.place.as_deref());
        let verifier = verifier.or_else(|| executor.lent_verifier.clone());
        if verifier.is_none() && executor.any_verifier().is_some() {
            // One of the executor's agents knows approvers, and the decision may be one of theirs.
            let request = VerifyRequest {
                signed: true,
                ..request.clone()
            };
            return verify::judge(None, place, &request).ok();
        }
        verify::judge(verifier.as_deref(), place, request).ok()
    }

    /// Returns the definition as a run gets it from here: its decisions have to be signed where approvers are known, and its
    /// models cost what they cost here.
    #[must_use]
    pub fn as_given(&self, mut agent: AgentSpec) -> AgentSpec {
        agent.signed = self.knows_approvers();
        agent.rates = self.inner.prices.rates(agent.models());
        for member in agent.team.iter_mut().flatten() {
            member.rates = self.inner.prices.rates(member.models());
        }
        agent
    }

    /// Returns whether decisions are verified here: this executor, or one of its
    /// [members](crate::ExecutorBuilder::member), was built with a [verifier](crate::ExecutorBuilder::verifier) that
    /// knows approvers.
    #[must_use]
    pub fn knows_approvers(&self) -> bool {
        self.any_verifier().is_some()
    }

    /// Notifies the hooks of what happened in the run, where the events concern them and are no effects: its start and
    /// end, turns, compaction. Also emits traces and metrics, where this process [records](crate::record_traces) them.
    ///
    /// # Errors
    ///
    /// `terminated` where a hook ends the run.
    pub async fn observe(&self, run: &RunScope, notices: &[RunNotice]) -> Result<(), StepFailure> {
        for notice in notices {
            let agent = run.agent.as_deref().or_else(|| self.agent());
            notices::tell(run, agent, notice);
            let RunNotice { event, .. } = notice;
            self.inner.hooks.observe(&run.run_id, event).await?;
        }
        Ok(())
    }

    /// Returns whether anything is notified of events: a hook, or what [records traces](crate::record_traces) or
    /// [metrics](crate::record_metrics).
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.has_hooks() || is_recording() || is_measuring()
    }

    fn has_hooks(&self) -> bool {
        !self.inner.hooks.0.is_empty()
    }

    async fn before_tool(
        &self,
        attempt: &Attempt<'_>,
        call: &ToolCall,
    ) -> Result<ToolVerdict, StepFailure> {
        if !self.has_hooks() || call.hooked {
            return Ok(ToolVerdict::Call(None));
        }
        attempt
            .rare_part(self.inner.hooks.before_tool(&call.name, &call.input))
            .await
            .map_err(|cut| cut.into_failure("a hook before the tool call"))?
    }

    async fn notify(
        &self,
        attempt: &Attempt<'_>,
        event: &HookEvent<'_>,
    ) -> Result<(), StepFailure> {
        if !self.has_hooks() {
            return Ok(());
        }
        attempt
            .rare_part(self.inner.hooks.notify(event))
            .await
            .map_err(|cut| cut.into_failure("a hook"))?
    }

    /// As `notify`, after the effect: its result counts, however long a hook takes.
    async fn notify_after(
        &self,
        attempt: &Attempt<'_>,
        event: &HookEvent<'_>,
    ) -> Result<(), StepFailure> {
        if !self.has_hooks() {
            return Ok(());
        }
        match attempt.rare_part(self.inner.hooks.notify(event)).await {
            Ok(verdict) => verdict,
            Err(_) => {
                warn!("a hook was not done when the attempt was over and is ignored");
                Ok(())
            }
        }
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor")
            .field("providers", &self.inner.providers.keys())
            .field("hooks", &self.inner.hooks.0.len())
            .field("cwd", &self.inner.cwd)
            .finish_non_exhaustive()
    }
}

fn record_failure(span: &Span, failure: &StepFailure) {
    span.record("error.type", failure.kind.as_str());
}

fn not_an_object(input: &Value) -> ToolOutput {
    let found = match input {
        // A provider hands over arguments that are no JSON as the text that the model wrote.
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Err(error) => format!("are not valid JSON ({error})"),
            Ok(_) => "are a string".to_owned(),
        },
        Value::Null => "are missing".to_owned(),
        Value::Bool(_) => "are a boolean".to_owned(),
        Value::Number(_) => "are a number".to_owned(),
        Value::Array(_) => "are an array".to_owned(),
        Value::Object(_) => "are an object".to_owned(),
    };
    ToolOutput::error(format!(
        "the arguments {found}: call the tool again with a JSON object that fits its schema"
    ))
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
