use neuron_sandbox::{Backend, Confine};
use neuron_types::{ToolContext, ToolDyn, ToolError, ToolOutput};
use serde_json::Value;
use tokio::task::spawn_blocking;

use crate::sandbox::error::SandboxError;

/// Makes a call of the tool, confined to these rules.
pub(super) async fn call(
    confine: &Confine,
    tool: &dyn ToolDyn,
    input: Value,
    ctx: &ToolContext,
) -> Result<ToolOutput, SandboxError> {
    let name = || tool.name().to_owned();
    let confined = tool
        .with_setting(confine)
        .ok_or_else(|| SandboxError::NotConfinable { tool: name() })?;
    let asked = confine.rules().backend;
    // The first look at a back end starts a process.
    let Ok(chosen) = spawn_blocking(move || Backend::choose(asked)).await else {
        // The runtime ends.
        return Err(ToolError::Cancelled.into());
    };
    chosen.map_err(|source| SandboxError::Unavailable {
        tool: name(),
        source,
    })?;
    if ctx.cancellation_token.is_cancelled() {
        return Err(ToolError::Cancelled.into());
    }
    Ok(confined.call_dyn(input, ctx).await?)
}
