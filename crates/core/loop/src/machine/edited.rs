//! Arguments that a person puts in the place of the model's.

use neuron_types::{
    Asking, Decision, PermissionDecision, PermissionPolicy as _, Ticket, ToolDefinition,
};

use crate::AgentMachine;

impl AgentMachine {
    /// Returns why the call cannot be made with the arguments of a decision; `None` if it can be, or the decision has
    /// no arguments.
    ///
    /// The arguments have to fit the tool's schema, and the rules must not deny them. Where the rules put such
    /// arguments to other approvers than the ticket, or to more approvers, a decider of the ticket does not decide
    /// about the arguments.
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
            PermissionDecision::Ask(asking) => for_others(&open.ticket, &asking),
            PermissionDecision::Allow => None,
        })
    }
}

/// Who decides about the arguments, if those that a ticket is put to do not.
fn for_others(ticket: &Ticket, asking: &Asking) -> Option<String> {
    let from = asking.from.as_deref();
    // It may have been put to those already who are asked next.
    let is_put_to = |who: Option<&str>| who.is_some() && who == ticket.from.as_deref();
    let is_for_them = from.is_none() || is_put_to(from) || is_put_to(asking.then.as_deref());
    let (needed, asked) = (asking.needed.max(1), ticket.needed.max(1));
    if is_for_them && needed <= asked {
        return None;
    }
    let who = match (from, needed) {
        (None, needed) => format!("{needed} people decide"),
        (Some(from), 1) => format!("{from} decides"),
        (Some(from), needed) => format!("{needed} of {from} decide"),
    };
    Some(format!("{who} about these arguments: {}", asking.reason))
}
