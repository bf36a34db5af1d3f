//! What differs between two definitions of an agent.

use crate::{AgentSpec, ApprovalRules, RequestHead, ToolDefinition};

impl AgentSpec {
    /// Returns what is another in this definition than in the one before, in short words: `instructions`, `model`,
    /// `skills`, `tool added: NAME`, `tool removed: NAME`, `tool changed: NAME`, `output`, `input`, `rules`, `limits`, `context`, and
    /// `settings` for the rest. No text of either is among them. What people decided for the rest of a run is not looked at.
    #[must_use]
    pub fn changes_from(&self, before: &Self) -> Vec<String> {
        let (new, old) = (&*self.head, &*before.head);
        let mut changes = Vec::new();
        let mut note = |is_changed: bool, what: &str| {
            if is_changed {
                changes.push(what.to_owned());
            }
        };
        note(new.system != old.system, "instructions");
        note(!new.models().eq(old.models()), "model");
        note(new.response_format != old.response_format, "output");
        note(self.input != before.input, "input");
        let rules = same_rules(&self.approvals, &before.approvals);
        note(!rules || self.caller_rules != before.caller_rules, "rules");
        note(self.limits != before.limits, "limits");
        note(self.context != before.context, "context");
        note(self.skills != before.skills, "skills");
        note(self.rest() != before.rest(), "settings");
        changes.extend(changed_tools(&new.tools, &old.tools));
        changes
    }

    /// The definition with nothing in it that is named by itself.
    fn rest(&self) -> Self {
        Self {
            head: RequestHead {
                provider: None,
                model: String::new(),
                fallback_models: Vec::new(),
                system: None,
                tools: Vec::new(),
                response_format: None,
                ..RequestHead::clone(&self.head)
            }
            .into(),
            input: None,
            approvals: ApprovalRules::default(),
            caller_rules: crate::CallerRules::default(),
            limits: crate::Limits::default(),
            context: crate::ContextPolicy::default(),
            skills: Vec::new(),
            signed: false,
            ..self.clone()
        }
    }

    /// Takes over what people decided in a run with this definition: what they decided about tools that are as they were,
    /// if the rules are.
    pub fn keep_decisions_of(&mut self, before: &Self) {
        if !same_rules(&self.approvals, &before.approvals)
            || self.caller_rules != before.caller_rules
        {
            return;
        }
        let decided = before.approvals.remembered.iter();
        let kept =
            decided.filter(|decision| self.tool(&decision.tool) == before.tool(&decision.tool));
        self.approvals.remembered = kept.cloned().collect();
    }

    fn tool(&self, name: &str) -> Option<&ToolDefinition> {
        self.head.tools.iter().find(|tool| tool.name == name)
    }
}

fn same_rules(one: &ApprovalRules, other: &ApprovalRules) -> bool {
    (&one.allow, &one.approve, &one.deny) == (&other.allow, &other.approve, &other.deny)
}

fn changed_tools(new: &[ToolDefinition], old: &[ToolDefinition]) -> Vec<String> {
    let of = |tools: &'_ [ToolDefinition], name: &str| {
        tools.iter().find(|tool| tool.name == name).cloned()
    };
    let kept_or_added = new.iter().filter_map(|tool| match of(old, &tool.name) {
        None => Some(format!("tool added: {}", tool.name)),
        Some(before) if before != *tool => Some(format!("tool changed: {}", tool.name)),
        Some(_) => None,
    });
    let removed = old.iter().filter(|tool| of(new, &tool.name).is_none());
    let removed = removed.map(|tool| format!("tool removed: {}", tool.name));
    kept_or_added.chain(removed).collect()
}
