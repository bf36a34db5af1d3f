//! The runs that a run starts: what they are given, how many there may be, and what becomes of their ends.

use std::time::Duration;

use chrono::{DateTime, Utc};
use neuron_types::{
    ActivityOptions, Amount, CallState, Child, ChildEnd, ChildRequest, Effect, ExitReason, Message,
    Overrides, Parent, PendingCall, Pooled, RunEvent, RunId, RunRequest, RunSignal, RunState,
    Spent, Step, StepFailure, SubAgent, TokenUsage, ToolEffects, ToolOutput, TraceContext,
    UserMessage, cost_sum, signal,
};
use rust_decimal::Decimal;

use crate::{
    AgentMachine,
    machine::{
        batch::ends_run,
        call::{CallEvent, is_delegated, is_open, is_running},
        leases::part_for,
    },
};

/// How long one attempt to start a run may take.
const STARTING: Duration = Duration::from_secs(30);

impl AgentMachine {
    /// The agent that a call starts, if it starts one.
    pub(crate) fn starts(&self, slot: &PendingCall) -> Option<&SubAgent> {
        self.state.agent.subagent(&slot.call.name)
    }

    /// Returns whether a call starts an agent.
    pub(crate) fn starts_agent(&self, index: usize) -> bool {
        let slot = self.state.calls.get(index);
        slot.is_some_and(|slot| self.starts(slot).is_some())
    }

    /// Returns the answer to a call that would start a run which there may not be.
    pub(crate) fn no_child(&self, index: usize) -> Option<String> {
        let slot = self.state.calls.get(index)?;
        let agent = self.starts(slot)?;
        if self.state.run.is_none() || self.state.agent.max_depth == 0 {
            let why = match self.state.tree.parent {
                Some(_) => "a run so far below the first one starts no other",
                None => "this agent is to start no other (max_depth)",
            };
            return Some(format!("not started: {why}; do the work yourself"));
        }
        let calls = self.state.calls.iter().take(index);
        let starting = calls.filter(|slot| {
            let is_one = is_open(&slot.state) && slot.state != CallState::Delegated;
            is_one && self.starts(slot).is_some()
        });
        let most = self.state.agent.max_children;
        let open = self
            .state
            .tree
            .children
            .len()
            .saturating_add(starting.count());
        if u32::try_from(open).is_ok_and(|open| open < most) {
            return agent.prompt(&slot.call.input).err();
        }
        Some(format!(
            "not started: as many agents are at work for this run as may be at once ({most}); call again when one is done"
        ))
    }

    /// The step that starts the run which a call asks for.
    pub(crate) fn starting_of(&self, slot: &PendingCall, agent: &SubAgent) -> Option<Step> {
        let run = self.child_id(slot.position)?;
        let request = RunRequest {
            tags: self.state.tags.clone(),
            overrides: Overrides {
                limits: agent.limits.clone(),
                ..Overrides::default()
            },
            parent: Some(Box::new(self.parent_of(&run, agent)?)),
            trace: self.trace_of(&run),
            ..RunRequest::new(agent.name.as_str(), self.prompt_of(slot, agent))
        };
        let request = Box::new(request);
        let effect = Effect::Agent(Box::new(ChildRequest { run, request }));
        Some(self.to_another(effect, slot.position))
    }

    /// Returns the step at this position that starts another run or sends it a message: a repeated step takes effect
    /// once.
    pub(crate) fn to_another(&self, effect: Effect, position: u32) -> Step {
        let options = ActivityOptions {
            effects: ToolEffects::Idempotent,
            ..self.own_call(position, STARTING)
        };
        Step::new(effect, options)
    }

    /// Arguments that a person changed may be no longer those of the tool: the agent gets them as they are.
    fn prompt_of(&self, slot: &PendingCall, agent: &SubAgent) -> Message {
        let args = &slot.call.input;
        let prompt = agent.prompt(args);
        prompt.unwrap_or_else(|_| Message::user(args.to_string()))
    }

    /// Returns the trace of another run that this one starts: that run is a part of the call that starts it.
    fn trace_of(&self, child: &RunId) -> Option<TraceContext> {
        let own = self.state.run.as_ref()?;
        Some(self.state.lineage.spans(own).of_child(child))
    }

    fn parent_of(&self, child: &RunId, agent: &SubAgent) -> Option<Parent> {
        let state = &self.state;
        let own = state.run.clone()?;
        let root = state.tree.parent.as_ref().map(|parent| &parent.root);
        Some(Parent {
            root: root.unwrap_or(&own).clone(),
            run: own,
            key: state.tree.key_of(child),
            levels: state.agent.max_depth.saturating_sub(1),
            bounds: state.agent.bounds_of_children(),
            signed: state.lineage.signed,
            lease: Some(self.lease_of(&self.leased_to(child, agent))),
        })
    }

    /// The run at the top of the tree, if another run started this one.
    pub(crate) fn root(&self) -> Option<RunId> {
        let parent = self.state.tree.parent.as_ref();
        parent.map(|parent| parent.root.clone())
    }

    /// A run that this one started and that has not ended.
    pub(crate) fn child(&self, run: &RunId) -> Option<&Child> {
        let mut children = self.state.tree.children.iter();
        children.find(|child| child.run == *run)
    }

    /// The same, to be changed.
    pub(crate) fn child_mut(&mut self, run: &RunId) -> Option<&mut Child> {
        let mut children = self.state.tree.children.iter_mut();
        children.find(|child| child.run == *run)
    }

    /// Returns what a run that starts now is granted: what it was granted before, if it was being started already.
    fn leased_to(&self, run: &RunId, agent: &SubAgent) -> Pooled<Amount> {
        self.child(run).map_or_else(
            || part_for(agent, self.first_lease(self.starting_agents())),
            |child| child.leased.clone(),
        )
    }

    /// The id of the run that the call at this position of the turn starts.
    fn child_id(&self, position: u32) -> Option<RunId> {
        let step = self.step(self.state.turn, position);
        self.state.run.as_ref().map(|run| run.child(step))
    }

    /// A run is being started for a call.
    pub(crate) fn child_started(
        &mut self,
        index: usize,
        leased: &Pooled<Amount>,
        now: DateTime<Utc>,
    ) {
        // Guards may look at the call first, or it is found out what it would do.
        let slot = self.state.calls.get(index);
        let Some(slot) = slot.filter(|slot| is_running(&slot.state)) else {
            return;
        };
        let Some(agent) = self.starts(slot) else {
            return;
        };
        let Some(run) = self.child_id(slot.position) else {
            return;
        };
        let background = agent.background;
        let child = Child {
            run: run.clone(),
            agent: agent.name.clone(),
            position: (!background).then_some(slot.position),
            leased: part_for(agent, leased.clone()),
            answered: 0,
            heard_at: Some(now),
            looked_at: None,
        };
        let event = RunEvent::ChildStarted {
            turn: self.state.turn,
            call_id: slot.call.id.clone(),
            run_id: run.clone(),
            agent: child.agent.clone(),
            background,
        };
        if self.child(&run).is_none() {
            self.state.tree.started = self.state.tree.started.saturating_add(1);
            self.state.tree.children.push(child);
            self.emit(event);
        }
    }

    /// The run that a call asks for is there.
    pub(crate) fn child_is_there(&mut self, index: usize, now: DateTime<Utc>) {
        let background = self.state.calls.get(index).and_then(|slot| {
            let background = self.starts(slot)?.background;
            self.child_id(slot.position).filter(|_| background)
        });
        self.state.tool_calls = self.state.tool_calls.saturating_add(1);
        match background {
            Some(run) => {
                let text =
                    format!("started: its run is {run}, and its answer arrives as a message");
                self.answer_call(index, ToolOutput::text(text));
            }
            None => {
                self.call(index, CallEvent::Delegated);
            }
        }
        self.go_on(now);
    }

    /// The run that a call asks for could not be started and does not exist.
    pub(crate) fn child_is_not_there(
        &mut self,
        index: usize,
        failure: StepFailure,
        now: DateTime<Utc>,
    ) {
        let position = self.state.calls.get(index).map(|slot| slot.position);
        if let Some(run) = position.and_then(|position| self.child_id(position)) {
            self.state.tree.children.retain(|child| child.run != run);
            self.emit(RunEvent::ChildEnded {
                run_id: run,
                exit_reason: ExitReason::Failed,
                usage: TokenUsage::default(),
                cost_usd: Some(Decimal::ZERO),
                reserved: Amount::ZERO,
            });
        }
        if ends_run(failure.kind) {
            return self.tool_answered(index, Err(failure), now);
        }
        self.state.tool_calls = self.state.tool_calls.saturating_add(1);
        self.refuse_call(index, &format!("not started: {}", failure.message));
        self.go_on(now);
    }

    /// A run says that it has ended which this one started.
    pub(crate) fn child_ended(&mut self, end: &ChildEnd, now: DateTime<Utc>) {
        let Some(index) = self.state.tree.child_of(end) else {
            if self.state.tree.was_child(&end.run, end.key) {
                // A run whose process was lost at this point reports it again.
                return;
            }
            let reason = format!(
                "it is not of an open run that this one started: {}",
                end.run
            );
            let name = signal::CHILD.to_owned();
            return self.emit(RunEvent::SignalIgnored { name, reason });
        };
        let child = self.state.tree.children.remove(index);
        let tree = &mut self.state.tree;
        tree.is_waiting = false;
        tree.usage.add(&end.usage);
        tree.cost_usd = cost_sum(tree.cost_usd, end.cost_usd);
        tree.reserved = tree.reserved.plus(end.reserved);
        let taken = end.pools.as_ref().unwrap_or(&child.leased.pools);
        self.state.budget.take_of_pools(taken);
        self.emit(RunEvent::ChildEnded {
            run_id: end.run.clone(),
            exit_reason: end.exit_reason,
            usage: end.usage.clone(),
            cost_usd: end.cost_usd,
            reserved: end.reserved,
        });
        let answer = answer(&child, end);
        let Some(position) = child.position else {
            let Child { agent, run, .. } = &child;
            let text = match answer {
                Ok(said) => format!("The agent {agent} (run {run}) has ended. It answers:\n{said}"),
                Err(why) => format!("The agent {agent} (run {run}) has ended: {why}"),
            };
            return self.queue_message(UserMessage::new(text));
        };
        let mut slots = self.state.calls.iter();
        let call = slots.position(|slot| slot.position == position && is_open(&slot.state));
        if let Some(index) = call {
            let slot = self.state.calls.get(index);
            if !slot.is_some_and(|slot| is_delegated(&slot.state)) {
                // It ended before it was known to be there.
                self.state.tool_calls = self.state.tool_calls.saturating_add(1);
            }
            let output = answer.map_or_else(ToolOutput::error, ToolOutput::text);
            self.answer_call(index, output);
            self.go_on(now);
        }
    }

    /// Returns the cost of a run below whose usage is not learned, beside what it is charged.
    pub(crate) fn cost_of_lost(&self) -> Option<Decimal> {
        let is_priced = self.bound().cost_usd.is_some();
        is_priced.then_some(Decimal::ZERO)
    }

    /// The run ends before the runs that it started: their usage is not learned here, so each is charged what it may
    /// use.
    pub(crate) fn give_up_children(&mut self) {
        let cost_usd = self.cost_of_lost();
        let RunState { tree, budget, .. } = &mut self.state;
        let mut events = Vec::new();
        for child in &mut tree.children {
            let Pooled {
                own: reserved,
                pools,
            } = std::mem::take(&mut child.leased);
            budget.take_of_pools(&pools);
            tree.reserved = tree.reserved.plus(reserved);
            tree.cost_usd = cost_sum(tree.cost_usd, cost_usd);
            events.push(RunEvent::ChildEnded {
                run_id: child.run.clone(),
                exit_reason: ExitReason::Cancelled,
                usage: TokenUsage::default(),
                cost_usd,
                reserved,
            });
        }
        self.state.outbox.extend(events);
    }

    /// The steps that cancel the runs which this one started and which have not ended. A run that is over takes them.
    pub(crate) fn cancels_of_children(&self) -> Vec<Step> {
        let positions = self.next_own_call()..;
        let children = self.state.tree.children.iter().zip(positions);
        let cancels = children.map(|(child, position)| {
            let signal = RunSignal::cancel(child.run.clone(), "the run that started it has ended");
            self.to_another(Effect::Signal(Box::new(signal)), position)
        });
        cancels.collect()
    }

    /// Returns what the run and those that it started have used and cost; `None` if it started none.
    pub(crate) fn tree_spent(&self) -> Option<Spent> {
        let RunState {
            tree,
            usage,
            cost_usd,
            ..
        } = &self.state;
        if tree.started == 0 {
            return None;
        }
        let mut usage = usage.clone();
        usage.add(&tree.usage);
        let cost_usd = cost_sum(*cost_usd, tree.cost_usd);
        Some(Spent::new(usage, cost_usd))
    }

    /// Returns whether the run has nothing to do before one ends that it started.
    pub(crate) fn waits_for_children(&self) -> bool {
        self.state.tree.is_waiting && self.state.queued.is_empty()
    }
}

/// Returns what the model reads of a run that has ended: its answer, or why it has no answer.
fn answer(child: &Child, end: &ChildEnd) -> Result<String, String> {
    let said = end.output.clone().unwrap_or_default();
    if end.exit_reason == ExitReason::Complete {
        return Ok(said);
    }
    let error = end.error.as_ref();
    let why = error.map(|error| format!(": {}", error.message));
    let mut text = format!(
        "the agent {} came to no answer ({}){}",
        child.agent,
        end.exit_reason.phase().as_str(),
        why.unwrap_or_default()
    );
    if !said.is_empty() {
        text.push_str("\nIt said last:\n");
        text.push_str(&said);
    }
    Err(text)
}
