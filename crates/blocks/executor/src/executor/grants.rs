//! What the worker's own agent grants, whatever definition a run carries.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use neuron_types::{
    AgentSpec, ApprovalRules, CallerSetting, FIND_TOOLS, JudgedCall, PermissionDecision, ToolCall,
    ToolDefinition, ToolEffects, ToolOutput,
};

/// What an agent grants now: its tools, and what it denies.
///
/// A run keeps the definition that it began with, which may be older, or may come from a caller who is not to decide
/// here.
#[derive(Debug)]
pub(crate) struct Grants {
    definition: Box<AgentSpec>,
    tools: BTreeMap<String, Granted>,
    /// The tool that finds others, where the agent has none by the name.
    finder: Granted,
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
            finder: Granted {
                effects: ToolEffects::ReadOnly,
                timeout: agent.timeout_of(FIND_TOOLS),
                definition: ToolDefinition {
                    name: FIND_TOOLS.to_owned(),
                    ..ToolDefinition::default()
                },
            },
            rules: agent.approvals.clone(),
            callers_may_allow: agent.callers_may_set.contains(&CallerSetting::Allow),
            is_of_owner: false,
            model_timeout: agent.model_timeout,
            team: team
                .map(|member| (member.name.clone(), Arc::new(Self::of(member))))
                .collect(),
        }
    }

    /// Returns the agent as its worker has it.
    pub(crate) fn definition(&self) -> &AgentSpec {
        &self.definition
    }

    /// Returns the grants of an agent that takes turns.
    pub(crate) fn of_member(&self, agent: &str) -> Option<Arc<Self>> {
        self.team.get(agent).cloned()
    }

    /// Returns what another agent grants in runs that the same person starts.
    pub(crate) fn of_another(&self, agent: &AgentSpec) -> Self {
        let grants = Self::of(agent);
        match self.is_of_owner {
            true => grants.of_owner(),
            false => grants,
        }
    }

    fn granted(&self, tool: &str) -> Option<&Granted> {
        let finder = || (tool == FIND_TOOLS).then_some(&self.finder);
        self.tools.get(tool).or_else(finder)
    }

    /// Returns whether the agent has this tool.
    pub(crate) fn has(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    /// Returns how long an attempt of a model call may take.
    pub(crate) const fn model_timeout(&self) -> Duration {
        self.model_timeout
    }

    /// Returns how long an attempt of a call of this tool may take.
    pub(crate) fn tool_timeout(&self, tool: &str) -> Duration {
        let granted = self.granted(tool);
        granted.map_or(Duration::MAX, |granted| granted.timeout)
    }

    /// Returns the result that answers a call that is not granted; `None` if the call is granted. The run takes the
    /// tool's effects for these.
    pub(crate) fn refusal(&self, call: &ToolCall, taken_for: ToolEffects) -> Option<ToolOutput> {
        let Some(granted) = self.granted(&call.name) else {
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

    /// Takes what a caller who starts a run of the agent [allows](neuron_types::CallerRules::allow), whatever the agent
    /// [lets callers set](AgentSpec::callers_may_set).
    pub(crate) fn of_owner(mut self) -> Self {
        self.callers_may_allow = true;
        self.is_of_owner = true;
        self
    }

    /// Returns what is known of a tool's arguments.
    pub(crate) fn definition_of(&self, tool: &str) -> Option<&ToolDefinition> {
        self.granted(tool).map(|granted| &granted.definition)
    }

    /// Returns what the agent's rules decide about a call that it grants, where the caller who started the run allowed
    /// these calls.
    pub(crate) fn decide(&self, call: &JudgedCall<'_>, allow: &[String]) -> PermissionDecision {
        let allow = if self.callers_may_allow { allow } else { &[] };
        self.rules.judge_allowed(call, allow)
    }
}
