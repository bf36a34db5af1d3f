//! What the worker's own agent grants, whatever definition a run carries.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use neuron_types::{
    AgentSpec, ApprovalRules, ArgumentKind, PermissionDecision, ToolCall, ToolDefinition,
    ToolEffects, ToolOutput,
};

use super::place::{Judged, Place};

/// What an agent grants now: its tools, and what it denies.
///
/// A run keeps the definition that it began with, which may be older, or that of somebody who is not to decide here.
#[derive(Debug)]
pub(crate) struct Grants {
    definition: Box<AgentSpec>,
    tools: BTreeMap<String, Granted>,
    rules: ApprovalRules,
    model_timeout: Duration,
    /// Those of the agents that take turns in the runs of a workflow.
    team: BTreeMap<String, Arc<Self>>,
}

/// A tool as the agent has it now.
#[derive(Debug)]
struct Granted {
    effects: ToolEffects,
    timeout: Duration,
    /// Its name and what its arguments are for, and nothing else of it.
    definition: ToolDefinition,
}

impl Grants {
    pub(crate) fn of(agent: &AgentSpec) -> Self {
        let tools = agent.head.tools.iter().map(|tool| {
            let granted = Granted {
                effects: tool.effects(),
                timeout: agent.timeout_of(&tool.name),
                definition: ToolDefinition {
                    name: tool.name.clone(),
                    arguments: tool.arguments.clone(),
                    ..ToolDefinition::default()
                },
            };
            (tool.name.clone(), granted)
        });
        let team = agent.team.iter().flatten();
        Self {
            definition: Box::new(agent.clone()),
            tools: tools.collect(),
            rules: agent.approvals.clone(),
            model_timeout: agent.model_timeout,
            team: team
                .map(|member| (member.name.clone(), Arc::new(Self::of(member))))
                .collect(),
        }
    }

    /// The agent as its worker has it.
    pub(crate) fn definition(&self) -> &AgentSpec {
        &self.definition
    }

    /// Those of an agent that takes turns.
    pub(crate) fn of_member(&self, agent: &str) -> Option<Arc<Self>> {
        self.team.get(agent).cloned()
    }

    /// Whether the agent has this tool.
    pub(crate) fn has(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    /// How long an attempt of a model call may take.
    pub(crate) const fn model_timeout(&self) -> Duration {
        self.model_timeout
    }

    /// How long an attempt of a call of this tool may take.
    pub(crate) fn tool_timeout(&self, tool: &str) -> Duration {
        let granted = self.tools.get(tool);
        granted.map_or(Duration::MAX, |granted| granted.timeout)
    }

    /// What a call is answered with that is not granted; `None` if it is. The run takes its effects for these.
    pub(crate) fn refusal(&self, call: &ToolCall, taken_for: ToolEffects) -> Option<ToolOutput> {
        let Some(granted) = self.tools.get(&call.name) else {
            let names = self.tools.keys().map(String::as_str);
            return Some(ToolOutput::unknown_tool(&call.name, names));
        };
        // The run's door would repeat it, and journals no start.
        if granted.effects == ToolEffects::Write && taken_for != ToolEffects::Write {
            return Some(ToolOutput::error(format!(
                "not called: {} may change something, and this run was started when it did not: use another tool",
                call.name
            )));
        }
        None
    }

    /// What a call is answered with that the agent's rules do not let through as it is; `None` if they do.
    ///
    /// `changed` is the call as hooks made it, if they did. Denied is what is denied by its text, by its paths from the
    /// working directory, or by where those really lead. What the rules ask about is let through where they ask for the same
    /// reason about the call as the run judged it: then a person decided about it.
    pub(crate) async fn denial(
        &self,
        call: &ToolCall,
        changed: Option<&ToolCall>,
        cwd: &Path,
    ) -> Option<ToolOutput> {
        let definition = &self.tools.get(&call.name)?.definition;
        let made = changed.unwrap_or(call);
        // The run knew no directory.
        let known = self.judge(&Judged::by_text(call, definition));
        let mut ways = vec![Judged::by_text(made, definition)];
        if definition
            .arguments
            .values()
            .any(|kind| *kind == ArgumentKind::Path)
        {
            let place = Place::of(cwd).await;
            ways.push(Judged::in_place(made, definition, &place));
            ways.extend(Judged::real(made, definition, &place).await);
        }
        for judged in ways {
            match self.judge(&judged) {
                PermissionDecision::Allow => {}
                PermissionDecision::Deny(reason) => {
                    return Some(ToolOutput::error(format!("denied: {reason}")));
                }
                ask @ PermissionDecision::Ask(_) if ask == known => {}
                PermissionDecision::Ask(asking) => {
                    return Some(ToolOutput::error(
                        judged.nobody_was_asked(&asking.reason, changed.is_some()),
                    ));
                }
            }
        }
        None
    }

    fn judge(&self, judged: &Judged<'_>) -> PermissionDecision {
        self.rules.judge(&judged.call())
    }
}
