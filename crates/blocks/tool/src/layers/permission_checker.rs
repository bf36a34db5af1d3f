use std::fmt;

use neuron_types::{
    PermissionDecision, PermissionPolicy, ToolContext, ToolError, ToolOutput, WasmBoxedFuture,
};

use crate::middleware::{Next, ToolCall, ToolMiddleware};

/// Rejects calls that a [`PermissionPolicy`] does not allow, with [`ToolError::PermissionDenied`].
///
/// No person can be asked here, so [`PermissionDecision::Ask`] is rejected too. Where a person is to decide, give the
/// policy to the loop, which opens a ticket.
///
/// ```
/// use neuron_tool::{
///     BuiltinOptions, ToolContext, ToolError, ToolRegistry, builtin::PermissionChecker, builtin_tools,
/// };
/// use neuron_types::ApprovalRules;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut registry = ToolRegistry::from_iter(builtin_tools(&BuiltinOptions::default()));
/// let rules = ApprovalRules {
///     deny: vec!["bash(command=git push*)".into()],
///     ..ApprovalRules::default()
/// };
/// // The tools say what their arguments are for: without them, arguments are compared as texts.
/// let policy = rules.for_tools(&registry.definitions());
/// registry.add_middleware(PermissionChecker::new(policy));
///
/// let ctx = ToolContext::default();
/// let push = registry.execute("bash", json!({"command": "true && git 'push'"}), &ctx).await;
/// assert!(matches!(push, Err(ToolError::PermissionDenied(_))));
/// assert!(registry.execute("bash", json!({"command": "true"}), &ctx).await.is_ok());
/// # }
/// ```
pub struct PermissionChecker<P> {
    policy: P,
}

impl<P: PermissionPolicy> PermissionChecker<P> {
    /// Makes a checker with this policy.
    pub fn new(policy: P) -> Self {
        Self { policy }
    }
}

impl<P: PermissionPolicy> ToolMiddleware for PermissionChecker<P> {
    fn process<'a>(
        &'a self,
        call: &'a ToolCall,
        ctx: &'a ToolContext,
        next: Next<'a>,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        match self.policy.check(&call.name, &call.input) {
            PermissionDecision::Allow => next.run(call, ctx),
            PermissionDecision::Deny(reason) => {
                Box::pin(async { Err(ToolError::PermissionDenied(reason)) })
            }
            PermissionDecision::Ask(asking) => Box::pin(async move {
                Err(ToolError::PermissionDenied(format!(
                    "{}, and there is nobody to ask",
                    asking.reason
                )))
            }),
        }
    }
}

impl<P> fmt::Debug for PermissionChecker<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermissionChecker").finish_non_exhaustive()
    }
}
