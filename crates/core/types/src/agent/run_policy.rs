//! Which calls of a run are made, rejected, or put to a person.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    ApprovalRules, Bounds, CallerRules, JudgedCall, PermissionDecision, PermissionPolicy,
    ToolDefinition, ticket::policy::Weighed,
};

/// The policy of a run: the rules of its agent, and those that its caller added.
///
/// What either denies is denied. What the caller allows is made then, and what either asks about is asked about. What
/// neither says anything of is made.
///
/// It compares what calls do and not how they are spelled, where it knows [which tools](Self::with_tools) there are: see
/// [`CallPattern`](crate::CallPattern).
#[derive(Debug, Clone)]
pub struct RunPolicy {
    own: Rules,
    /// What the run may do at most, since others started it.
    bounds: Vec<(BTreeSet<String>, Rules)>,
    /// The tools that start agents or hand the run over to one, which none of these has to have.
    own_tools: BTreeSet<String>,
    /// Those that say what their arguments are for, without anything else of them.
    tools: Vec<ToolDefinition>,
    directory: Option<String>,
}

impl ApprovalRules {
    /// Returns the policy of these rules alone, for calls of these tools.
    #[must_use]
    pub fn for_tools<'a>(self, tools: impl IntoIterator<Item = &'a ToolDefinition>) -> RunPolicy {
        RunPolicy::new(self, &CallerRules::default()).with_tools(tools)
    }
}

impl RunPolicy {
    /// Returns the policy of these rules, which compares arguments as texts.
    #[must_use]
    pub fn new(agent: ApprovalRules, caller: &CallerRules) -> Self {
        Self {
            own: Rules::new(agent, caller),
            bounds: Vec::new(),
            own_tools: BTreeSet::new(),
            tools: Vec::new(),
            directory: None,
        }
    }

    /// Holds the run to these bounds: what the rules of one bound reject is rejected, and what they ask about is asked
    /// about. A call of a tool that one bound does not have is rejected, unless it is one of the run's own tools, which
    /// start an agent or hand the run over to one: what that agent does is held to the bounds, too. Default is no
    /// bounds.
    #[must_use]
    pub fn within(mut self, bounds: &[Bounds], own: BTreeSet<String>) -> Self {
        self.own_tools = own;
        let bounds = bounds.iter().map(|bounds| {
            let rules = Rules::new(bounds.approvals.clone(), &bounds.caller_rules);
            (bounds.tools.clone(), rules)
        });
        self.bounds.extend(bounds);
        self
    }

    /// Sets what the arguments of these tools [are for](ToolDefinition::arguments). Default is no tools.
    #[must_use]
    pub fn with_tools<'a>(mut self, tools: impl IntoIterator<Item = &'a ToolDefinition>) -> Self {
        let tools = tools.into_iter().filter(|tool| !tool.arguments.is_empty());
        self.tools.extend(tools.map(|tool| ToolDefinition {
            name: tool.name.clone(),
            arguments: tool.arguments.clone(),
            ..ToolDefinition::default()
        }));
        self
    }

    /// Sets the directory that paths start in, from the root. Default is that the directory is unknown: then a path
    /// that starts at the root or goes above the directory is allowed by no pattern of paths inside, and is restricted
    /// by those that fit an end of it.
    #[must_use]
    pub fn in_directory(mut self, directory: impl Into<String>) -> Self {
        self.directory = Some(directory.into());
        self
    }
}

impl PermissionPolicy for RunPolicy {
    fn check(&self, tool_name: &str, input: &Value) -> PermissionDecision {
        let definition = self.tools.iter().find(|tool| tool.name == tool_name);
        let kinds = definition.map(|definition| &definition.arguments);
        let call = JudgedCall::new(tool_name, input, kinds, self.directory.as_deref());
        let own = self.own.decide(&call);
        self.bounds.iter().fold(own, |decision, (tools, rules)| {
            if !tools.contains(tool_name) && !self.own_tools.contains(tool_name) {
                return PermissionDecision::Deny(lacks(tool_name));
            }
            decision.and(rules.decide(&call))
        })
    }
}

impl Bounds {
    /// Decides about a call of a run that is held to these bounds: a call of a tool that they lack is rejected, and the
    /// others are judged by their rules.
    #[must_use]
    pub fn judge(&self, call: &JudgedCall<'_>) -> PermissionDecision {
        let tool = call.tool();
        if !self.tools.contains(tool) {
            return PermissionDecision::Deny(lacks(tool));
        }
        Rules::new(self.approvals.clone(), &self.caller_rules).decide(call)
    }
}

fn lacks(tool: &str) -> String {
    format!("the agent that started it has no tool {tool}")
}

/// The rules of one agent in one run.
#[derive(Debug, Clone)]
struct Rules {
    agent: ApprovalRules,
    /// Of the caller.
    strict: ApprovalRules,
    lenient: ApprovalRules,
}

impl Rules {
    fn new(agent: ApprovalRules, caller: &CallerRules) -> Self {
        Self {
            agent,
            strict: caller.strict(),
            lenient: caller.lenient(),
        }
    }

    fn decide(&self, call: &JudgedCall<'_>) -> PermissionDecision {
        let (agent, caller) = (self.agent.weigh(call), self.strict.weigh(call));
        let is_allowed = self.lenient.weigh(call) == Weighed::Allowed;
        match (agent, caller) {
            (Weighed::Denied(reason), _) | (_, Weighed::Denied(reason)) => {
                PermissionDecision::Deny(reason)
            }
            (Weighed::MaybeDenied(asking), _) | (_, Weighed::MaybeDenied(asking)) => {
                PermissionDecision::Ask(asking)
            }
            _ if is_allowed => PermissionDecision::Allow,
            (Weighed::Asked(asking), _) | (_, Weighed::Asked(asking)) => {
                PermissionDecision::Ask(asking)
            }
            _ => PermissionDecision::Allow,
        }
    }
}
