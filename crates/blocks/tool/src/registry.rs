//! The tools that an agent can call, by name.

use std::{collections::BTreeMap, fmt, sync::Arc};

use neuron_types::{Tool, ToolCall, ToolContext, ToolDefinition, ToolDyn, ToolError, ToolOutput};
use serde_json::Value;

use crate::middleware::{Next, ToolMiddleware};

/// Tools by name, and the middleware around them.
///
/// Everything is listed in the order of the names, so two registries with the same tools state the same
/// request. Cloning copies references to tools and middleware, not the tools themselves.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use neuron_tool::{
///     BuiltinOptions, ToolContext, ToolDefinition, ToolDyn, ToolError, ToolOutput, ToolRegistry,
///     builtin_tools, neuron_tool,
/// };
/// use serde_json::json;
///
/// /// Answers with what it is told.
/// #[neuron_tool]
/// async fn echo(text: String) -> Result<String, ToolError> {
///     Ok(text)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let mut registry = ToolRegistry::new();
/// // A typed tool, and tools that are known only at run time, as those of an MCP server.
/// registry.register(EchoTool);
/// registry.extend(builtin_tools(&BuiltinOptions::default()));
///
/// // What the model is told.
/// let definitions: Vec<ToolDefinition> = registry.definitions();
/// assert!(definitions.iter().any(|definition| definition.name == "echo"));
///
/// let output = registry.execute("echo", json!({"text": "hi"}), &ToolContext::default()).await?;
/// assert_eq!(output, ToolOutput::text("hi"));
///
/// let tool: Option<Arc<dyn ToolDyn>> = registry.get("echo");
/// assert_eq!(tool.unwrap().definition().description, "Answers with what it is told.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct ToolRegistry {
    tools: BTreeMap<String, Arc<dyn ToolDyn>>,
    middleware: Vec<Arc<dyn ToolMiddleware>>,
    tool_middleware: BTreeMap<String, Vec<Arc<dyn ToolMiddleware>>>,
}

impl ToolRegistry {
    /// Makes a registry without tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a typed tool. It replaces the tool of the same name, if there is one.
    pub fn register<T: Tool + 'static>(&mut self, tool: T) {
        self.register_dyn(Arc::new(tool));
    }

    /// Adds a tool that is known only at run time. It replaces the tool of the same name, if there is one.
    pub fn register_dyn(&mut self, tool: Arc<dyn ToolDyn>) {
        self.tools.insert(tool.name().to_owned(), tool);
    }

    /// Returns the tool of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<dyn ToolDyn>> {
        self.tools.get(name).cloned()
    }

    /// Returns the names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// Returns the definitions that the model reads, in the order of [`ToolRegistry::names`]. Built anew by every call.
    #[must_use]
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.tools.values().map(|tool| tool.definition()).collect()
    }

    /// Puts a layer around every tool, inside the layers that were added before it.
    pub fn add_middleware(&mut self, middleware: impl ToolMiddleware + 'static) -> &mut Self {
        self.middleware.push(Arc::new(middleware));
        self
    }

    /// Puts a layer around one tool, inside all layers of [`ToolRegistry::add_middleware`] and inside
    /// those that were added to this tool before it. The tool may be registered later.
    ///
    /// ```
    /// use neuron_tool::{ToolContext, ToolError, ToolRegistry, neuron_tool, tool_middleware_fn};
    /// use serde_json::json;
    ///
    /// # /// Fetches a page.
    /// # #[neuron_tool]
    /// # async fn fetch_page(url: String) -> Result<String, ToolError> { Ok(url) }
    /// # /// Keeps a link.
    /// # #[neuron_tool]
    /// # async fn keep_link(url: String) -> Result<String, ToolError> { Ok(url) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # let mut registry = ToolRegistry::new();
    /// # registry.register(FetchPageTool);
    /// # registry.register(KeepLinkTool);
    /// // Only where fetch_page is called.
    /// registry.add_tool_middleware("fetch_page", tool_middleware_fn(|call, ctx, next| {
    ///     Box::pin(async move {
    ///         if let Some(url) = call.input.get("url").and_then(|url| url.as_str())
    ///             && !url.starts_with("https://")
    ///         {
    ///             let hint = format!("fetch_page requires an https:// URL, got '{url}'");
    ///             return Err(ToolError::ModelRetry(hint));
    ///         }
    ///         next.run(call, ctx).await
    ///     })
    /// }));
    ///
    /// let (ctx, input) = (ToolContext::default(), json!({"url": "http://a.b"}));
    /// assert!(registry.execute("keep_link", input.clone(), &ctx).await.is_ok());
    /// let refused = registry.execute("fetch_page", input, &ctx).await;
    /// assert!(matches!(refused, Err(ToolError::ModelRetry(_))));
    /// # }
    /// ```
    pub fn add_tool_middleware(
        &mut self,
        tool: &str,
        middleware: impl ToolMiddleware + 'static,
    ) -> &mut Self {
        self.tool_middleware
            .entry(tool.to_owned())
            .or_default()
            .push(Arc::new(middleware));
        self
    }

    /// Returns the names that layers were added for and that no tool has, sorted.
    pub fn layers_without_tool(&self) -> impl Iterator<Item = &str> {
        let layered = self.tool_middleware.keys();
        layered
            .filter(|name| !self.tools.contains_key(*name))
            .map(String::as_str)
    }

    /// Calls a tool by name, through its middleware. The call has an empty id.
    ///
    /// # Errors
    ///
    /// [`ToolError::NotFound`] if there is no such tool (no middleware sees the call), else what the
    /// middleware or the tool answers.
    pub async fn execute(
        &self,
        name: &str,
        input: Value,
        ctx: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let chain = self.chain(name)?;
        if let Some(tool) = chain.bare_tool() {
            return tool.call_dyn(input, ctx).await;
        }
        let call = ToolCall {
            id: String::new(),
            name: name.to_owned(),
            input,
            ..ToolCall::default()
        };
        chain.run(&call, ctx).await
    }

    /// Makes this call, through the tool's middleware. The arguments are copied once, for the tool.
    ///
    /// # Errors
    ///
    /// As [`ToolRegistry::execute`].
    pub async fn execute_call(
        &self,
        call: &ToolCall,
        ctx: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        self.chain(&call.name)?.run(call, ctx).await
    }

    fn chain(&self, name: &str) -> Result<Next<'_>, ToolError> {
        let tool = self
            .tools
            .get(name)
            .ok_or_else(|| ToolError::NotFound(name.to_owned()))?;
        let own = self
            .tool_middleware
            .get(name)
            .map_or(&[][..], Vec::as_slice);
        Ok(Next::new(&self.middleware, own, tool.as_ref()))
    }
}

/// Registers each tool, as [`ToolRegistry::register_dyn`] does: the last of a name stays.
impl Extend<Arc<dyn ToolDyn>> for ToolRegistry {
    fn extend<I: IntoIterator<Item = Arc<dyn ToolDyn>>>(&mut self, tools: I) {
        for tool in tools {
            self.register_dyn(tool);
        }
    }
}

/// Makes a registry of these tools, without middleware.
impl FromIterator<Arc<dyn ToolDyn>> for ToolRegistry {
    fn from_iter<I: IntoIterator<Item = Arc<dyn ToolDyn>>>(tools: I) -> Self {
        let mut registry = Self::new();
        registry.extend(tools);
        registry
    }
}

impl fmt::Debug for ToolRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRegistry")
            .field("tools", &self.tools.keys())
            .field("middleware", &self.middleware.len())
            .finish_non_exhaustive()
    }
}
