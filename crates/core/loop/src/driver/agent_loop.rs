//! The driver: takes the machine's actions through the door.

use std::{collections::VecDeque, fmt};

use chrono::{DateTime, Utc};
use neuron_types::{
    ContextError, ContextStrategy, Decision, DurableContext, DurableError, EffectKind, End,
    FailureKind, Handle, Lineage, Message, Observed, Outcome, PermissionDecision, PermissionPolicy,
    RunEvent, RunInput, RunOutput, RunPolicy, RunState, Signal, Stage, Step, StepFailure, StepId,
    ToolCall, ToolResultBlock, UpgradeRequest, signal,
};

use crate::{
    Action, AgentMachine, Observation, Shortfall, Spent,
    driver::{progress::Progress, reminder::reminder, summary::SummaryModel, timer::Timer},
};

/// One run of an agent: a machine, the door that its actions go through, and a context strategy.
///
/// It owns no provider and no tools, only their definitions: what acts is behind the door. The same code
/// runs locally, as a Temporal workflow and as a Restate service; its futures are `Send` if the door's are.
pub struct AgentLoop<D, C> {
    door: D,
    strategy: C,
    policy: RunPolicy,
    machine: AgentMachine,
    /// Something was observed in this segment, so that another segment brings the run on.
    has_stepped: bool,
    /// The steps in flight but those of the strategy, and their positions in the turn. There are few
    /// at a time: a list keeps its room where a map would ask for it anew.
    in_flight: Vec<(Handle, u32)>,
    /// When the first ticket lapses.
    expiry: Timer,
    /// When the run's time is over.
    clock: Timer,
    /// When it looks whether other runs of its tree are there.
    lease: Timer,
    /// Calls that other runs have answered, which a caller of [`run_step`](Self::run_step) has not seen yet.
    pub(crate) answered: VecDeque<(ToolCall, ToolResultBlock)>,
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
    /// A run at its start. Its permission policy is [that of the agent](neuron_types::AgentSpec::policy).
    pub fn new(door: D, strategy: C, input: RunInput) -> Self {
        let lineage = Lineage {
            signed: input.agent.signed,
            ..Lineage::of(door.uuid())
        };
        let machine = AgentMachine::new(input, door.now())
            .with_lineage(lineage)
            .with_run(door.run_id().clone());
        Self::with_machine(door, strategy, machine)
    }

    /// Continues a run from a state, as another loop left it.
    pub fn resume(door: D, strategy: C, state: RunState) -> Self {
        let mut machine = AgentMachine::from(state).with_run(door.run_id().clone());
        machine.take_up(door.now());
        Self::with_machine(door, strategy, machine)
    }

    fn with_machine(door: D, strategy: C, mut machine: AgentMachine) -> Self {
        keep_secret(&mut machine, &door);
        let policy = machine.agent().policy();
        Self {
            door,
            strategy,
            policy,
            machine,
            has_stepped: false,
            in_flight: Vec::new(),
            expiry: Timer::default(),
            clock: Timer::default(),
            lease: Timer::default(),
            answered: VecDeque::new(),
        }
    }

    /// The agent has another definition.
    fn go_by_definition(&mut self) {
        keep_secret(&mut self.machine, &self.door);
        let agent = self.machine.agent();
        self.policy = agent.policy();
        self.strategy.adopt(&agent.context);
    }

    /// Returns the door that the run goes through.
    pub const fn door(&self) -> &D {
        &self.door
    }

    /// The run as it stands.
    pub fn machine(&self) -> &AgentMachine {
        &self.machine
    }

    pub(crate) fn machine_mut(&mut self) -> &mut AgentMachine {
        &mut self.machine
    }

    /// Runs the agent to its end. A run that failed, was cancelled or met a limit has an output too, with that reason
    /// as its `exit_reason`.
    ///
    /// # Errors
    ///
    /// What keeps the run from continuing here without ending it: [`DurableError::Suspended`],
    /// [`DurableError::ContinuedAsNew`], [`DurableError::NonDeterminism`], [`DurableError::Engine`].
    pub async fn run(&mut self) -> Result<RunOutput, DurableError> {
        while !matches!(self.advance().await?, Progress::Ended) {}
        self.cancel_children().await?;
        Ok(self.output())
    }

    /// Ends the runs that this one started and that have not ended: nothing waits for their results.
    pub(crate) async fn cancel_children(&mut self) -> Result<(), DurableError> {
        let signals = self.machine.cancels_of_children();
        let handles = signals.into_iter().map(|step| self.door.start(step.into()));
        let mut handles: Vec<Handle> = handles.collect();
        while !handles.is_empty() {
            match self.door.next(&handles, &[]).await? {
                // One that is gone has ended.
                Observed::Ended(ended, End::Effect(_)) => handles.retain(|handle| *handle != ended),
                other => return Err(other.unexpected()),
            }
        }
        Ok(())
    }

    pub(crate) fn output(&self) -> RunOutput {
        self.machine.output(self.door.run_id(), self.door.engine())
    }

    /// Takes one action, and returns its result.
    pub(crate) async fn advance(&mut self) -> Result<Progress, DurableError> {
        self.emit();
        self.leave_unwanted();
        if let Some(progress) = self.tell_others().await? {
            return Ok(progress);
        }
        self.end_segment().await?;
        let action = self.machine.next();
        let taken = match action {
            Action::TakeMessages => self.take_messages().await,
            Action::Compact { required } => self.compact(required).await,
            Action::Authorize(calls) => self.authorize(&calls),
            // The segment ends first, as soon as nothing is in flight any more.
            Action::Start(_) if !self.in_flight.is_empty() && self.door.must_continue_as_new() => {
                self.wait(None).await
            }
            Action::Start(steps) if self.is_time_over() && takes_time(&steps) => {
                self.time_over(Spent::default())
            }
            Action::Start(steps) => self.start(steps),
            Action::Wait { until } => self.wait(until).await,
            Action::LeaveCalls => self.leave_calls().await,
            Action::Done => {
                self.withdraw_timers();
                return Ok(Progress::Ended);
            }
        };
        let progress = match taken {
            Err(DurableError::Cancelled { reason }) => {
                self.cancel(reason).await?;
                Progress::Other
            }
            taken => taken?,
        };
        self.emit();
        Ok(progress)
    }

    /// Sends other runs of the tree what they are to know. A run whose parent is gone ends.
    async fn tell_others(&mut self) -> Result<Option<Progress>, DurableError> {
        while let Some((run, step)) = self.machine.next_to_tell() {
            let told = self.door.start(step.into());
            match self.door.next(&[told], &[]).await {
                Ok(Observed::Ended(_, End::Effect(Ok(_)))) => {}
                Ok(Observed::Ended(_, End::Effect(Err(failure))))
                    if failure.kind == FailureKind::InvalidRequest =>
                {
                    self.feed(Observation::NotTold { run })?;
                }
                // It may be there: it is asked again when it is time.
                Ok(Observed::Ended(_, End::Effect(Err(_)))) => {}
                Ok(other) => return Err(other.unexpected()),
                Err(DurableError::Cancelled { reason }) => {
                    self.cancel(reason).await?;
                    return Ok(Some(Progress::Other));
                }
                Err(error) => return Err(error),
            }
        }
        let Some(reason) = self.machine.abandoned() else {
            return Ok(None);
        };
        self.cancel(Some(reason)).await?;
        self.emit();
        Ok(Some(Progress::Other))
    }

    /// Ends this segment if the door wants it to and nothing is in flight.
    async fn end_segment(&mut self) -> Result<(), DurableError> {
        let is_over = matches!(self.machine.state().stage, Stage::Ended(_));
        let is_due = !is_over
            && self.has_stepped
            && self.in_flight.is_empty()
            && self.door.should_continue_as_new();
        if !is_due {
            return Ok(());
        }
        self.has_stepped = false;
        match self.door.continue_as_new(self.machine.state()).await {
            Ok(is_next) => {
                if is_next {
                    self.withdraw_timers();
                }
            }
            Err(DurableError::Step(failure)) => self.feed(Observation::OutOfHistory(failure))?,
            Err(DurableError::Cancelled { reason }) => {
                self.feed(Observation::Cancelled { reason })?;
            }
            Err(error) => return Err(error),
        }
        self.emit();
        Ok(())
    }

    /// Takes the messages that are here, and whether the run is to adopt the current definition.
    async fn take_messages(&mut self) -> Result<Progress, DurableError> {
        let mut names = vec![signal::USER_MESSAGE, signal::UPGRADE];
        names.extend(self.tree_signals());
        let mut messages = Vec::new();
        while let Some(signal) = self.door.poll(&names).await? {
            if signal.name != signal::USER_MESSAGE {
                self.take_signal(signal)?;
                continue;
            }
            match signal.read() {
                Ok(message) => messages.push(message),
                Err(DurableError::BadSignal { name, source }) => {
                    let reason = source.to_string();
                    self.door.emit(RunEvent::SignalIgnored { name, reason });
                }
                Err(error) => return Err(error),
            }
        }
        self.feed(Observation::Messages(messages))?;
        Ok(Progress::Other)
    }

    /// The signals by which runs above and below say something, while there are any.
    fn tree_signals(&self) -> impl Iterator<Item = &'static str> {
        let state = self.machine.state();
        let below: &[&str] = match state.tree.children.is_empty() {
            true => &[],
            false => &[signal::CHILD, signal::LEASE],
        };
        let above = state.budget.lease.as_ref().map(|_| signal::GRANT);
        below.iter().copied().chain(above)
    }

    fn authorize(&mut self, calls: &[ToolCall]) -> Result<Progress, DurableError> {
        let decide = calls
            .iter()
            .map(|call| self.policy.check(&call.name, &call.input));
        let decisions = decide.collect();
        self.feed(Observation::Authorized(decisions))?;
        Ok(Progress::Other)
    }

    /// Starts these steps. What the machine says of it is emitted before, so that hooks learn of a call
    /// before it is made.
    fn start(&mut self, steps: Vec<Step>) -> Result<Progress, DurableError> {
        self.feed(Observation::Started)?;
        self.emit();
        for step in steps {
            let position = step.options.step.position;
            let handle = self.door.start(step.into());
            self.in_flight.push((handle, position));
        }
        Ok(Progress::Other)
    }

    /// Waits for a call, a decision, a message or the time, whatever comes first.
    async fn wait(&mut self, until: Option<DateTime<Utc>>) -> Result<Progress, DurableError> {
        // Beside the model's call no ticket is looked at.
        let expiry = match self.machine.state().in_flight {
            Some(_) => None,
            None => self.expiry.at(&self.door, until),
        };
        let lease = self.machine.lease_due_at();
        let lease = self.lease.at(&self.door, lease);
        let timers = expiry.into_iter().chain(self.clock()).chain(lease);
        let handles: Vec<Handle> = self.handles().chain(timers).collect();
        let mut signals = vec![signal::USER_MESSAGE];
        signals.extend(self.tree_signals());
        if self.machine.has_open_tickets() {
            signals.push(signal::DECISION);
        }
        if self.machine.state().halt.is_some() {
            // The turn that is made next goes by it.
            signals.push(signal::UPGRADE);
        }
        let observed = self.observe(&handles, &signals).await;
        let observed = observed.inspect_err(|_| self.leave_answer())?;
        match observed {
            Observed::Ended(handle, End::Effect(result)) => {
                let call = self.step_ended(handle, result)?;
                Ok(call.map_or(Progress::Other, Progress::CalledTool))
            }
            Observed::Ended(handle, End::Deadline) if self.clock.ends(handle) => {
                self.time_over(Spent::default())
            }
            Observed::Ended(handle, End::Deadline) if self.lease.ends(handle) => {
                // What they have said already counts.
                let names: Vec<&str> = self.tree_signals().collect();
                while let Some(signal) = self.door.poll(&names).await? {
                    self.take_signal(signal)?;
                }
                self.feed(Observation::LeaseDue)?;
                Ok(Progress::Other)
            }
            Observed::Ended(handle, End::Deadline) if self.expiry.ends(handle) => {
                self.feed(Observation::TicketsLapsed)?;
                Ok(Progress::Other)
            }
            Observed::Signal(signal) => {
                self.take_signal(signal)?;
                Ok(Progress::Other)
            }
            other => Err(other.unexpected()),
        }
    }

    /// Drops the model's call, or what finds a definition, if it is in flight.
    fn leave_answer(&mut self) {
        self.machine.leave_answer();
        self.leave_unwanted();
    }

    /// Drops the steps whose results are no longer needed.
    fn leave_unwanted(&mut self) {
        let in_flight = self.in_flight.iter();
        let unwanted = in_flight.filter(|(_, position)| !self.machine.wants(*position));
        let unwanted: Vec<Handle> = unwanted.map(|(handle, _)| *handle).collect();
        for handle in unwanted {
            self.door.leave(handle);
            self.landed(handle);
        }
    }

    /// The handles of the calls in flight, in the order in which they were started.
    fn handles(&self) -> impl Iterator<Item = Handle> + '_ {
        self.in_flight.iter().map(|(handle, _)| *handle)
    }

    /// A call is in flight no more. Returns its position, if it was.
    fn landed(&mut self, ended: Handle) -> Option<u32> {
        let mut calls = self.in_flight.iter();
        let index = calls.position(|(handle, _)| *handle == ended)?;
        let (_, position) = self.in_flight.remove(index);
        Some(position)
    }

    /// Feeds the result of a step, and returns the call if the model made it.
    fn step_ended(
        &mut self,
        handle: Handle,
        result: Result<Outcome, StepFailure>,
    ) -> Result<Option<ToolCall>, DurableError> {
        let Some(position) = self.landed(handle) else {
            return Err(DurableError::engine(
                "the door returned the end of a step that is not in flight",
            ));
        };
        let slots = &self.machine.state().calls;
        let slot = slots.iter().find(|slot| slot.position == position);
        let call = slot.map(|slot| slot.call.clone());
        let before = match &result {
            Ok(Outcome::Definition(_)) => Some(self.machine.state().definition.clone()),
            _ => None,
        };
        self.feed(Observation::Ended { position, result })?;
        if before.is_some_and(|before| self.machine.state().definition != before) {
            self.go_by_definition();
        }
        Ok(call)
    }

    /// Gives up the calls in flight: drops what can be dropped, and waits for the rest.
    async fn leave_calls(&mut self) -> Result<Progress, DurableError> {
        for (handle, position) in self.in_flight.clone() {
            // It is no longer needed whose a decision is, or what a call would do or did.
            if !self.door.leave(handle) || position > StepId::OWN_CALLS {
                self.landed(handle);
            }
        }
        while !self.in_flight.is_empty() {
            let left: Vec<Handle> = self.handles().collect();
            match self.observe(&left, &[]).await? {
                // It was ended early: it counts as left.
                Observed::Ended(handle, End::Effect(Err(failure)))
                    if failure.kind == FailureKind::Cancelled =>
                {
                    self.landed(handle);
                }
                Observed::Ended(handle, End::Effect(result)) => {
                    self.step_ended(handle, result)?;
                }
                other => return Err(other.unexpected()),
            }
            self.emit();
        }
        if matches!(self.machine.next(), Action::LeaveCalls) {
            self.feed(Observation::CallsLeft)?;
        }
        Ok(Progress::Other)
    }

    /// Ends the run, which was cancelled. A write that is in flight is waited for, and its result is recorded.
    async fn cancel(&mut self, reason: Option<String>) -> Result<(), DurableError> {
        self.withdraw_timers();
        self.leave_calls().await?;
        if !matches!(self.machine.state().stage, Stage::Ended(_)) {
            self.feed(Observation::Cancelled { reason })?;
        }
        Ok(())
    }

    /// Returns the handle of the time at which the run's time is over, if it has one.
    fn clock(&mut self) -> Option<Handle> {
        let at = self.machine.clock().map(|(at, _)| at);
        self.clock.at(&self.door, at)
    }

    fn is_time_over(&self) -> bool {
        let clock = self.machine.clock();
        clock.is_some_and(|(at, _)| at <= self.door.now())
    }

    fn time_over(&mut self, spent: Spent) -> Result<Progress, DurableError> {
        let answer = self.machine.state().in_flight;
        self.feed(Observation::TimeOver { spent })?;
        if answer.is_some() {
            self.leave_unwanted();
        }
        Ok(Progress::Other)
    }

    fn withdraw_timers(&mut self) {
        self.expiry.withdraw(&self.door);
        self.clock.withdraw(&self.door);
        self.lease.withdraw(&self.door);
    }

    async fn observe(
        &mut self,
        handles: &[Handle],
        signals: &[&str],
    ) -> Result<Observed, DurableError> {
        let observed = self.door.next(handles, signals).await?;
        self.has_stepped = true;
        Ok(observed)
    }

    /// Feeds the content of a signal. A signal that cannot be read is dropped, and an event reports that.
    fn take_signal(&mut self, signal: Signal) -> Result<(), DurableError> {
        if signal.name == signal::UPGRADE {
            let request = UpgradeRequest::of_signal(&signal.payload);
            return self.feed(Observation::UpgradeArrived(request));
        }
        let is_raw = signal.raw;
        let read = match signal.name.as_str() {
            signal::DECISION => signal.read().map(Observation::DecisionArrived),
            signal::CHILD => signal.read().map(Observation::ChildEnded),
            signal::LEASE => signal.read().map(Observation::LeaseAsked),
            signal::GRANT => signal.read().map(Observation::LeaseGranted),
            _ => signal.read().map(Observation::MessageArrived),
        };
        if let Ok(Observation::DecisionArrived(decision)) = &read {
            if is_raw && self.machine.drops_raw(decision, self.door.now()) {
                return Ok(());
            }
            if let Some(reason) = self.denied_edit(decision) {
                self.machine.reject_decision(decision, reason);
                return Ok(());
            }
        }
        match read {
            Ok(observation) => self.feed(observation),
            Err(DurableError::BadSignal { name, source }) => {
                let mut reason = Some(source.to_string());
                if is_raw {
                    let now = self.door.now();
                    reason = reason.and_then(|reason| self.machine.says_of_unread(reason, now));
                }
                if let Some(reason) = reason {
                    self.door.emit(RunEvent::SignalIgnored { name, reason });
                }
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Returns what the policy has against the arguments that a person put in.
    fn denied_edit(&self, decision: &Decision) -> Option<String> {
        let args = decision.args.as_ref()?;
        let mut tickets = self.machine.state().tickets.iter();
        let open = tickets.find(|open| open.ticket.ticket == decision.ticket)?;
        let tool = open.edited_tool(decision)?;
        match self.policy.check(tool, args) {
            PermissionDecision::Deny(reason) => Some(reason),
            PermissionDecision::Allow | PermissionDecision::Ask(_) => None,
        }
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

    fn emit(&mut self) {
        let Self { machine, door, .. } = self;
        machine.drain_events().for_each(|event| door.emit(event));
    }

    /// Reviews the conversation, and shrinks it where it has to. Messages that arrive meanwhile are taken up.
    async fn compact(&mut self, required: bool) -> Result<Progress, DurableError> {
        let clock = self.clock();
        let before = self.machine.state().definition.clone();
        let for_another = self.machine.summary_for_handover();
        if let Some(policy) = &for_another {
            self.strategy.adopt(policy);
        }
        let compacted = self.compaction(required, clock).await;
        if for_another.is_some() {
            self.strategy.adopt(&self.machine.agent().context);
        }
        let (observation, messages) = compacted?;
        if let (Observation::TimeOver { .. }, Some(clock)) = (&observation, clock) {
            self.clock.ends(clock);
        }
        let progress = match &observation {
            Observation::Compacted {
                old_tokens,
                new_tokens,
                ..
            } => Progress::Compacted {
                old_tokens: *old_tokens,
                new_tokens: *new_tokens,
            },
            _ => Progress::Other,
        };
        for signal in messages {
            self.take_signal(signal)?;
        }
        self.feed(observation)?;
        if self.machine.state().definition != before {
            self.go_by_definition();
        }
        self.remind();
        Ok(progress)
    }

    async fn compaction(
        &self,
        required: bool,
        clock: Option<Handle>,
    ) -> Result<(Observation, Vec<Signal>), DurableError> {
        let uncounted = self.machine.uncounted_messages();
        let tools = self.machine.uncounted_tools();
        let tools = self.strategy.token_estimate(tools.as_slice());
        let estimated = self
            .strategy
            .token_estimate(uncounted)
            .saturating_add(tools);
        let tokens = self.machine.tokens_with(estimated);
        let messages = self.machine.messages();
        let too_soon = tokens < self.machine.state().context.compact_from;
        if !required && (too_soon || !self.strategy.should_compact(messages, tokens)) {
            return Ok((Observation::ContextKept { tokens, estimated }, Vec::new()));
        }
        let old_tokens = self.strategy.token_estimate(messages);
        let model = SummaryModel::new(&self.door, &self.machine, tokens, clock);
        let result = self.strategy.compact(messages.to_vec(), &model).await;
        let (spent, arrived, is_time_over) = model.into_made();
        if is_time_over {
            return Ok((Observation::TimeOver { spent }, arrived));
        }
        let compacted = |messages: Vec<Message>, shortfall, spent| {
            let new_tokens = self.strategy.token_estimate(&messages);
            Observation::Compacted {
                messages,
                old_tokens,
                new_tokens,
                shortfall,
                spent,
            }
        };
        let observation = match result {
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
                Observation::CompactionFailed {
                    reason,
                    tokens,
                    estimated,
                    spent,
                }
            }
            Err(ContextError::Model(error)) => return Err(error),
            Err(error) => Observation::CompactionFailed {
                reason: error.to_string(),
                tokens,
                estimated,
                spent,
            },
        };
        Ok((observation, arrived))
    }
}

/// Draws what the keys of the run's children are made of, if it may start any and has none yet.
fn keep_secret(machine: &mut AgentMachine, door: &impl DurableContext) {
    if !machine.agent().subagents.is_empty() {
        let secret = &mut machine.state.tree.secret;
        secret.get_or_insert_with(|| door.uuid());
    }
}

/// Returns whether any of these is not made any more when the run's time is over.
fn takes_time(steps: &[Step]) -> bool {
    let takes_time = [
        EffectKind::Model,
        EffectKind::Tool,
        EffectKind::Agent,
        EffectKind::Definition,
        EffectKind::Guard,
    ];
    let mut kinds = steps.iter().map(|step| step.effect.kind());
    kinds.any(|kind| takes_time.contains(&kind))
}
