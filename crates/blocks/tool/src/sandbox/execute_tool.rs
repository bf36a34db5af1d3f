use std::future::Future;

use neuron_types::{ToolContext, ToolDyn, ToolOutput, WasmCompatSend, WasmCompatSync};
use serde_json::Value;

use crate::sandbox::error::SandboxError;

/// What makes calls of tools confined.
///
/// [`neuron_sandbox::Sandbox`] says what may be reached; this trait makes calls stay within it.
///
/// # Examples
///
/// One that makes calls in another, and counts those that it did not make:
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// use neuron_tool::{
///     ToolContext, ToolDyn, ToolOutput, neuron_tool,
///     sandbox::{ProcessSandbox, Sandbox, SandboxError},
/// };
/// use serde_json::{Value, json};
///
/// struct Counting(ProcessSandbox, AtomicU32);
///
/// impl Sandbox for Counting {
///     async fn execute_tool(
///         &self,
///         tool: &dyn ToolDyn,
///         input: Value,
///         ctx: &ToolContext,
///     ) -> Result<ToolOutput, SandboxError> {
///         let result = self.0.execute_tool(tool, input, ctx).await;
///         if matches!(result, Err(SandboxError::NotConfinable { .. })) {
///             self.1.fetch_add(1, Ordering::Relaxed);
///         }
///         result
///     }
/// }
///
/// /// Greets.
/// #[neuron_tool(read_only)]
/// async fn greet() -> Result<String, std::io::Error> {
///     Ok("hello".into())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let sandbox = Counting(ProcessSandbox::workspace(), AtomicU32::new(0));
/// let refused = sandbox.execute_tool(&GreetTool, json!({}), &ToolContext::default()).await;
/// assert!(refused.is_err());
/// assert_eq!(sandbox.1.into_inner(), 1);
/// # }
/// ```
pub trait Sandbox: WasmCompatSend + WasmCompatSync {
    /// Makes a call of the tool, with no effect outside of the sandbox. Dropping the future stops it.
    ///
    /// A tool whose own sandbox certainly allows no more keeps that one.
    ///
    /// # Errors
    ///
    /// [`SandboxError::NotConfinable`] and [`SandboxError::Unavailable`]: nothing was done.
    /// [`SandboxError::Tool`]: the tool was called and failed, or the call was cancelled.
    fn execute_tool(
        &self,
        tool: &dyn ToolDyn,
        input: Value,
        ctx: &ToolContext,
    ) -> impl Future<Output = Result<ToolOutput, SandboxError>> + WasmCompatSend;
}
