//! What the worker's own agent grants, whatever definition a run carries.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use neuron_types::{
    AgentSpec, ApprovalRules, ArgumentKind, Asking, CallerSetting, PermissionDecision, ToolCall,
    ToolDefinition, ToolEffects, ToolOutput,
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
    callers_may_allow: bool,
    /// Its owner starts the runs.
    is_of_owner: bool,
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
            callers_may_allow: agent.callers_may_set.contains(&CallerSetting::Allow),
            is_of_owner: false,
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

    /// What another agent grants in runs that the same person starts.
    pub(crate) fn of_another(&self, agent: &AgentSpec) -> Self {
        let grants = Self::of(agent);
        match self.is_of_owner {
            true => grants.of_owner(),
            false => grants,
        }
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

    /// Takes what whoever starts a run of the agent [allows](neuron_types::CallerRules::allow), whatever the agent
    /// [lets callers set](AgentSpec::callers_may_set).
    pub(crate) fn of_owner(mut self) -> Self {
        self.callers_may_allow = true;
        self.is_of_owner = true;
        self
    }

    /// What the agent's rules say of a call, where whoever started the run allowed these calls.
    ///
    /// Denied is what is denied by its text, by its paths from the working directory, or by where those really lead. Asked
    /// about is what is asked about in one of these ways: of those who decide, it is the ones whom the last of them names,
    /// and as many as any of them wants.
    pub(crate) async fn judge(
        &self,
        call: &ToolCall,
        allow: &[String],
        cwd: &Path,
    ) -> PermissionDecision {
        let Some(granted) = self.tools.get(&call.name) else {
            return PermissionDecision::Allow;
        };
        let mut asked: Option<Asking> = None;
        for judged in ways(call, &granted.definition, cwd).await {
            match self.judge_in(&judged, allow) {
                PermissionDecision::Allow => {}
                denied @ PermissionDecision::Deny(_) => return denied,
                PermissionDecision::Ask(asking) => {
                    let before = asked.map_or(1, |asking| asking.needed);
                    let needed = asking.needed.max(before);
                    asked = Some(Asking { needed, ..asking });
                }
            }
        }
        asked.map_or(PermissionDecision::Allow, PermissionDecision::Ask)
    }

    /// What a call is answered with that hooks have changed so that the agent's rules do not let it through; `None` if they
    /// do.
    ///
    /// What the rules ask about is let through where they ask for the same reason about the call as it was: then a person
    /// decided about it.
    pub(crate) async fn refused_change(
        &self,
        call: &ToolCall,
        changed: &ToolCall,
        allow: &[String],
        cwd: &Path,
    ) -> Option<ToolOutput> {
        let definition = &self.tools.get(&call.name)?.definition;
        let known = self.judge_in(&Judged::by_text(call, definition), allow);
        for judged in ways(changed, definition, cwd).await {
            match self.judge_in(&judged, allow) {
                PermissionDecision::Allow => {}
                PermissionDecision::Deny(reason) => {
                    return Some(ToolOutput::error(denied(&reason)));
                }
                ask @ PermissionDecision::Ask(_) if ask == known => {}
                PermissionDecision::Ask(Asking { reason, .. }) => {
                    return Some(ToolOutput::error(format!(
                        "not called: {reason}, and nobody was asked about what a hook made of it"
                    )));
                }
            }
        }
        None
    }

    /// What is known of a tool's arguments.
    pub(crate) fn definition_of(&self, tool: &str) -> Option<&ToolDefinition> {
        self.tools.get(tool).map(|granted| &granted.definition)
    }

    fn judge_in(&self, judged: &Judged<'_>, allow: &[String]) -> PermissionDecision {
        let allow = if self.callers_may_allow { allow } else { &[] };
        self.rules.judge_allowed(&judged.call(), allow)
    }
}

/// What a call is answered with that the rules deny.
pub(crate) fn denied(reason: &str) -> String {
    format!("denied: {reason}")
}

/// A call by its text, by its paths from the working directory, and by where those really lead.
async fn ways<'a>(
    call: &'a ToolCall,
    definition: &'a ToolDefinition,
    cwd: &Path,
) -> Vec<Judged<'a>> {
    let mut ways = vec![Judged::by_text(call, definition)];
    let mut kinds = definition.arguments.values();
    if kinds.any(|kind| *kind == ArgumentKind::Path) {
        let place = Place::of(cwd).await;
        ways.push(Judged::in_place(call, definition, &place));
        ways.extend(Judged::real(call, definition, &place).await);
    }
    ways
}
