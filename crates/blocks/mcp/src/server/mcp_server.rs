//! Our tools as an MCP server.

use std::{io, sync::Arc};

use futures::future::BoxFuture;
use neuron_tool::ToolRegistry;
use neuron_types::{ProgressReporter, ToolCall, ToolContext, ToolError, ToolOutput, with_causes};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, ErrorCode, Implementation, ListToolsResult,
        PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ServerCapabilities,
        ServerConfig, Tool,
    },
    service::{Peer, RequestContext, ServerInitializeError},
    transport::async_rw::AsyncRwTransport,
};
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
};

use crate::{McpError, wire::content, wire::definition};

/// How many progress reports may wait to be sent; more are dropped.
const PROGRESS_CAPACITY: usize = 16;

/// Offers the tools of a registry to MCP clients, through the registry's middleware. Cheap to clone.
///
/// Each call gets a context with the progress reporter and the cancellation of its client. If a tool rejects a call or
/// fails, the result has `isError`, so that a model reads it.
///
/// # Examples
///
/// ```no_run
/// use neuron_mcp::McpServer;
/// use neuron_tool::{BuiltinOptions, ToolRegistry, builtin_tools};
///
/// # async fn example() -> Result<(), neuron_mcp::McpError> {
/// let registry = ToolRegistry::from_iter(builtin_tools(&BuiltinOptions::default()));
/// McpServer::new(registry).serve_stdio().await?;
/// # Ok(())
/// # }
/// ```
///
/// The same over HTTP, with a client of it:
///
/// ```
/// use neuron_mcp::{McpClient, McpServer};
/// use neuron_tool::{ToolContext, ToolError, ToolOutput, ToolRegistry, neuron_tool};
/// use serde_json::json;
/// use tokio::net::TcpListener;
/// use tokio_util::sync::CancellationToken;
///
/// /// Looks up a value by key.
/// #[neuron_tool(read_only)]
/// async fn lookup(key: String) -> Result<String, ToolError> {
///     Ok(format!("value for {key}"))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut registry = ToolRegistry::new();
/// registry.register(LookupTool);
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let url = format!("http://{}/mcp", listener.local_addr()?);
/// let stop = CancellationToken::new();
/// let server = McpServer::new(registry);
/// let serving = tokio::spawn({
///     let stop = stop.clone();
///     async move { server.serve_listener(listener, stop).await }
/// });
///
/// let client = McpClient::connect_http(&url).await?;
/// let tools = ToolRegistry::from_iter(client.discover_tools().await?);
/// let output = tools.execute("lookup", json!({"key": "foo"}), &ToolContext::default()).await?;
/// assert_eq!(output, ToolOutput::text("value for foo"));
///
/// client.close().await;
/// stop.cancel();
/// serving.await??;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct McpServer {
    tools: ToolRegistry,
    context: ToolContext,
    name: Arc<str>,
    instructions: Option<Arc<str>>,
    pub(super) token: Option<Arc<str>>,
}

impl McpServer {
    /// Makes a server of these tools.
    #[must_use]
    pub fn new(registry: ToolRegistry) -> Self {
        Self {
            tools: registry,
            context: ToolContext::default(),
            name: "neuron".into(),
            instructions: None,
            token: None,
        }
    }

    /// Sets what calls are made with; progress and cancellation come from each call. Default is
    /// `ToolContext::default()`.
    #[must_use]
    pub fn context(mut self, context: ToolContext) -> Self {
        self.context = context;
        self
    }

    /// Sets the name that clients see. Default is `neuron`.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the instructions for the use of the tools that clients receive. Default is nothing.
    #[must_use]
    pub fn instructions(mut self, text: &str) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Sets the bearer token that clients over HTTP must send. Default is no token, and then only loopback addresses
    /// are served.
    #[must_use]
    pub fn token(mut self, token: &str) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Serves one client over standard input and output, until it goes away.
    ///
    /// Nothing else in the process may write to standard output.
    ///
    /// # Errors
    ///
    /// [`McpError::Serve`].
    pub async fn serve_stdio(&self) -> Result<(), McpError> {
        self.over_stdio().await
    }

    /// Serves standard input and output. Boxed, so that it is compiled here once, and not in every program that serves.
    fn over_stdio(&self) -> BoxFuture<'_, Result<(), McpError>> {
        Box::pin(self.serve_pipes(tokio::io::stdin(), tokio::io::stdout()))
    }

    /// Serves one client over a pair of pipes, until it goes away.
    ///
    /// # Errors
    ///
    /// [`McpError::Serve`].
    pub async fn serve_pipes<R, W>(&self, input: R, output: W) -> Result<(), McpError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let failed = |source| McpError::Serve {
            address: None,
            source,
        };
        let transport = AsyncRwTransport::new_server(input, output);
        let running = match self.clone().serve(transport).await {
            Ok(running) => running,
            // The client went away before it said anything.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(failed(io::Error::other(error.to_string()))),
        };
        match running.waiting().await {
            Ok(_) => Ok(()),
            Err(error) => Err(failed(io::Error::other(error))),
        }
    }

    fn progress_to(&self, peer: Peer<RoleServer>, token: ProgressToken) -> Progress {
        let (sender, mut reports) = mpsc::channel(PROGRESS_CAPACITY);
        tokio::spawn(async move {
            while let Some(report) = reports.recv().await {
                if peer.notify_progress(report).await.is_err() {
                    return;
                }
            }
        });
        Progress { sender, token }
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let info = ServerConfig::new(capabilities).with_server_info(Implementation::new(
            self.name.as_ref(),
            env!("CARGO_PKG_VERSION"),
        ));
        match &self.instructions {
            Some(text) => info.with_instructions(text.as_ref()),
            None => info,
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.definitions();
        Ok(ListToolsResult::with_all_items(
            tools.into_iter().map(definition::to_wire).collect(),
        ))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tool = self.tools.get(name)?;
        Some(definition::to_wire(tool.definition()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = ToolCall {
            id: context.id.to_string(),
            name: request.name.into_owned(),
            input: Value::Object(request.arguments.unwrap_or_default()),
            ..ToolCall::default()
        };
        let mut ctx = self.context.clone();
        ctx.cancellation_token = context.ct.clone();
        if let Some(token) = context.meta.get_progress_token() {
            ctx.progress_reporter = Some(Arc::new(self.progress_to(context.peer, token)));
        }
        let output = tokio::select! {
            biased;
            output = self.tools.execute_call(&call, &ctx) => output,
            // A tool that does not heed its token is stopped by being dropped.
            () = context.ct.cancelled() => Err(ToolError::Cancelled),
        };
        let output = match output {
            // A client of this server cannot open a ticket for it.
            Ok(output) if output.pending.is_some() => {
                ToolOutput::error("the call waits for what MCP clients are not asked for here")
            }
            Ok(output) => output,
            Err(ToolError::NotFound(name)) => {
                let known: Vec<_> = self.tools.names().collect();
                let message = format!("there is no tool {name:?}: there are {}", known.join(", "));
                return Err(ErrorData::new(ErrorCode::INVALID_PARAMS, message, None));
            }
            Err(error) => ToolOutput::error(with_causes(&error)),
        };
        Ok(CallToolResponse::Complete(content::result(output)))
    }
}

/// Sends reports to the client of one call.
struct Progress {
    sender: mpsc::Sender<ProgressNotificationParam>,
    token: ProgressToken,
}

impl ProgressReporter for Progress {
    fn report(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let mut report = ProgressNotificationParam::new(self.token.clone(), progress);
        report.total = total;
        report.message = message.map(ToOwned::to_owned);
        // Reports may be dropped.
        drop(self.sender.try_send(report));
    }
}
