//! What an agent becomes for a run that another one has started.

use crate::{AgentSpec, ApprovalRules, Bounds};

impl AgentSpec {
    /// Returns the bounds of the runs that a run of this definition starts: those that it is held to itself, and its own.
    #[must_use]
    pub fn bounds_of_children(&self) -> Vec<Bounds> {
        let tools = self.head.tools.iter();
        let own = Bounds {
            tools: tools.map(|tool| tool.name.clone()).collect(),
            approvals: ApprovalRules {
                remembered: Vec::new(),
                ..self.approvals.clone()
            },
            caller_rules: self.caller_rules.clone(),
        };
        let above = self.bounds.iter().cloned();
        above.chain([own]).collect()
    }

    /// Returns the definition for a run that another one has started whose children are held to these bounds: it does what
    /// this definition says and no more than each of them.
    ///
    /// Tools that one of the definitions lacks are taken away, and calls are judged by the rules of all: a call that
    /// one set of rules rejects is rejected, and a call that one asks a person about is asked about. The agents that
    /// this one may start itself, or hand the run over to, stay: what they do is held to these bounds, and to this
    /// agent's own bounds if it starts them.
    ///
    /// The agents that take turns in a [workflow](Self::team) are held to the same. To hold a definition to the same bounds
    /// once more changes nothing.
    #[must_use]
    pub fn attenuated(&self, bounds: &[Bounds]) -> Self {
        let mut agent = self.clone();
        agent.hold_to(bounds);
        for member in agent.team.iter_mut().flatten() {
            member.hold_to(bounds);
        }
        agent
    }

    fn hold_to(&mut self, bounds: &[Bounds]) {
        let own = self.own_tools();
        let may_use = |tool: &str| bounds.iter().all(|bounds| bounds.tools.contains(tool));
        let is_cut = |tool: &str| !own.contains(tool) && !may_use(tool);
        if self.head.tools.iter().any(|tool| is_cut(&tool.name)) {
            let tools = &mut self.head_mut().tools;
            tools.retain(|tool| !is_cut(&tool.name));
        }
        let new = bounds.iter().filter(|it| !self.bounds.contains(it));
        let new: Vec<Bounds> = new.cloned().collect();
        self.bounds.extend(new);
    }
}
