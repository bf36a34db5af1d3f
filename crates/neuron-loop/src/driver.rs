//! The driver: takes the machine's actions through the door.

use std::{fmt, time::Duration};

use neuron_types::{
    ContextError, ContextStrategy, Decision, DurableContext, DurableError, FailureKind, Message,
    PermissionPolicy, RunEvent, RunInput, RunOutput, RunState, Stage, StepFailure, ToolCall,
    ToolOutput, UserMessage, signal,
};
use serde::de::DeserializeOwned;

use crate::{
    Action, AgentMachine, MachineError, Observation, Shortfall, StepIterator, summary::SummaryModel,
};

/// One run of an agent: a machine, the door that its actions go through, and a context strategy.
///
/// It owns no provider and no tools, only their definitions: what acts is behind the door. The same code
/// runs locally, as a Temporal workflow and as a Restate service; its futures are `Send` if the door's are.
pub struct AgentLoop<D, C> {
    door: D,
    strategy: C,
    policy: Box<dyn PermissionPolicy>,
    machine: AgentMachine,
    /// A step was made in this history, so that another history brings the run on.
    has_stepped: bool,
}

impl<D: fmt::Debug, C: fmt::Debug> fmt::Debug for AgentLoop<D, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentLoop")
            .field("door", &self.door)
            .field("strategy", &self.strategy)
            .field("machine", &self.machine)
            .finish_non_exhaustive()
    }
}

impl<D: DurableContext, C: ContextStrategy> AgentLoop<D, C> {
    /// A run at its start. Its permission policy is the agent's `approvals`.
    pub fn new(door: D, strategy: C, input: RunInput) -> Self {
        let machine = AgentMachine::new(input, door.now());
        Self::with_machine(door, strategy, machine)
    }

    /// A run that goes on from a state, as another loop left it.
    ///
    /// # Errors
    ///
    /// [`MachineError::UnknownVersion`] if another version wrote the state.
    pub fn resume(door: D, strategy: C, state: RunState) -> Result<Self, MachineError> {
        Ok(Self::with_machine(
            door,
            strategy,
            AgentMachine::try_from(state)?,
        ))
    }

    fn with_machine(door: D, strategy: C, machine: AgentMachine) -> Self {
        let policy = Box::new(machine.agent().approvals.clone());
        Self {
            door,
            strategy,
            policy,
            machine,
            has_stepped: false,
        }
    }

    /// Sets the permission policy. Default is the agent's `approvals`. It is asked again on every replay,
    /// so it must be pure.
    #[must_use]
    pub fn with_policy(mut self, policy: impl PermissionPolicy + 'static) -> Self {
        self.policy = Box::new(policy);
        self
    }

    /// The run as it stands.
    pub fn machine(&self) -> &AgentMachine {
        &self.machine
    }

    pub(crate) fn machine_mut(&mut self) -> &mut AgentMachine {
        &mut self.machine
    }

    /// Runs the agent to its end. A run that failed, was cancelled or met a limit has an output too: its
    /// `exit_reason` says so.
    ///
    /// # Errors
    ///
    /// What keeps the run from going on here without ending it: [`DurableError::Suspended`],
    /// [`DurableError::ContinuedAsNew`], [`DurableError::NonDeterminism`], [`DurableError::Engine`].
    pub async fn run(&mut self) -> Result<RunOutput, DurableError> {
        while !matches!(self.advance().await?, Progress::Ended) {}
        Ok(self.output())
    }

    /// Runs the agent turn by turn, for callers that look at or change the run in between.
    pub fn run_step(&mut self) -> StepIterator<'_, D, C> {
        StepIterator::new(self)
    }

    pub(crate) fn output(&self) -> RunOutput {
        self.machine.output(self.door.run_id(), self.door.engine())
    }

    /// Takes one action, and says what it came to.
    pub(crate) async fn advance(&mut self) -> Result<Progress, DurableError> {
        self.tell();
        self.roll_over().await?;
        let action = self.machine.next();
        let observed = match &action {
            Action::TakeMessages => self.take_messages().await,
            Action::Compact { required } => self.compact(*required).await,
            Action::CallModel(options) => {
                match self
                    .door
                    .execute_llm_call(self.machine.request(), options)
                    .await
                {
                    Ok(response) => Ok(Observation::ModelAnswered(response)),
                    Err(DurableError::Step(failure)) => Ok(Observation::ModelFailed(failure)),
                    Err(error) => Err(error),
                }
            }
            Action::Authorize(calls) => {
                let decide = calls
                    .iter()
                    .map(|call| self.policy.check(&call.name, &call.input));
                Ok(Observation::Authorized(decide.collect()))
            }
            Action::CallTools { calls, options } => {
                let results = self.door.execute_tools(calls, options).await;
                results
                    .into_iter()
                    .map(step_result)
                    .collect::<Result<_, _>>()
                    .map(Observation::ToolsAnswered)
            }
            Action::Wait { until } => {
                let left = until.map(|at| (at - self.door.now()).to_std().unwrap_or_default());
                self.wait(left).await
            }
            Action::Done => return Ok(Progress::Ended),
        };
        let observation = match observed {
            Err(DurableError::Cancelled { reason }) => Observation::Cancelled { reason },
            other => other?,
        };
        let compacted = match &observation {
            Observation::Compacted {
                old_tokens,
                new_tokens,
                ..
            } => Some((*old_tokens, *new_tokens)),
            _ => None,
        };
        self.has_stepped |= matches!(
            action,
            Action::CallModel(_) | Action::CallTools { .. } | Action::Wait { .. }
        );
        self.feed(observation)?;
        if matches!(action, Action::Compact { .. }) {
            self.remind();
        }
        if matches!(action, Action::Wait { .. }) {
            self.take_further_decisions().await?;
        }
        self.tell();
        Ok(match (action, compacted) {
            (Action::CallTools { calls, .. }, _) => Progress::CalledTools(calls),
            (_, Some((old_tokens, new_tokens))) => Progress::Compacted {
                old_tokens,
                new_tokens,
            },
            _ => Progress::Other,
        })
    }

    /// Has the run go on in a fresh history if the door wants it to.
    async fn roll_over(&mut self) -> Result<(), DurableError> {
        let is_over = matches!(self.machine.state().stage, Stage::Ended(_));
        if is_over || !self.has_stepped || !self.door.should_continue_as_new() {
            return Ok(());
        }
        self.has_stepped = false;
        match self.door.continue_as_new(self.machine.state()).await {
            Err(DurableError::Step(failure)) => self.feed(Observation::OutOfHistory(failure))?,
            Err(DurableError::Cancelled { reason }) => {
                self.feed(Observation::Cancelled { reason })?;
            }
            other => return other,
        }
        self.tell();
        Ok(())
    }

    fn feed(&mut self, observation: Observation) -> Result<(), DurableError> {
        self.machine
            .feed(observation, self.door.now())
            .map_err(DurableError::engine)
    }

    /// Says to the model what the strategy reminds it of.
    fn remind(&mut self) {
        let calls_model = matches!(self.machine.state().stage, Stage::CallModel);
        if !calls_model || !self.machine.takes_reminders() {
            return;
        }
        let texts = self.strategy.remind(self.machine.state());
        let messages: Vec<Message> = texts.iter().map(|text| reminder(text)).collect();
        let estimate = self.strategy.token_estimate(&messages);
        self.machine.remind(messages, estimate);
    }

    fn tell(&mut self) {
        for event in self.machine.take_events() {
            self.door.emit(event);
        }
    }

    async fn take_messages(&self) -> Result<Observation, DurableError> {
        let mut messages = Vec::new();
        while let Some(message) = self
            .take_signal::<UserMessage>(signal::USER_MESSAGE, Some(Duration::ZERO))
            .await?
        {
            messages.push(message);
        }
        Ok(Observation::Messages(messages))
    }

    async fn wait(&self, timeout: Option<Duration>) -> Result<Observation, DurableError> {
        let decision = self
            .take_signal::<Decision>(signal::DECISION, timeout)
            .await?;
        Ok(decision.map_or(Observation::TicketsLapsed, Observation::Decided))
    }

    /// Takes the decisions that are already here, so that their calls run at the same time.
    async fn take_further_decisions(&mut self) -> Result<(), DurableError> {
        while self.machine.has_open_tickets() {
            match self
                .take_signal::<Decision>(signal::DECISION, Some(Duration::ZERO))
                .await
            {
                Ok(Some(decision)) => self.feed(Observation::Decided(decision))?,
                Ok(None) => break,
                Err(DurableError::Cancelled { reason }) => {
                    return self.feed(Observation::Cancelled { reason });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Takes a signal; one that cannot be read is dropped with an event that says so.
    async fn take_signal<T: DeserializeOwned + 'static>(
        &self,
        name: &str,
        timeout: Option<Duration>,
    ) -> Result<Option<T>, DurableError> {
        loop {
            match self.door.wait_for_signal::<T>(name, timeout).await {
                Err(DurableError::BadSignal { name, source }) => {
                    self.door.emit(RunEvent::SignalIgnored {
                        name,
                        reason: source.to_string(),
                    });
                }
                other => return other,
            }
        }
    }

    async fn compact(&self, required: bool) -> Result<Observation, DurableError> {
        let uncounted = self.machine.uncounted_messages();
        let estimated = self.strategy.token_estimate(uncounted);
        let tokens = self.machine.tokens_with(estimated);
        let messages = self.machine.messages();
        let too_soon = tokens < self.machine.state().compact_from;
        if !required && (too_soon || !self.strategy.should_compact(messages, tokens)) {
            return Ok(Observation::ContextKept { tokens, estimated });
        }
        let old_tokens = self.strategy.token_estimate(messages);
        let model = SummaryModel::new(&self.door, &self.machine, tokens);
        let result = self.strategy.compact(messages.to_vec(), &model).await;
        let spent = model.spent();
        let compacted = |messages: Vec<Message>, shortfall, spent| {
            let new_tokens = self.strategy.token_estimate(&messages);
            Ok(Observation::Compacted {
                messages,
                old_tokens,
                new_tokens,
                shortfall,
                spent,
            })
        };
        match result {
            Ok(messages) => compacted(messages, None, spent),
            Err(ContextError::StillTooLarge {
                messages,
                tokens,
                at_tokens,
                reason,
            }) => {
                let reason = format!(
                    "the conversation is smaller now, but not under {at_tokens} tokens: {reason}"
                );
                compacted(messages, Some(Shortfall { reason, tokens }), spent)
            }
            Err(ContextError::Model(DurableError::Step(failure))) => {
                let reason = format!("the summary call failed: {failure}");
                Ok(Observation::CompactionFailed {
                    reason,
                    tokens,
                    estimated,
                    spent,
                })
            }
            Err(ContextError::Model(error)) => Err(error),
            Err(error) => Ok(Observation::CompactionFailed {
                reason: error.to_string(),
                tokens,
                estimated,
                spent,
            }),
        }
    }
}

/// A reminder as the model reads it: a user's message, since not every model takes an operator's between
/// others, with a mark that no user wrote it.
fn reminder(text: &str) -> Message {
    Message::user(format!("<system-reminder>\n{text}\n</system-reminder>"))
}

/// What one action came to, as far as a caller of `run_step` wants to know.
pub(crate) enum Progress {
    CalledTools(Vec<ToolCall>),
    Compacted { old_tokens: u64, new_tokens: u64 },
    Other,
    Ended,
}

/// Parts what a call came to from what keeps the run from going on.
fn step_result(
    result: Result<ToolOutput, DurableError>,
) -> Result<Result<ToolOutput, StepFailure>, DurableError> {
    match result {
        Ok(output) => Ok(Ok(output)),
        Err(DurableError::Step(failure)) => Ok(Err(failure)),
        Err(DurableError::Cancelled { reason }) => {
            let message = reason.unwrap_or_else(|| "the run was cancelled".to_owned());
            Ok(Err(StepFailure::new(FailureKind::Cancelled, message)))
        }
        Err(error) => Err(error),
    }
}
