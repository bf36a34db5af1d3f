//! Between two turns: adopting another definition.

use std::{borrow::Cow, time::Duration};

use chrono::{DateTime, Utc};
use neuron_types::{
    AgentSpec, ContentBlock, ContextRecord, CurrentDefinition, DefinitionRequest, Effect,
    ExitReason, Extension, FailureKind, Message, Role, RunEvent, Step, StepFailure, UpgradeRequest,
    signal,
};

use crate::AgentMachine;

/// How long one attempt to find a definition may take.
const FINDING: Duration = Duration::from_secs(30);

/// How long the run looks for a definition while looking fails. After this time the run continues without it.
const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

impl AgentMachine {
    /// The run is asked to adopt the current definition: it does so before its next turn.
    pub(crate) fn upgrade_arrived(&mut self, request: UpgradeRequest) {
        if self.state.scope != 0 {
            self.ignore_upgrade(
                "the agents of a workflow keep the definitions that the run began with",
            );
        } else if self.state.origin.is_none() {
            self.ignore_upgrade(
                "the run was not started with the name of an agent, or by a build that did not note it: there is no \
                 current definition of its agent",
            );
        } else {
            self.state.upgrade = Some(request);
        }
    }

    pub(crate) fn ignore_upgrade(&mut self, reason: impl Into<String>) {
        self.emit(RunEvent::SignalIgnored {
            name: signal::UPGRADE.to_owned(),
            reason: reason.into(),
        });
    }

    /// The step that finds the current definition, or that of the agent that the run is handed over to.
    pub(crate) fn finding(&self) -> Step {
        let other = self.state.handover.as_ref();
        let agent = other.map_or(&self.state.agent.name, |other| &other.to);
        let request = DefinitionRequest {
            agent: agent.clone(),
        };
        let mut options = self.own_call(self.next_own_call(), FINDING);
        options.retry_policy.give_up_after = Some(GIVE_UP_AFTER);
        Step::new(Effect::Definition(request), options)
    }

    /// The current definition is known, or why not: the run continues with its next turn.
    pub(crate) fn definition_found(
        &mut self,
        found: Result<CurrentDefinition, StepFailure>,
        now: DateTime<Utc>,
    ) {
        self.leave_answer();
        let handover = self.state.handover.take();
        let upgrade = match handover {
            Some(_) => None,
            None => self.state.upgrade.take(),
        };
        let found = match found {
            // A person who saw what happened before ends the run.
            Err(failure)
                if matches!(
                    failure.kind,
                    FailureKind::Guardrail | FailureKind::Terminated | FailureKind::Cancelled
                ) =>
            {
                self.fail(failure.kind, failure.message, now);
                return;
            }
            found => found.map_err(|failure| failure.to_string()),
        };
        if let Some(handover) = handover {
            return self.handover_found(handover, found, now);
        }
        let by = upgrade.and_then(|request| request.by);
        let found = match found {
            Err(reason) | Ok(CurrentDefinition::Missing(reason)) => Err(reason),
            Ok(CurrentDefinition::Here(agent)) => self.adopted(&agent),
        };
        match found {
            Ok(agent) => self.adopt(agent, by, now),
            Err(reason) => {
                self.ignore_upgrade(format!("the run keeps its definition: {reason}"));
            }
        }
        self.go_on_with_turn(now);
    }

    /// Continues with the next turn after a definition was looked for.
    pub(crate) fn go_on_with_turn(&mut self, now: DateTime<Utc>) {
        // Messages that came meanwhile are read with the next call too, unless the model continues its own answer.
        if self.takes_reminders() {
            for message in std::mem::take(&mut self.state.queued) {
                self.push_said(Message::user(message.text));
            }
        }
        self.begin_turn(now);
    }

    /// Returns what a definition is for this run.
    pub(crate) fn adopted(&self, current: &AgentSpec) -> Result<AgentSpec, String> {
        if current.team.is_some() {
            let name = &current.name;
            return Err(format!("{name} is a workflow now, and no agent"));
        }
        let mut origin = self.state.origin.clone().unwrap_or_default();
        if current.name != self.began_as() {
            origin = origin.for_another(current);
        }
        let adopted = current.adopted(&origin).map_err(|rejected| {
            format!("the current one does not take what the run was started with: {rejected}")
        });
        adopted.map(|agent| {
            let mut agent = agent.attenuated(&self.state.agent.bounds);
            // Runs that are open may continue with pools that the other definition does not know.
            for (pool, allowance) in &self.state.agent.pools {
                agent.pools.entry(pool.clone()).or_insert(*allowance);
            }
            match &self.state.tree.parent {
                Some(parent) => parent.attenuate(&agent),
                None => agent,
            }
        })
    }

    fn adopt(&mut self, mut agent: AgentSpec, by: Option<String>, now: DateTime<Utc>) {
        let (from, to) = (self.state.definition.clone(), agent.fingerprint());
        let turn = self.state.turn;
        // Never the other way: no worker without approvers makes a run take unsigned decisions.
        self.state.lineage.signed |= agent.signed;
        let signed = self.state.lineage.signed;
        // Prices change without the definition.
        self.state.agent.rates.clone_from(&agent.rates);
        if from == to {
            let changes = Vec::new();
            self.emit(RunEvent::Upgraded {
                turn,
                from,
                to,
                changes,
                by,
                signed,
            });
            return;
        }
        if let Some(handed) = &self.state.handed {
            agent.limits.lower_to(&handed.limits);
        }
        self.state.raised.raise(&mut agent.limits);
        let changes = agent.changes_from(&self.state.agent);
        self.go_by(agent, &to, now);
        self.emit(RunEvent::Upgraded {
            turn,
            from,
            to,
            changes,
            by,
            signed,
        });
    }

    /// The run goes by this definition from now on.
    pub(crate) fn go_by(&mut self, mut agent: AgentSpec, definition: &str, now: DateTime<Utc>) {
        self.name_answers(&agent);
        let before = &self.state.agent;
        agent.keep_decisions_of(before);
        if agent.head != before.head {
            self.forget_size();
            self.state.mismatches = 0;
        }
        self.state.agent = agent;
        definition.clone_into(&mut self.state.definition);
        self.state.limit = self.state.limit.filter(|limit| self.is_met(*limit, now));
    }

    /// Names the model of the answers so far where the next definition has another provider: that provider must not be sent
    /// what only the earlier one reads.
    fn name_answers(&mut self, next: &AgentSpec) {
        let head = &self.state.agent.head;
        if head.provider.is_none() || head.provider == next.head.provider {
            return;
        }
        let Some(model) = head.models().next().map(Cow::into_owned) else {
            return;
        };
        let is_unnamed =
            |message: &Message| message.role == Role::Assistant && message.answered_by().is_none();
        if !self.messages().iter().any(is_unnamed) {
            return;
        }
        let messages = self.state.conversation.make_mut().iter_mut();
        for message in messages.filter(|message| is_unnamed(message)) {
            let model = model.clone();
            message.content.push(ContentBlock::AnsweredBy { model });
        }
    }

    /// Another request has another size, and maybe a model that counts in another way: as at the run's start.
    pub(crate) fn forget_size(&mut self) {
        let context = &mut self.state.context;
        *context = ContextRecord {
            overflowed: context.overflowed,
            continuations: context.continuations,
            reminded: context.reminded,
            ..ContextRecord::default()
        };
    }

    /// Returns whether a limit that was met inside a turn is met still.
    fn is_met(&self, limit: ExitReason, now: DateTime<Utc>) -> bool {
        let state = &self.state;
        match limit {
            ExitReason::MaxToolCalls => {
                let most = state.agent.limits.tool_calls;
                most.is_some_and(|most| state.tool_calls >= most)
            }
            ExitReason::MaxDuration | ExitReason::Deadline => self.time_limit(now).is_some(),
            _ => true,
        }
    }

    /// Notes that a person raised a limit: it stays raised when a definition is adopted.
    pub(crate) fn note_raised(&mut self, extension: Extension) {
        self.state.raised.note(extension, &self.state.agent.limits);
    }
}
