//! Arguments that a person puts in the place of the model's.

use neuron_types::{Decision, PermissionDecision, PermissionPolicy as _, ToolDefinition};

use crate::AgentMachine;

impl AgentMachine {
    /// Why the call cannot be made with the arguments of a decision; `None` if it can be, or there are none.
    ///
    /// They have to fit the tool's schema, and the rules must not deny them. Nobody else is asked about them: they are what
    /// the person decided.
    pub(crate) fn refused_edit(&self, decision: &Decision) -> Option<String> {
        let args = decision.args.as_ref()?;
        let mut tickets = self.state.tickets.iter();
        let open = tickets.find(|open| open.ticket.ticket == decision.ticket)?;
        let tool = open.edited_tool(decision)?;
        let agent = &self.state.agent;
        let is_called = |known: &&ToolDefinition| known.name == tool;
        let misfit = match agent.head.tools.iter().find(is_called) {
            Some(tool) => tool.misfit(args),
            None => ToolDefinition::default().misfit(args),
        };
        misfit.or_else(|| match agent.policy().check(tool, args) {
            PermissionDecision::Deny(reason) => Some(reason),
            PermissionDecision::Allow | PermissionDecision::Ask(_) => None,
        })
    }
}
