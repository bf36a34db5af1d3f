//! Layers around tool calls: to log, check, change, reject or answer them.
//!
//! A layer gets the call, its surroundings and a [`Next`], which stands for all that is further inside. It
//! answers with what [`Next::run`] answers, with something made of it, or without running it at all.
//!
//! Layers run in the order in which they were added, from the outside in:
//!
//! 1. those of [`ToolRegistry::add_middleware`](crate::ToolRegistry::add_middleware), for every tool;
//! 2. those of [`ToolRegistry::add_tool_middleware`](crate::ToolRegistry::add_tool_middleware);
//! 3. the tool.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//!
//! use neuron_tool::{
//!     Next, ToolCall, ToolContext, ToolError, ToolMiddleware, ToolOutput, ToolRegistry, neuron_tool,
//! };
//! use neuron_types::WasmBoxedFuture;
//! use serde_json::json;
//!
//! #[derive(Clone, Default)]
//! struct Log(Arc<Mutex<Vec<&'static str>>>);
//!
//! impl Log {
//!     fn note(&self, text: &'static str) {
//!         self.0.lock().unwrap().push(text);
//!     }
//! }
//!
//! /// Notes that it saw a call.
//! struct Noting(&'static str, Log);
//!
//! impl ToolMiddleware for Noting {
//!     fn process<'a>(
//!         &'a self,
//!         call: &'a ToolCall,
//!         ctx: &'a ToolContext,
//!         next: Next<'a>,
//!     ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
//!         Box::pin(async move {
//!             self.1.note(self.0);
//!             next.run(call, ctx).await
//!         })
//!     }
//! }
//!
//! /// Searches.
//! #[neuron_tool]
//! async fn search(#[state] log: &Log) -> Result<String, ToolError> {
//!     log.note("the tool itself runs last");
//!     Ok("found".into())
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), ToolError> {
//! let log = Log::default();
//! let mut registry = ToolRegistry::new();
//! registry.register(SearchTool::new(log.clone()));
//! registry
//!     .add_tool_middleware("search", Noting("second, only for search", log.clone()))
//!     .add_middleware(Noting("first, for all tools", log.clone()));
//!
//! registry.execute("search", json!({}), &ToolContext::default()).await?;
//! let seen = log.0.lock().unwrap().clone();
//! assert_eq!(seen, ["first, for all tools", "second, only for search", "the tool itself runs last"]);
//! # Ok(())
//! # }
//! ```

use std::{fmt, sync::Arc};

pub use neuron_types::ToolCall;
use neuron_types::{
    ToolContext, ToolDyn, ToolError, ToolOutput, WasmBoxedFuture, WasmCompatSend, WasmCompatSync,
};

/// One layer around tool calls.
///
/// Runs in the executor, once per attempt of a call, and may do I/O. Dropping its future must stop what it
/// does, as with a tool. For a layer that is one function see [`tool_middleware_fn`].
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// use neuron_tool::{
///     Next, ToolCall, ToolContext, ToolError, ToolMiddleware, ToolOutput, ToolRegistry, neuron_tool,
/// };
/// use neuron_types::WasmBoxedFuture;
/// use serde_json::json;
///
/// /// Allows so many calls and refuses the rest.
/// struct RateLimiter(AtomicU32);
///
/// impl ToolMiddleware for RateLimiter {
///     fn process<'a>(
///         &'a self,
///         call: &'a ToolCall,
///         ctx: &'a ToolContext,
///         next: Next<'a>,
///     ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
///         Box::pin(async move {
///             let take_one = |left: u32| left.checked_sub(1);
///             self.0
///                 .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take_one)
///                 .map_err(|_| ToolError::PermissionDenied("no calls are left".into()))?;
///             next.run(call, ctx).await
///         })
///     }
/// }
///
/// # /// Says hello.
/// # #[neuron_tool]
/// # async fn greet() -> Result<String, ToolError> { Ok("hello".into()) }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// # let mut registry = ToolRegistry::new();
/// # registry.register(GreetTool);
/// registry.add_middleware(RateLimiter(AtomicU32::new(1)));
///
/// let ctx = ToolContext::default();
/// assert_eq!(registry.execute("greet", json!({}), &ctx).await?, ToolOutput::text("hello"));
/// let refused = registry.execute("greet", json!({}), &ctx).await;
/// assert!(matches!(refused, Err(ToolError::PermissionDenied(why)) if why == "no calls are left"));
/// # Ok(())
/// # }
/// ```
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

    /// Returns the tool, if there is no layer around it.
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
/// A check that reports to the model what to change:
///
/// ```
/// use neuron_tool::{ToolContext, ToolError, ToolOutput, ToolRegistry, neuron_tool, tool_middleware_fn};
/// use serde_json::json;
///
/// # /// Fetches pages.
/// # #[neuron_tool]
/// # async fn fetch(url: String, count: u64) -> Result<String, ToolError> {
/// #     Ok(format!("{count} pages of {url}"))
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// # let mut registry = ToolRegistry::new();
/// # registry.register(FetchTool);
/// registry.add_middleware(tool_middleware_fn(|call, ctx, next| {
///     Box::pin(async move {
///         if let Some(url) = call.input.get("url").and_then(|url| url.as_str())
///             && !url.starts_with("https://")
///         {
///             let hint = format!("url must start with https://, got '{url}'");
///             return Err(ToolError::ModelRetry(hint));
///         }
///         if let Some(count) = call.input.get("count").and_then(|count| count.as_u64())
///             && !(1..=100).contains(&count)
///         {
///             return Err(ToolError::ModelRetry(format!("count must be 1-100, got {count}")));
///         }
///         next.run(call, ctx).await
///     })
/// }));
///
/// let ctx = ToolContext::default();
/// let fetch = async |url: &str, count: u64| {
///     let input = json!({"url": url, "count": count});
///     registry.execute("fetch", input, &ctx).await
/// };
/// assert_eq!(fetch("https://a.b", 2).await?, ToolOutput::text("2 pages of https://a.b"));
/// let hint = fetch("http://a.b", 2).await.unwrap_err();
/// assert_eq!(hint.to_string(), "url must start with https://, got 'http://a.b'");
/// let hint = fetch("https://a.b", 101).await.unwrap_err();
/// assert_eq!(hint.to_string(), "count must be 1-100, got 101");
/// # Ok(())
/// # }
/// ```
///
/// A function with a name:
///
/// ```
/// use neuron_tool::{
///     Next, ToolCall, ToolContext, ToolError, ToolOutput, ToolRegistry, neuron_tool, tool_middleware_fn,
/// };
/// use neuron_types::WasmBoxedFuture;
/// use serde_json::json;
///
/// fn logging_middleware<'a>(
///     call: &'a ToolCall,
///     ctx: &'a ToolContext,
///     next: Next<'a>,
/// ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
///     Box::pin(async move {
///         println!("calling {}", call.name);
///         let result = next.run(call, ctx).await;
///         println!("result: {result:?}");
///         result
///     })
/// }
///
/// # /// Says hello.
/// # #[neuron_tool]
/// # async fn greet() -> Result<String, ToolError> { Ok("hello".into()) }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// # let mut registry = ToolRegistry::new();
/// # registry.register(GreetTool);
/// registry.add_middleware(tool_middleware_fn(logging_middleware));
/// let output = registry.execute("greet", json!({}), &ToolContext::default()).await?;
/// assert_eq!(output, ToolOutput::text("hello"));
/// # Ok(())
/// # }
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
