//! The machine: which action comes next, and what an observation changes.

use chrono::{DateTime, Utc};
use neuron_types::{
    CallState, ContentBlock, ContextRecord, Message, PendingCall, Role, RunEvent, RunInput,
    RunState, Stage, StepId, TokenUsage, ToolDefinition,
};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::{Action, MachineError, Observation};

/// The version of [`RunState`] that this machine reads and writes.
pub const STATE_VERSION: u32 = 1;

/// One run's decisions, without I/O and without `async`.
///
/// [`next`](Self::next) says what to do, [`feed`](Self::feed) tells what came of it, until `next` says
/// [`Action::Done`]. Between the two the machine can be serialised and go on in another process: the same
/// observations lead to the same decisions.
///
/// ```
/// use chrono::DateTime;
/// use neuron_loop::{Action, AgentMachine, Observation};
/// use neuron_types::{AgentSpec, Message, RunInput};
///
/// let input = RunInput { agent: AgentSpec::default(), prompt: Message::user("hello") };
/// let start = DateTime::UNIX_EPOCH;
/// let mut machine = AgentMachine::new(input, start);
/// assert_eq!(machine.next(), Action::TakeMessages);
/// machine.feed(Observation::Messages(vec![]), start)?;
/// assert_eq!(machine.next(), Action::Compact { required: false });
/// machine.feed(Observation::ContextKept { tokens: 2, estimated: 2 }, start)?;
/// assert!(matches!(machine.next(), Action::CallModel(_)));
/// # Ok::<(), neuron_loop::MachineError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RunState", into = "RunState")]
pub struct AgentMachine {
    pub(crate) state: RunState,
}

impl TryFrom<RunState> for AgentMachine {
    type Error = MachineError;

    fn try_from(state: RunState) -> Result<Self, MachineError> {
        if state.version == STATE_VERSION {
            Ok(Self { state })
        } else {
            Err(MachineError::UnknownVersion {
                found: state.version,
                known: STATE_VERSION,
            })
        }
    }
}

impl From<AgentMachine> for RunState {
    fn from(machine: AgentMachine) -> Self {
        machine.state
    }
}

impl AgentMachine {
    /// A run at its start.
    #[must_use]
    pub fn new(input: RunInput, now: DateTime<Utc>) -> Self {
        let RunInput { mut agent, prompt } = input;
        let provider = agent.request.provider.as_deref();
        let model = agent.request.model.as_str();
        let started = RunEvent::RunStarted {
            agent: agent.name.clone(),
            model: provider.map_or_else(|| model.to_owned(), |name| format!("{name}/{model}")),
            prompt: prompt.text(),
        };
        agent.request.messages.push(prompt);
        Self {
            state: RunState {
                version: STATE_VERSION,
                agent,
                stage: Stage::TakeInput { closing: false },
                turn: 0,
                tool_calls: 0,
                calls: Vec::new(),
                usage: TokenUsage::default(),
                cost_usd: Some(Decimal::ZERO),
                context_tokens: 0,
                counted_messages: 0,
                context: ContextRecord::default(),
                continuations: 0,
                compact_from: 0,
                overflowed: false,
                started_at: now,
                waiting_since: None,
                waited_ms: 0,
                last_text: None,
                limit: None,
                outbox: vec![started],
            },
        }
    }

    /// What to do next. The same machine always answers the same.
    #[must_use]
    pub fn next(&self) -> Action {
        let state = &self.state;
        match &state.stage {
            Stage::TakeInput { .. } => Action::TakeMessages,
            Stage::ReviewContext => Action::Compact {
                required: state.overflowed,
            },
            Stage::CallModel => Action::CallModel(state.agent.model_options(state.turn)),
            Stage::JudgeCalls => Action::Authorize(
                self.calls_in(is_unjudged)
                    .map(|slot| slot.call.clone())
                    .collect(),
            ),
            Stage::Tools => self.next_in_batch(),
            _ => Action::Done,
        }
    }

    fn next_in_batch(&self) -> Action {
        let at_once = if self.state.agent.parallel_tools {
            usize::MAX
        } else {
            1
        };
        let ready: Vec<&PendingCall> = self.calls_in(is_ready).take(at_once).collect();
        if ready.is_empty() {
            let expiries = self
                .state
                .calls
                .iter()
                .filter_map(|slot| match &slot.state {
                    CallState::Asked(ticket) => ticket.expires_at,
                    _ => None,
                });
            return Action::Wait {
                until: expiries.min(),
            };
        }
        let options = ready.iter().map(|slot| {
            let step = StepId {
                turn: self.state.turn,
                position: slot.position,
            };
            self.state.agent.tool_options(&slot.call, step)
        });
        Action::CallTools {
            options: options.collect(),
            calls: ready.iter().map(|slot| slot.call.clone()).collect(),
        }
    }

    /// Tells the machine what came of its [`next`](Self::next) action, and when.
    ///
    /// # Errors
    ///
    /// [`MachineError`] if the observation does not fit the action; the machine is as it was.
    pub fn feed(
        &mut self,
        observation: Observation,
        now: DateTime<Utc>,
    ) -> Result<(), MachineError> {
        match (&self.state.stage, observation) {
            (Stage::Ended(_), observation) => return Err(self.unexpected(&observation)),
            (_, Observation::Cancelled { reason }) => self.cancelled(reason, now),
            (_, Observation::OutOfHistory(failure)) => {
                self.stop_waiting(now);
                self.fail(failure.kind, failure.message, now);
            }
            (Stage::TakeInput { closing }, Observation::Messages(messages)) => {
                let closing = *closing;
                self.take_messages(messages, closing, now);
            }
            (Stage::ReviewContext, Observation::ContextKept { tokens, estimated })
                if !self.state.overflowed =>
            {
                self.context_kept(tokens, estimated);
            }
            (
                Stage::ReviewContext,
                Observation::Compacted {
                    messages,
                    old_tokens,
                    new_tokens,
                    shortfall,
                    spent,
                },
            ) => {
                self.state.agent.request.messages = messages;
                self.compacted(old_tokens, new_tokens, shortfall, spent);
            }
            (
                Stage::ReviewContext,
                Observation::CompactionFailed {
                    reason,
                    tokens,
                    estimated,
                    spent,
                },
            ) => {
                self.compaction_failed(&reason, (tokens, estimated), spent, now);
            }
            (Stage::CallModel, Observation::ModelAnswered(response)) => {
                self.model_answered(response, now);
            }
            (Stage::CallModel, Observation::ModelFailed(failure)) => {
                self.model_failed(failure, now);
            }
            (Stage::JudgeCalls, Observation::Authorized(decisions)) => {
                self.check_count(self.calls_in(is_unjudged).count(), decisions.len())?;
                self.authorized(decisions, now);
            }
            (Stage::Tools, observation) => return self.feed_batch(observation, now),
            (_, observation) => return Err(self.unexpected(&observation)),
        }
        Ok(())
    }

    fn feed_batch(
        &mut self,
        observation: Observation,
        now: DateTime<Utc>,
    ) -> Result<(), MachineError> {
        match (self.next_in_batch(), observation) {
            (Action::CallTools { calls, .. }, Observation::ToolsAnswered(results)) => {
                self.check_count(calls.len(), results.len())?;
                self.tools_answered(results, now);
            }
            // A decision may come while other calls of the turn are ready: it joins them.
            (_, Observation::Decided(decision)) => self.decided(decision, now),
            (Action::Wait { .. }, Observation::TicketsLapsed) => self.tickets_lapsed(now),
            (_, observation) => return Err(self.unexpected(&observation)),
        }
        Ok(())
    }

    fn check_count(&self, wanted: usize, given: usize) -> Result<(), MachineError> {
        if wanted == given {
            Ok(())
        } else {
            Err(MachineError::WrongCount { wanted, given })
        }
    }

    fn unexpected(&self, observation: &Observation) -> MachineError {
        MachineError::Unexpected {
            action: self.next().name(),
            observation: observation.name(),
        }
    }

    pub(crate) fn tools_mut(&mut self) -> &mut Vec<ToolDefinition> {
        &mut self.state.agent.request.tools
    }

    /// Takes what is to be told to the world, in order.
    pub fn take_events(&mut self) -> Vec<RunEvent> {
        std::mem::take(&mut self.state.outbox)
    }

    /// Adds a message to the conversation between two turns.
    ///
    /// # Errors
    ///
    /// [`MachineError::Unexpected`] anywhere else: a call must be answered before anything else is said.
    pub fn inject_message(&mut self, message: Message) -> Result<(), MachineError> {
        let between_turns = matches!(
            self.state.stage,
            Stage::TakeInput { .. } | Stage::ReviewContext | Stage::CallModel
        );
        if !between_turns {
            let (action, observation) = (self.next().name(), "an injected message");
            return Err(MachineError::Unexpected {
                action,
                observation,
            });
        }
        if let Stage::TakeInput { closing } = &mut self.state.stage {
            *closing = false;
        }
        self.push(message);
        Ok(())
    }

    pub(crate) fn calls_in(
        &self,
        wanted: fn(&CallState) -> bool,
    ) -> impl Iterator<Item = &PendingCall> {
        self.state
            .calls
            .iter()
            .filter(move |slot| wanted(&slot.state))
    }

    pub(crate) fn tell(&mut self, event: RunEvent) {
        self.state.outbox.push(event);
    }

    pub(crate) fn push(&mut self, message: Message) {
        self.state.agent.request.messages.push(message);
    }

    pub(crate) fn push_results(&mut self) {
        let calls = std::mem::take(&mut self.state.calls);
        let results = calls.into_iter().filter_map(|slot| match slot.state {
            CallState::Done(result) => Some(ContentBlock::ToolResult(result)),
            _ => None,
        });
        let content: Vec<ContentBlock> = results.collect();
        if !content.is_empty() {
            self.push(Message {
                role: Role::User,
                content,
            });
        }
    }
}

pub(crate) fn is_unjudged(state: &CallState) -> bool {
    matches!(state, CallState::Unjudged)
}

pub(crate) fn is_ready(state: &CallState) -> bool {
    matches!(state, CallState::Ready)
}

pub(crate) fn is_open(state: &CallState) -> bool {
    !matches!(state, CallState::Done(_))
}
