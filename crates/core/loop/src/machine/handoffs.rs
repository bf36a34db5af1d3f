//! Handing the run over: the same run continues as another agent.

use chrono::{DateTime, Utc};
use neuron_types::{
    AgentSpec, CallState, ContentBlock, ContextPolicy, ContextRule, CurrentDefinition,
    HandedConversation, HandedOver, Handoff, Handover, Message, Role, RunEvent, ToolOutput,
};

use crate::AgentMachine;

impl AgentMachine {
    /// Answers the calls of the turn that hand the run over and that may be made: no step makes them. The first one counts.
    pub(crate) fn answer_handoffs(&mut self) {
        if self.state.agent.handoffs.is_empty() {
            return;
        }
        for index in self.positions(|state| *state == CallState::Ready) {
            let Some(slot) = self.state.calls.get(index) else {
                continue;
            };
            let Some(handoff) = self.state.agent.handoff(&slot.call.name) else {
                continue;
            };
            let handover = Handover {
                to: handoff.name.clone(),
                reason: Handoff::reason(&slot.call.input).to_owned(),
                conversation: handoff.conversation,
                found: None,
            };
            let called = RunEvent::ToolCalled {
                turn: self.state.turn,
                call_id: slot.call.id.clone(),
                tool: slot.call.name.clone(),
                args: slot.call.input.clone(),
            };
            self.emit(called);
            self.state.tool_calls = self.state.tool_calls.saturating_add(1);
            let output = self.hand_to(handover);
            self.answer_call(index, output);
        }
    }

    /// Notes whom the run is handed over to, and returns what the model reads of it.
    fn hand_to(&mut self, handover: Handover) -> ToolOutput {
        if self.state.scope != 0 {
            return ToolOutput::error(
                "not handed over: the agents of a workflow take turns as the workflow says",
            );
        }
        if let Some(first) = &self.state.handover {
            let to = &first.to;
            return ToolOutput::error(format!(
                "not handed over: the conversation goes to the agent {to}"
            ));
        }
        let mut text = format!("The conversation goes to the agent {}", handover.to);
        match handover.reason.as_str() {
            "" => text.push('.'),
            reason => {
                text.push_str(": ");
                text.push_str(reason);
            }
        }
        self.state.handover = Some(handover);
        ToolOutput::text(text)
    }

    /// The agent that the doors know the run by.
    pub(crate) fn began_as(&self) -> &str {
        let handed = self.state.handed.as_ref();
        handed.map_or(&self.state.agent.name, |handed| &handed.began_as)
    }

    /// The definition with which the run continues as another agent is known, or the reason why there is no such
    /// definition.
    pub(crate) fn handover_found(
        &mut self,
        handover: Handover,
        found: Result<CurrentDefinition, String>,
        now: DateTime<Utc>,
    ) {
        let found = match found {
            Err(reason) | Ok(CurrentDefinition::Missing(reason)) => Err(reason),
            Ok(CurrentDefinition::Here(agent)) => self.handed(&agent),
        };
        match found {
            Ok(agent) if handover.conversation == HandedConversation::Summary => {
                self.state.handover = Some(Handover {
                    found: Some(Box::new(agent)),
                    ..handover
                });
                self.review();
            }
            Ok(agent) => self.hand_over(agent, &handover, now),
            Err(reason) => {
                let to = &handover.to;
                self.push(Message::user(format!(
                    "The conversation was not handed over to the agent {to}: {reason}. Go on with it yourself."
                )));
                self.go_on_with_turn(now);
            }
        }
    }

    /// Returns what another definition is for this run.
    fn handed(&self, other: &AgentSpec) -> Result<AgentSpec, String> {
        if other.input.is_some() {
            return Err("its runs are given a value of a form, and no conversation".to_owned());
        }
        let mut agent = self.adopted(other)?;
        let before = &self.state.agent.caller_rules;
        agent.caller_rules.restrict_as(before);
        Ok(agent)
    }

    /// Returns how the conversation is summarised for the agent that the run is handed over to, if it is to be now.
    pub(crate) fn summary_for_handover(&self) -> Option<ContextPolicy> {
        let handover = self.state.handover.as_ref()?;
        handover.found.as_ref()?;
        Some(ContextPolicy {
            rules: vec![ContextRule::Summarize {
                keep: 0,
                model: None,
                summary_prompt: None,
            }],
            at_tokens: Some(u64::MAX),
            reminders: Vec::new(),
        })
    }

    /// Returns whether the conversation is being summarised for the agent that the run is handed over to.
    pub(crate) fn is_summarising_for_handover(&self) -> bool {
        let handover = self.state.handover.as_ref();
        handover.is_some_and(|handover| handover.found.is_some())
    }

    /// The conversation was looked at: the run is handed over if that is what it was for.
    pub(crate) fn hand_over_reviewed(&mut self, now: DateTime<Utc>) -> bool {
        let found = |handover: &mut Handover| handover.found.take();
        let Some(agent) = self.state.handover.as_mut().and_then(found) else {
            return false;
        };
        if let Some(handover) = self.state.handover.take() {
            self.hand_over(*agent, &handover, now);
        }
        true
    }

    fn hand_over(&mut self, mut agent: AgentSpec, handover: &Handover, now: DateTime<Utc>) {
        let from = self.state.agent.name.clone();
        let to = agent.name.clone();
        // Never the other way: no worker without approvers makes a run take unsigned decisions.
        self.state.lineage.signed |= agent.signed;
        let definition = agent.fingerprint();
        let raised = std::mem::take(&mut self.state.raised);
        let began = self.state.handed.take();
        let mut began = began.unwrap_or_else(|| {
            Box::new(HandedOver {
                began_as: from.clone(),
                limits: self.state.agent.limits.clone(),
            })
        });
        raised.raise(&mut began.limits);
        agent.limits.lower_to(&began.limits);
        self.state.handed = Some(began);
        self.cut_conversation(handover, &from);
        self.go_by(agent, &definition, now);
        self.forget_size();
        self.emit(RunEvent::HandedOver {
            turn: self.state.turn,
            from,
            to,
            reason: handover.reason.clone(),
            conversation: handover.conversation,
            definition,
            signed: self.state.lineage.signed,
        });
        self.go_on_with_turn(now);
    }

    /// Leaves of the conversation what the other agent is to see, and says to it why it has it.
    fn cut_conversation(&mut self, handover: &Handover, from: &str) {
        match handover.conversation {
            HandedConversation::Whole => return,
            HandedConversation::Summary => {}
            HandedConversation::Last => {
                let mut messages = self.messages().iter().rev();
                let last = messages.find(|message| is_said(message)).cloned();
                if let Some(last) = last {
                    self.state.conversation = vec![last].into();
                }
            }
        }
        if !handover.reason.is_empty() {
            let reason = &handover.reason;
            self.push(Message::user(format!(
                "The agent {from} handed the conversation over: {reason}"
            )));
        }
    }
}

/// Returns whether a user says something in a message, and no tool.
fn is_said(message: &Message) -> bool {
    let is_result = |block: &ContentBlock| matches!(block, ContentBlock::ToolResult(_));
    message.role == Role::User && !message.content.iter().any(is_result)
}
