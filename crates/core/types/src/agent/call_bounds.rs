//! What the calls of one tool are held to beside the rules of the agent that makes them.

use std::{borrow::Cow, collections::BTreeSet};

use crate::{AgentSpec, ApprovalRules, Bounds, CallPattern, CallerRules, FIND_TOOLS, SkillSpec};

impl AgentSpec {
    /// Returns what a run of this definition holds calls of this tool to, beside the agent's own rules: the bounds of
    /// the runs that others start, and the calls that the caller who started it denies or asks about. Of each bound,
    /// only what is about this tool is returned, and no bound without rules for the tool.
    #[must_use]
    pub fn bounds_of_call(&self, tool: &str) -> Vec<Bounds> {
        let mut all: Vec<Bounds> = Vec::new();
        let is_own = match tool {
            FIND_TOOLS => self.may_search_tools(),
            SkillSpec::TOOL => !self.skills.is_empty(),
            _ => false,
        };
        for bounds in &self.bounds {
            let mut bounds = Cow::Borrowed(bounds);
            if is_own {
                // The run that started it need not have many tools, and has other skills.
                bounds.to_mut().tools.insert(tool.to_owned());
            }
            let bounds = bounds.of_tool(tool);
            if bounds.restricts() && !all.contains(&bounds) {
                all.push(bounds);
            }
        }
        // The agent's own rules are those that the worker has.
        let of_caller = Bounds {
            tools: [tool.to_owned()].into(),
            approvals: ApprovalRules::default(),
            caller_rules: self.caller_rules.of_tool(tool),
        };
        if of_caller.restricts() && !all.contains(&of_caller) {
            all.push(of_caller);
        }
        all
    }
}

impl Bounds {
    /// Returns what the rules say of calls of this tool.
    fn of_tool(&self, tool: &str) -> Self {
        let approve = self.approvals.approve.iter();
        let tools: BTreeSet<String> = self.tools.get(tool).cloned().into_iter().collect();
        if tools.is_empty() {
            // No rule changes that the call is rejected.
            return Self::default();
        }
        Self {
            tools,
            approvals: ApprovalRules {
                allow: of_tool(&self.approvals.allow, tool),
                approve: approve
                    .filter(|rule| is_about(&rule.call, tool))
                    .cloned()
                    .collect(),
                deny: of_tool(&self.approvals.deny, tool),
                remembered: Vec::new(),
            },
            caller_rules: self.caller_rules.of_tool(tool),
        }
    }

    /// Returns whether the rules may reject a call of their tool, or ask about it.
    fn restricts(&self) -> bool {
        let (agent, caller) = (&self.approvals, &self.caller_rules);
        let asks = !agent.approve.is_empty() || !caller.ask.is_empty();
        self.tools.is_empty() || asks || !agent.deny.is_empty() || !caller.deny.is_empty()
    }
}

impl CallerRules {
    fn of_tool(&self, tool: &str) -> Self {
        Self {
            allow: of_tool(&self.allow, tool),
            ask: of_tool(&self.ask, tool),
            deny: of_tool(&self.deny, tool),
        }
    }
}

fn of_tool(entries: &[String], tool: &str) -> Vec<String> {
    let about = entries.iter().filter(|entry| is_about(entry, tool));
    about.cloned().collect()
}

/// Returns whether an entry can be for calls of this tool, or except them. One that cannot be read is for all.
fn is_about(entry: &str, tool: &str) -> bool {
    let pattern = CallPattern::parse(entry.strip_prefix('!').unwrap_or(entry));
    pattern.is_none_or(|pattern| pattern.matches_tool(tool))
}
