use std::fmt;

use neuron_types::{
    Hook, HookAction, HookEvent, ToolContext, ToolError, ToolOutput, WasmBoxedFuture,
};
use tracing::warn;

use crate::middleware::{Next, ToolCall, ToolMiddleware};

/// Asks a hook before and after each call, as the executor does with the hooks that it is given.
///
/// | The hook says | Before the call | After it |
/// | --- | --- | --- |
/// | [`HookAction::Continue`] | it is made | its result counts |
/// | [`HookAction::ModifyToolInput`] | it is made with this input | its result counts |
/// | [`HookAction::Skip`] | it is not made; the model reads the reason | the run ends |
/// | [`HookAction::Terminate`] | the run ends | the run ends |
///
/// The run ends by [`ToolError::Terminated`]. A hook that fails is logged and counts as having said
/// `Continue`. After a call that failed the hook is not asked. As a layer, a hook can be for one tool only,
/// and stand inside or outside other layers; hooks for the whole run are given to the executor.
pub struct HookRunner<H> {
    hook: H,
}

impl<H: Hook> HookRunner<H> {
    /// Makes a layer that asks this hook.
    pub const fn new(hook: H) -> Self {
        Self { hook }
    }

    async fn ask(&self, event: &HookEvent<'_>) -> HookAction {
        self.hook.on_event(event).await.unwrap_or_else(|error| {
            warn!(%error, "a hook failed and is ignored");
            HookAction::Continue
        })
    }
}

impl<H: Hook> ToolMiddleware for HookRunner<H> {
    fn process<'a>(
        &'a self,
        call: &'a ToolCall,
        ctx: &'a ToolContext,
        next: Next<'a>,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let before = HookEvent::PreToolExecution {
                tool_name: &call.name,
                input: &call.input,
            };
            let output = match self.ask(&before).await {
                HookAction::Continue => next.run(call, ctx).await?,
                HookAction::ModifyToolInput { input } => {
                    let changed = ToolCall {
                        input,
                        ..call.clone()
                    };
                    next.run(&changed, ctx).await?
                }
                HookAction::Skip { reason } => {
                    return Ok(ToolOutput::error(format!(
                        "the call was not made: {reason}"
                    )));
                }
                HookAction::Terminate { reason } => return Err(ToolError::Terminated(reason)),
            };
            let after = HookEvent::PostToolExecution {
                tool_name: &call.name,
                output: &output,
            };
            match self.ask(&after).await {
                HookAction::Continue | HookAction::ModifyToolInput { .. } => Ok(output),
                HookAction::Skip { reason } | HookAction::Terminate { reason } => {
                    Err(ToolError::Terminated(reason))
                }
            }
        })
    }
}

impl<H> fmt::Debug for HookRunner<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookRunner").finish_non_exhaustive()
    }
}
