//! The machine: what an observation changes.

use chrono::{DateTime, Utc};
use neuron_types::{
    ActivityOptions, AgentSpec, Budget, CallState, CompletionRequest, ContentBlock, ContextRecord,
    Effect, GuardPoint, HaltReason, LimitOverrides, Lineage, LoadedTools, Message, PendingCall,
    RawSignals, RepeatedCalls, Role, RunEvent, RunId, RunInput, RunOutput, RunPhase, RunState,
    Stage, StateVersion, Step, StepId, TokenUsage, ToolDefinition, Tree,
};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::{
    MachineError, Observation,
    machine::call::{is_delegated, is_running, is_unjudged, is_unknown},
};

/// The position of the model's call in its turn.
pub(crate) const MODEL_CALL: u32 = 0;

/// One run's decisions, without I/O and without `async`.
///
/// [`next`](Self::next) returns what to do, [`feed`](Self::feed) takes the result, until `next` returns
/// [`Action::Done`](crate::Action::Done). Between the two calls the machine can be serialised and continue in another
/// process: the same observations lead to the same decisions.
///
/// ```
/// use chrono::DateTime;
/// use neuron_loop::{Action, AgentMachine, Observation};
/// use neuron_types::{AgentSpec, Message, RunInput};
///
/// let input = RunInput::new(AgentSpec::default(), Message::user("hello"));
/// let start = DateTime::UNIX_EPOCH;
/// let mut machine = AgentMachine::new(input, start);
/// assert_eq!(machine.next(), Action::TakeMessages);
/// machine.feed(Observation::Messages(vec![]), start)?;
/// assert_eq!(machine.next(), Action::Compact { required: false });
/// machine.feed(Observation::ContextKept { tokens: 2, estimated: 2 }, start)?;
/// assert!(matches!(machine.next(), Action::Start(_)));
/// # Ok::<(), neuron_loop::MachineError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "RunState", into = "RunState")]
pub struct AgentMachine {
    pub(crate) state: RunState,
}

impl From<RunState> for AgentMachine {
    fn from(state: RunState) -> Self {
        Self { state }
    }
}

impl From<AgentMachine> for RunState {
    fn from(machine: AgentMachine) -> Self {
        machine.state
    }
}

impl AgentMachine {
    /// Returns a run at its start; at its end, if its prompt [is not](RunInput::mismatch) what the agent is given, or
    /// if the agent [does not take](RunInput::rejected) what is changed of it.
    #[must_use]
    pub fn new(input: RunInput, now: DateTime<Utc>) -> Self {
        let RunInput {
            agent,
            origin,
            tags,
            directory,
            parent,
            trace,
            preamble: mut conversation,
            prompt,
            mismatch,
            rejected,
        } = input;
        let provider = agent.head.provider.as_deref();
        let model = agent.head.model.as_str();
        let definition = agent.fingerprint();
        let started = RunEvent::RunStarted {
            agent: agent.name.clone(),
            model: provider.map_or_else(|| model.to_owned(), |name| format!("{name}/{model}")),
            prompt: prompt.text(),
            definition: definition.clone(),
            tags: tags.clone(),
            nonce: None,
            trace: trace.clone(),
            directory: directory.clone(),
            signed: false,
        };
        conversation.push(prompt);
        let unguarded = u32::from(agent.guards_at(GuardPoint::Input).next().is_some());
        let mut machine = Self {
            state: RunState {
                doubt: None,
                left_out: Vec::new(),
                version: StateVersion,
                agent,
                conversation,
                tags,
                run: None,
                directory,
                definition,
                origin,
                handover: None,
                handed: None,
                raised: LimitOverrides::default(),
                upgrade: None,
                lineage: Lineage {
                    trace,
                    ..Lineage::default()
                },
                budget: Budget {
                    lease: Self::begin_lease(parent.as_deref(), now),
                    ..Budget::default()
                },
                tree: Tree {
                    parent: parent.map(|parent| Box::new(parent.without_bounds())),
                    ..Tree::default()
                },
                observations: 0,
                scope: 0,
                stage: Stage::TakeInput { closing: false },
                unguarded,
                repeated: RepeatedCalls::default(),
                loaded: LoadedTools::default(),
                looped: None,
                turn: 0,
                tool_calls: 0,
                calls: Vec::new(),
                tickets: Vec::new(),
                stray: RawSignals::default(),
                own_calls: 0,
                in_flight: None,
                usage: TokenUsage::default(),
                cost_usd: Some(Decimal::ZERO),
                context: ContextRecord::default(),
                started_at: now,
                waiting_since: None,
                waited_ms: 0,
                last_text: None,
                limit: None,
                mismatches: 0,
                queued: Vec::new(),
                ending: None,
                overdue: None,
                halt: None,
                halts: 0,
                turns_again: 0,
                outbox: vec![started],
            },
        };
        match (rejected, mismatch) {
            (Some(reason), _) => machine.reject_overrides(&reason, now),
            (None, Some(reason)) => machine.reject_input(&reason, now),
            (None, None) => {}
        }
        machine
    }

    /// Returns the machine of a run with this lineage. The distributed trace of the run stays that of its
    /// [input](RunInput::trace), where the lineage has no trace.
    #[must_use]
    pub fn with_lineage(mut self, mut lineage: Lineage) -> Self {
        let trace = self.state.lineage.trace.take();
        lineage.trace = lineage.trace.or(trace);
        for event in &mut self.state.outbox {
            if let RunEvent::RunStarted {
                nonce,
                trace,
                signed,
                ..
            } = event
            {
                *nonce = lineage.nonce;
                trace.clone_from(&lineage.trace);
                *signed = lineage.signed;
            }
        }
        self.state.lineage = lineage;
        self
    }

    /// The machine of the run of this id, which its tickets name.
    #[must_use]
    pub fn with_run(mut self, run: RunId) -> Self {
        self.state.run = Some(run);
        self
    }

    /// The calls that start now: all that are ready and wait for no other, or one at a time if the agent is sequential.
    pub(crate) fn startable(&self) -> impl Iterator<Item = &PendingCall> {
        let at_once = match self.state.agent.parallel_tools {
            true => usize::MAX,
            false => {
                let under_way = |state: &CallState| {
                    is_running(state) || is_delegated(state) || is_unknown(state)
                };
                1_usize.saturating_sub(self.calls_in(under_way).count())
            }
        };
        let ready = self.unheld().filter(|slot| slot.state == CallState::Ready);
        ready.take(at_once)
    }

    /// This turn's model call.
    pub(crate) fn model_call(&self) -> Step {
        let mut request = self.request();
        let most = self.state.budget.held.map(|held| held.output);
        if most.is_some() && request.max_tokens != most {
            request.head_mut().max_tokens = most;
        }
        let options = ActivityOptions {
            held: self.state.budget.held,
            ..self.model_options()
        };
        Step::new(Effect::Model(request), options)
    }

    /// Returns how the door makes this turn's model call.
    pub(crate) fn model_options(&self) -> ActivityOptions {
        let turn = self.state.turn;
        ActivityOptions {
            step: self.step(turn, MODEL_CALL),
            agent: self.agent_of_steps(),
            nonce: self.state.lineage.nonce,
            trace: self.state.lineage.trace.clone(),
            tags: self.state.tags.clone(),
            root: self.root(),
            ..self.state.agent.model_options(turn)
        }
    }

    /// Whose steps they are, where they are not those of the agent that the run began as.
    pub(crate) fn agent_of_steps(&self) -> Option<String> {
        let agent = &self.state.agent.name;
        let is_own = self.state.scope == 0 && agent == self.began_as();
        (!is_own).then(|| agent.clone())
    }

    pub(crate) fn step(&self, turn: u32, position: u32) -> StepId {
        StepId {
            scope: self.state.scope,
            turn,
            position,
        }
    }

    /// The position of the next call that the loop makes for itself.
    pub(crate) fn next_own_call(&self) -> u32 {
        StepId::OWN_CALLS
            .saturating_add(self.state.own_calls)
            .saturating_add(1)
    }

    /// Returns the position of a call of the loop's own that begins: no other has it.
    pub(crate) fn take_own_call(&mut self) -> u32 {
        let position = self.next_own_call();
        self.state.own_calls = self.state.own_calls.saturating_add(1);
        position
    }

    /// Feeds the machine the result of its [`next`](Self::next) action, and the time.
    ///
    /// # Errors
    ///
    /// [`MachineError`] if the observation does not fit the action; the machine is as it was.
    pub fn feed(
        &mut self,
        observation: Observation,
        now: DateTime<Utc>,
    ) -> Result<(), MachineError> {
        if !self.accepts(&observation) {
            return Err(self.unexpected(observation.name()));
        }
        match observation {
            Observation::Cancelled { reason } => self.cancelled(reason, now),
            Observation::OutOfHistory(failure) => {
                self.stop_waiting(now);
                self.fail(failure.kind, failure.message, now);
            }
            Observation::MessageArrived(message) => self.queue_message(message),
            Observation::ChildEnded(end) => self.child_ended(&end, now),
            Observation::LeaseAsked(request) => self.lease_asked(request, now),
            Observation::LeaseGranted(grant) => self.lease_granted(grant, now),
            Observation::LeaseDue => self.lease_due(now),
            Observation::NotTold { run } => self.not_told(&run, now),
            Observation::UpgradeArrived(request) => self.upgrade_arrived(request),
            Observation::TimeOver { spent } => self.time_over(spent, now),
            Observation::Messages(messages) => self.take_messages(messages, now),
            Observation::ContextKept { tokens, estimated } => {
                self.context_kept(tokens, estimated, now);
            }
            Observation::Compacted {
                messages,
                old_tokens,
                new_tokens,
                shortfall,
                spent,
            } => {
                self.state.conversation = messages.into();
                self.compacted((old_tokens, new_tokens), shortfall, spent, now);
            }
            Observation::CompactionFailed {
                reason,
                tokens,
                estimated,
                spent,
            } => self.compaction_failed(&reason, (tokens, estimated), spent, now),
            Observation::Authorized(decisions) => {
                let (wanted, given) = (self.calls_in(is_unjudged).count(), decisions.len());
                if wanted != given {
                    return Err(MachineError::WrongCount { wanted, given });
                }
                self.authorized(decisions, now);
            }
            Observation::Started => self.started(now),
            Observation::Ended { position, result } => self.ended(position, result, now)?,
            Observation::CallsLeft => self.calls_left(now),
            Observation::DecisionArrived(decision) => self.decision_arrived(decision),
            Observation::TicketsLapsed => self.tickets_lapsed(now),
        }
        if !self.state.budget.requests.is_empty() {
            self.serve_or_withdraw(now);
        }
        self.state.observations += 1;
        Ok(())
    }

    fn unexpected(&self, observation: &'static str) -> MachineError {
        MachineError::Unexpected {
            action: self.next().name(),
            observation,
        }
    }

    /// Returns the model call as it stands: the whole conversation, and everything else that the model gets. This costs
    /// two pointer copies; while a caller keeps a copy, the machine copies the conversation before it continues.
    #[must_use]
    pub fn request(&self) -> CompletionRequest {
        self.state.request()
    }

    /// The conversation so far.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.state.conversation
    }

    /// The agent.
    #[must_use]
    pub fn agent(&self) -> &AgentSpec {
        &self.state.agent
    }

    /// Everything that the run is.
    #[must_use]
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// The messages that came since the size of the conversation was last known.
    #[must_use]
    pub fn uncounted_messages(&self) -> &[Message] {
        self.messages()
            .get(self.state.context.counted_messages..)
            .unwrap_or_default()
    }

    /// Returns whether a ticket is open.
    #[must_use]
    pub fn has_open_tickets(&self) -> bool {
        !self.state.tickets.is_empty()
    }

    /// The run's output as far as it has one.
    #[must_use]
    pub fn output(&self, run_id: &RunId, engine: &str) -> RunOutput {
        let state = &self.state;
        let tickets = state.tickets.iter().map(|open| open.ticket.clone());
        let outcome = match &state.stage {
            Stage::Ended(outcome) => Some(outcome),
            _ => None,
        };
        let waits = if state.waiting_since.is_some() {
            RunPhase::WaitingForApproval
        } else {
            RunPhase::Running
        };
        RunOutput {
            run_id: run_id.clone(),
            engine: engine.to_owned(),
            agent: state.agent.name.clone(),
            state: outcome.map_or(waits, |outcome| outcome.exit_reason.phase()),
            exit_reason: outcome.map(|outcome| outcome.exit_reason),
            output: state.last_text.clone(),
            turns: state.turn,
            usage: state.usage.clone(),
            cost_usd: state.cost_usd,
            tree: self.tree_spent().map(Box::new),
            reserved: state.budget.reserved.plus(state.tree.reserved),
            pools: self.taken_of_pools(),
            error: outcome.and_then(|outcome| outcome.error.clone()),
            approvals: tickets.collect(),
        }
    }

    pub(crate) fn tools_mut(&mut self) -> &mut Vec<ToolDefinition> {
        &mut self.state.agent.head_mut().tools
    }

    /// As [`take_events`](Self::take_events), and keeps the room that they had.
    pub(crate) fn drain_events(&mut self) -> impl Iterator<Item = RunEvent> + '_ {
        self.state.outbox.drain(..)
    }

    /// Takes the events that are to be emitted, in order.
    pub fn take_events(&mut self) -> Vec<RunEvent> {
        std::mem::take(&mut self.state.outbox)
    }

    /// Adds a message to the conversation between two turns.
    ///
    /// # Errors
    ///
    /// [`MachineError::Unexpected`] anywhere else: a call must be answered before anything else is said. So it is, too, where a
    /// turn has begun of an agent with guards of messages: these look before a turn begins; and where a person is asked about
    /// an answer, which is the last message until they have decided.
    pub fn inject_message(&mut self, message: Message) -> Result<(), MachineError> {
        let between_turns = matches!(
            self.state.stage,
            Stage::TakeInput { .. } | Stage::ReviewContext | Stage::CallModel
        );
        // The turn has begun, and guards look at messages before one does.
        let is_late = self.state.stage == Stage::CallModel && self.guards_input();
        let halt = self.state.halt.as_ref();
        let is_asked = halt.is_some_and(|halt| matches!(halt.reason, HaltReason::Output(_)));
        if !between_turns || is_late || is_asked || self.state.in_flight.is_some() {
            return Err(self.unexpected("an injected message"));
        }
        if let Stage::TakeInput { closing } = &mut self.state.stage {
            *closing = false;
        }
        self.push_said(message);
        if self.state.stage == Stage::ReviewContext && self.has_unguarded() {
            self.state.stage = Stage::GuardInput;
        }
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

    pub(crate) fn emit(&mut self, event: RunEvent) {
        self.state.outbox.push(event);
    }

    pub(crate) fn push(&mut self, message: Message) {
        self.state.conversation.push(message);
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

/// Returns what the ids of tickets begin with, where they are not the run's own.
pub(crate) fn scope_of(state: &RunState) -> String {
    match state.scope {
        0 => String::new(),
        scope => format!("s{scope}-"),
    }
}
