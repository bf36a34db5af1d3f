//! Layers around tool calls: to log, check, change, refuse or answer them.
//!
//! A layer gets the call, its surroundings and a [`Next`], which stands for all that is further inside. It
//! answers with what [`Next::run`] answers, with something made of it, or without running it at all.
//!
//! Layers run in the order in which they were added, from the outside in:
//!
//! 1. those of [`ToolRegistry::add_middleware`](crate::ToolRegistry::add_middleware), for every tool;
//! 2. those of [`ToolRegistry::add_tool_middleware`](crate::ToolRegistry::add_tool_middleware);
//! 3. the tool.

use std::{fmt, sync::Arc};

pub use neuron_types::ToolCall;
use neuron_types::{
    ToolContext, ToolDyn, ToolError, ToolOutput, WasmBoxedFuture, WasmCompatSend, WasmCompatSync,
};

/// One layer around tool calls.
///
/// Runs in the executor, once per attempt of a call, and may do I/O. Dropping its future must stop what it
/// does, as with a tool. For a layer that is one function see [`tool_middleware_fn`].
pub trait ToolMiddleware: WasmCompatSend + WasmCompatSync {
    /// Answers the call, with `next` or instead of it.
    ///
    /// # Errors
    ///
    /// What `next` failed with, or a failure of its own: see [`ToolError`] for what each variant means to
    /// the run.
    fn process<'a>(
        &'a self,
        call: &'a ToolCall,
        ctx: &'a ToolContext,
        next: Next<'a>,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>>;
}

/// The layers that are further inside, and the tool.
pub struct Next<'a> {
    outer: &'a [Arc<dyn ToolMiddleware>],
    inner: &'a [Arc<dyn ToolMiddleware>],
    tool: &'a dyn ToolDyn,
}

impl<'a> Next<'a> {
    pub(crate) fn new(
        outer: &'a [Arc<dyn ToolMiddleware>],
        inner: &'a [Arc<dyn ToolMiddleware>],
        tool: &'a dyn ToolDyn,
    ) -> Self {
        Self { outer, inner, tool }
    }

    /// The tool, if there is no layer around it.
    pub(crate) fn bare_tool(&self) -> Option<&'a dyn ToolDyn> {
        (self.outer.is_empty() && self.inner.is_empty()).then_some(self.tool)
    }

    /// Runs them. Consumes itself, so that a layer cannot make a call twice.
    ///
    /// `call` and `ctx` need not be those that the layer was given: the tool gets these arguments. The tool
    /// is chosen already, so another [`ToolCall::name`] changes nothing.
    ///
    /// # Errors
    ///
    /// What a layer or the tool fails with.
    #[must_use = "nothing runs unless this is awaited"]
    pub fn run<'b>(
        self,
        call: &'b ToolCall,
        ctx: &'b ToolContext,
    ) -> WasmBoxedFuture<'b, Result<ToolOutput, ToolError>>
    where
        'a: 'b,
    {
        let Self { outer, inner, tool } = self;
        if let Some((layer, outer)) = outer.split_first() {
            layer.process(call, ctx, Self { outer, inner, tool })
        } else if let Some((layer, inner)) = inner.split_first() {
            layer.process(call, ctx, Self { outer, inner, tool })
        } else {
            tool.call_dyn(call.input.clone(), ctx)
        }
    }
}

impl fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next")
            .field("tool", &self.tool.name())
            .field("layers", &(self.outer.len() + self.inner.len()))
            .finish()
    }
}

/// Makes a layer of a closure that returns a boxed future.
///
/// # Examples
///
/// ```
/// use neuron_tool::{ToolRegistry, tool_middleware_fn};
/// use neuron_types::ToolError;
///
/// let mut registry = ToolRegistry::new();
/// registry.add_middleware(tool_middleware_fn(|call, ctx, next| {
///     Box::pin(async move {
///         if call.input.get("url").is_some_and(|url| url == "http://localhost") {
///             return Err(ToolError::ModelRetry("use a public address".into()));
///         }
///         next.run(call, ctx).await
///     })
/// }));
/// ```
pub fn tool_middleware_fn<F>(f: F) -> impl ToolMiddleware
where
    F: for<'a> Fn(
            &'a ToolCall,
            &'a ToolContext,
            Next<'a>,
        ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>>
        + WasmCompatSend
        + WasmCompatSync,
{
    MiddlewareFn(f)
}

struct MiddlewareFn<F>(F);

impl<F> ToolMiddleware for MiddlewareFn<F>
where
    F: for<'a> Fn(
            &'a ToolCall,
            &'a ToolContext,
            Next<'a>,
        ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>>
        + WasmCompatSend
        + WasmCompatSync,
{
    fn process<'a>(
        &'a self,
        call: &'a ToolCall,
        ctx: &'a ToolContext,
        next: Next<'a>,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        (self.0)(call, ctx, next)
    }
}
