//! Runs that a workflow starts: they run beside the workflow, and at the same time.

use std::time::Duration;

use neuron_types::{
    ActivityOptions, AgentSpec, ChildRequest, DurableContext, DurableError, Effect, End,
    FailureKind, Handle, LimitOverrides, Message, Observed, Outcome, Overrides, Parent, RunEvent,
    RunId, RunRequest, RunSignal, Signal, Started, Step, StepFailure, StepId, ToolEffects, signal,
};

use super::{agent_answer::AgentAnswer, door::Door, turn::Turn, workflow_error::WorkflowError};

/// The timeout of one attempt to start a run, or to send it a signal.
const STARTING: Duration = Duration::from_secs(30);

/// Returns the name by which workers know an agent of a workflow when its runs are started by name: `WORKFLOW/AGENT`.
#[must_use]
pub fn child_agent(workflow: &str, agent: &str) -> String {
    format!("{workflow}/{agent}")
}

/// A run that a workflow has started. Made by [`Door::start_agent`]; [`Door::join`] waits for its end.
///
/// If it is dropped, the run continues, and is cancelled when the workflow ends.
#[derive(Debug)]
#[must_use = "the run is cancelled when the workflow ends: join it"]
pub struct ChildRun {
    run: RunId,
    agent: String,
}

impl ChildRun {
    /// Returns its id: that of the workflow's run, with the number of the child.
    #[must_use]
    pub const fn run_id(&self) -> &RunId {
        &self.run
    }

    /// Returns its agent's name in the workflow.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.agent
    }
}

impl<D: DurableContext> Door<D> {
    /// Starts a run of one of the workflow's agents, and returns at once. The run continues at the same time as the
    /// workflow and as other such runs, whatever happens to the workflow's process. It may do what the agent's
    /// definition allows, as the workflow's run has recorded that definition.
    ///
    /// Its id is that of the workflow's run and its number: `nightly.0-1`, `nightly.0-2`. A replay starts no run twice.
    /// For a run that cannot be started, the [answer](AgentAnswer) has the reason. Runs that are open when the workflow
    /// ends, fails or is cancelled are cancelled.
    ///
    /// # Errors
    ///
    /// [`WorkflowError::UnknownAgent`]; [`WorkflowError::NotStarted`] if the run is so far below the first one that it
    /// may not start any ([`max_depth`](AgentSpec::max_depth)), or has as many open as it may
    /// ([`max_children`](AgentSpec::max_children)); [`WorkflowError::HistoryFull`].
    pub fn start_agent(
        &self,
        agent: &str,
        prompt: impl Into<String>,
    ) -> Result<ChildRun, WorkflowError> {
        let (_, member) = self.member(agent)?;
        if self.workflow.max_depth == 0 {
            return Err(not_started(
                agent,
                "a run so far below the first one starts no other".to_owned(),
            ));
        }
        let most = self.workflow.max_children;
        if self.children().open() >= most {
            let reason = format!("as many runs are open as may be at once ({most})");
            return Err(not_started(agent, reason));
        }
        if self.engine_door().must_continue_as_new() {
            return Err(WorkflowError::HistoryFull);
        }
        let step = StepId::new(0, self.children().started().saturating_add(1));
        let run = self.run_id().child(step);
        let request = Box::new(self.request_of(member, &run, prompt.into()));
        self.children().add(run.clone(), agent);
        let turn = self.turns().status.turn;
        self.record(RunEvent::ChildStarted {
            turn,
            // No model requested this call.
            call_id: String::new(),
            run_id: run.clone(),
            agent: request.agent.name().to_owned(),
            background: true,
        });
        let effect = Effect::Agent(Box::new(ChildRequest {
            run: run.clone(),
            request,
        }));
        let handle = self.engine_door().start(self.to_another(effect, step));
        self.children().is_starting(handle, run.clone());
        let agent = agent.to_owned();
        Ok(ChildRun { run, agent })
    }

    /// Waits for the end of a run that the workflow started, and returns its result. If the run failed, was cancelled
    /// or met a limit, the answer has that reason.
    ///
    /// # Errors
    ///
    /// [`WorkflowError::NotItsTurn`] while one of the agents that take turns is answering, or other runs are waited
    /// for; or the error that keeps the door from continuing: the cancelling of the workflow's run above all.
    pub async fn join(&self, child: ChildRun) -> Result<AgentAnswer, WorkflowError> {
        loop {
            if let Some(answer) = self.children().take(&child.run) {
                return Ok(answer);
            }
            if !self.children().knows(&child.run) {
                let reason = format!("{} is no run that this one started", child.run);
                return Err(not_started(&child.agent, reason));
            }
            self.come_upon_child(&child.agent).await?;
        }
    }

    /// Starts a run for each of these agents and prompts, and waits for all of them. The answers come in the order of the
    /// agents. They work at the same time, as many at once as the workflow [may](AgentSpec::max_children) have open; an
    /// agent that is named twice has two runs.
    ///
    /// # Errors
    ///
    /// Those of [`start_agent`](Self::start_agent) and [`join`](Self::join). Nothing is started if one of the agents is
    /// unknown.
    pub async fn all<A: Into<String>, P: Into<String>>(
        &self,
        asked: impl IntoIterator<Item = (A, P)>,
    ) -> Result<Vec<AgentAnswer>, WorkflowError> {
        let asked = asked.into_iter();
        let asked: Vec<(String, String)> = asked.map(|(a, p)| (a.into(), p.into())).collect();
        for (agent, _) in &asked {
            self.member(agent)?;
        }
        let mut started = Vec::new();
        for (agent, prompt) in asked {
            while self.is_full() {
                self.come_upon_child(&agent).await?;
            }
            started.push(self.start_agent(&agent, prompt)?);
        }
        let mut answers = Vec::new();
        for child in started {
            answers.push(self.join(child).await?);
        }
        Ok(answers)
    }

    /// Returns whether another run has to end before one more may be started.
    fn is_full(&self) -> bool {
        let open = self.children().open();
        open > 0 && open >= self.workflow.max_children
    }

    /// Waits until a run has started, could not be started, or has ended.
    async fn come_upon_child(&self, agent: &str) -> Result<(), WorkflowError> {
        let _turn = Turn::take(self).ok_or_else(|| WorkflowError::NotItsTurn {
            agent: agent.to_owned(),
        })?;
        let starting = self.children().starting();
        let door = self.engine_door();
        match door.next(&starting, &[signal::CHILD]).await? {
            Observed::Ended(handle, End::Effect(result)) => self.start_ended(handle, result).await,
            Observed::Signal(signal) => {
                if !self.takes_end(&signal) {
                    self.ignore(signal);
                }
                Ok(())
            }
            other => Err(other.unexpected().into()),
        }
    }

    async fn start_ended(
        &self,
        handle: Handle,
        result: Result<Outcome, StepFailure>,
    ) -> Result<(), WorkflowError> {
        let Some(run) = self.children().landed(handle) else {
            let text = "the door returned the end of a step that is not in flight";
            return Err(DurableError::engine(text).into());
        };
        let failure = match result {
            Ok(Outcome::Agent) => return Ok(()),
            Ok(other) => return Err(other.unexpected().into()),
            Err(failure) => failure,
        };
        match failure.kind {
            // A hook ended the run.
            FailureKind::Terminated | FailureKind::Guardrail => {
                return Err(DurableError::from(failure).into());
            }
            // If the workflow's run itself is cancelled, this returns that error.
            FailureKind::Cancelled => drop(self.engine_door().poll(&[]).await?),
            _ => {}
        }
        let ended = self.children().not_started(run, &failure);
        if let Some(event) = ended {
            self.record(event);
        }
        Ok(())
    }

    /// Drops an end that belongs to no open run.
    fn ignore(&self, signal: Signal) {
        let reason = "it is not of an open run that this one started".to_owned();
        let name = signal.name;
        self.record(RunEvent::SignalIgnored { name, reason });
    }

    /// Ends the runs that this one started and that have not ended: nothing waits for their results.
    ///
    /// # Errors
    ///
    /// The error that keeps the door from doing this.
    pub(crate) async fn cancel_children(&self) -> Result<(), DurableError> {
        let door = self.engine_door();
        let mut owed = self.children().starting();
        owed.retain(|handle| door.leave(*handle));
        self.see_ended(owed).await?;
        let signals = (1..).zip(self.children().open_runs()).map(|(number, run)| {
            let cancel = RunSignal::cancel(run, "the run that started it has ended");
            let step = StepId::new(0, StepId::OWN_CALLS.saturating_add(number));
            door.start(self.to_another(Effect::Signal(Box::new(cancel)), step))
        });
        let signals = signals.collect();
        // A run that is gone has ended: the result of its signal makes no difference.
        self.see_ended(signals).await
    }

    /// Waits until all of these have ended, however they end.
    async fn see_ended(&self, mut handles: Vec<Handle>) -> Result<(), DurableError> {
        while !handles.is_empty() {
            match self.engine_door().next(&handles, &[]).await? {
                Observed::Ended(ended, End::Effect(_)) => handles.retain(|handle| *handle != ended),
                other => return Err(other.unexpected()),
            }
        }
        Ok(())
    }

    fn request_of(&self, member: &AgentSpec, run: &RunId, prompt: String) -> RunRequest {
        let status = self.turns().status.clone();
        let own = self.run_id().clone();
        let root = self.parent.as_ref().map(|parent| &parent.root);
        let parent = Parent {
            root: root.unwrap_or(&own).clone(),
            key: self.children().key_of(run, || self.uuid()),
            levels: self.workflow.max_depth.saturating_sub(1),
            // The child's worker may have another definition by now.
            bounds: member.bounds_of_children(),
            signed: status.signed,
            // A workflow has no budget of its own, and answers no request of a child while it does something else.
            lease: None,
            run: own,
        };
        let agent = child_agent(&self.workflow.name, &member.name);
        RunRequest {
            tags: status.tags(),
            overrides: Overrides {
                limits: limits_of(member),
                ..Overrides::default()
            },
            parent: Some(Box::new(parent)),
            trace: Some(status.spans().of_child(run)),
            ..RunRequest::new(agent, Message::user(prompt))
        }
    }

    /// Returns what starts another run or sends it a signal: if it is repeated, it takes effect once.
    pub(crate) fn to_another(&self, effect: Effect, step: StepId) -> Started {
        let status = self.turns().status.clone();
        let options = ActivityOptions {
            step,
            effects: ToolEffects::Idempotent,
            start_to_close_timeout: STARTING,
            retry_policy: self.workflow.step_retry_policy(),
            ..ActivityOptions::of_beginning(&status.tags())
        };
        Step::new(effect, options).into()
    }
}

fn not_started(agent: &str, reason: String) -> WorkflowError {
    WorkflowError::NotStarted {
        agent: agent.to_owned(),
        reason,
    }
}

/// Returns the limits of an agent's run, as the workflow's run has recorded them.
fn limits_of(member: &AgentSpec) -> LimitOverrides {
    let limits = &member.limits;
    LimitOverrides {
        turns: limits.turns,
        tool_calls: limits.tool_calls,
        tokens: limits.tokens,
        cost_usd: limits.cost_usd,
        duration: limits.duration,
        deadline: limits.deadline,
    }
}
