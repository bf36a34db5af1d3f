//! Which calls of a step are made, as the executor that makes them sees it.

use std::{borrow::Cow, path::Path};

use neuron_tool::ToolRegistry;
use neuron_types::{
    ArgumentKind, Asking, Bounds, JudgedCall, PermissionDecision, ToolCall, ToolDefinition,
    ToolOutput,
};

use super::{
    grants::Grants,
    place::{Judged, Place},
};

/// What the calls of one tool are judged by: the rules of the worker's own agent, and the bounds of the run.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    /// `None` where nothing says what is granted, or not this tool.
    grants: Option<&'a Grants>,
    bounds: &'a [Bounds],
    /// What the caller who started the run allowed.
    allow: &'a [String],
    /// What is known of the tool's arguments.
    definition: Option<Cow<'a, ToolDefinition>>,
    cwd: &'a Path,
}

impl<'a> Judge<'a> {
    /// Returns what judges calls of this tool. Where nothing is granted, a registered tool of this name states what its
    /// arguments are.
    pub(crate) fn new(
        tool: &str,
        grants: Option<&'a Grants>,
        tools: &ToolRegistry,
        bounds: &'a [Bounds],
        cwd: &'a Path,
    ) -> Self {
        let granted = grants.and_then(|grants| grants.definition_of(tool));
        let registered = || tools.get(tool).map(|tool| tool.definition());
        let definition = match granted {
            Some(granted) => Some(Cow::Borrowed(granted)),
            None if bounds.is_empty() => None,
            None => registered().map(Cow::Owned),
        };
        Self {
            grants: grants.filter(|_| granted.is_some()),
            bounds,
            allow: &[],
            definition,
            cwd,
        }
    }

    /// Sets what the caller who started the run allowed. Default is nothing.
    pub(crate) const fn allowing(mut self, allow: &'a [String]) -> Self {
        self.allow = allow;
        self
    }

    /// Returns what is known of the tool's arguments.
    pub(crate) fn definition(&self) -> Option<&ToolDefinition> {
        self.definition.as_deref()
    }

    /// Returns what the rules say of a call.
    ///
    /// A call is denied if it is denied by its text, by its paths from the working directory, or by where those paths
    /// really lead. People are asked about it if one of these ways asks: of those who decide, the ones whom the last of
    /// the ways names, and as many as any of them wants. What several agents ask about is one question, and if no
    /// person serves all of them the call is denied.
    pub(crate) async fn judge(&self, call: &ToolCall) -> PermissionDecision {
        if self.grants.is_none() && self.bounds.is_empty() {
            return PermissionDecision::Allow;
        }
        let ways = Box::pin(self.ways(call)).await;
        let own = in_all(&ways, |call| self.own(call));
        self.bounds.iter().fold(own, |decision, bounds| {
            decision.and(in_all(&ways, |call| bounds.judge(call)))
        })
    }

    /// Returns what a call is answered with that hooks have changed so that the rules do not allow it; `None` if they
    /// do.
    ///
    /// What the rules ask about is allowed where they ask for the same reason about the call as it was: then a person
    /// decided about it.
    pub(crate) async fn refused_change(
        &self,
        call: &ToolCall,
        changed: &ToolCall,
    ) -> Option<ToolOutput> {
        if self.grants.is_none() && self.bounds.is_empty() {
            return None;
        }
        let known = self.decide(&Judged::by_text(call, self.definition()).call());
        for judged in self.ways(changed).await {
            match self.decide(&judged.call()) {
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

    /// Returns what all rules together say of a call in one of its ways.
    fn decide(&self, call: &JudgedCall<'_>) -> PermissionDecision {
        self.bounds.iter().fold(self.own(call), |decision, bounds| {
            decision.and(bounds.judge(call))
        })
    }

    fn own(&self, call: &JudgedCall<'_>) -> PermissionDecision {
        self.grants.map_or(PermissionDecision::Allow, |grants| {
            grants.decide(call, self.allow)
        })
    }

    /// Returns a call in the ways in which it is judged: by its text, by its paths from the working directory, and by
    /// where those really lead.
    async fn ways<'b>(&'b self, call: &'b ToolCall) -> Vec<Judged<'b>> {
        let definition = self.definition();
        let mut ways = vec![Judged::by_text(call, definition)];
        let mut kinds = definition.into_iter().flat_map(|it| it.arguments.values());
        if kinds.any(|kind| *kind == ArgumentKind::Path) {
            let place = Place::of(self.cwd).await;
            ways.push(Judged::in_place(call, definition, &place));
            ways.extend(Judged::real(call, definition, &place).await);
        }
        ways
    }
}

/// Returns what one agent's rules say of a call that is judged in several ways.
fn in_all(
    ways: &[Judged<'_>],
    decide: impl Fn(&JudgedCall<'_>) -> PermissionDecision,
) -> PermissionDecision {
    let mut asked: Option<Asking> = None;
    for judged in ways {
        match decide(&judged.call()) {
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

/// Returns what a call is answered with that the rules deny.
pub(crate) fn denied(reason: &str) -> String {
    format!("denied: {reason}")
}
