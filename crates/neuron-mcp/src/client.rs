//! The client: one server, for as long as it is needed, over as many connections as that takes.

use std::{fmt, path::Path, sync::Arc, time::Duration};

use neuron_types::{ToolContext, ToolDefinition, ToolDyn, ToolOutput};
use rmcp::model::{
    CallToolRequestParams, ClientRequest, GetPromptRequestParams, PaginatedRequestParams,
    ReadResourceRequestParams, Request, RequestNoParam, RequestOptionalParam, ServerResult,
};
use serde_json::{Map, Value};
use tokio::{sync::Mutex, time};
use tracing::{info, warn};

use crate::{
    Discovered, LeftOut, McpClientHandler, McpError, McpPrompt, McpResource, McpResourceTemplate,
    McpServerSpec, McpTool, PaginatedList, PromptResult, ResourceContent,
    connection::{Connection, How, NoAnswer},
    content, definition,
    fault::shown,
};

/// How long is waited between the attempts to get a lost server back.
const RECONNECT_DELAYS: [Duration; 5] = [
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(400),
    Duration::from_millis(800),
    Duration::from_millis(1600),
];
/// How many pages of a list are read.
const MAX_PAGES: usize = 100;
/// How many tools of one server are read.
const MAX_TOOLS: usize = 1000;
/// How much of a server's instructions is kept.
const MAX_INSTRUCTIONS_CHARS: usize = 8000;

/// A client of one MCP server. Cheap to clone; clones share the server.
///
/// A server that is lost is started or reached again by the next request, with at most 5 attempts in about three
/// seconds. A request whose answer was lost with it is not repeated: that is for the caller to decide. A
/// request that never reached the server, because its session was lost for example, is made once more.
///
/// Dropping the last clone ends a server that was started here, in the background; [`McpClient::close`] waits
/// for its end.
///
/// # Examples
///
/// ```no_run
/// use neuron_mcp::McpClient;
/// use neuron_tool::ToolRegistry;
///
/// # async fn example() -> Result<(), neuron_mcp::McpError> {
/// let mut tools = ToolRegistry::new();
/// let github = McpClient::connect_stdio("npx", &["@mcp/server-github"]).await?;
/// for tool in github.discover_tools().await? {
///     tools.register_dyn(tool);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct McpClient {
    inner: Arc<Inner>,
}

struct Inner {
    spec: McpServerSpec,
    handler: Arc<dyn McpClientHandler>,
    slot: Mutex<Slot>,
}

enum Slot {
    Open(Arc<Connection>),
    Lost,
    Closed,
}

/// What a server says of itself.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct McpServerInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The version of the protocol that is spoken.
    pub protocol_version: String,
    /// How it wants to be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Whether it has tools.
    pub has_tools: bool,
    /// Whether it has resources.
    pub has_resources: bool,
    /// Whether it has prompts.
    pub has_prompts: bool,
}

impl McpClient {
    /// Starts a program and begins the protocol over its standard input and output. Its tools keep their own
    /// names.
    ///
    /// # Errors
    ///
    /// As [`McpClient::connect`].
    pub async fn connect_stdio(command: &str, args: &[&str]) -> Result<Self, McpError> {
        let name = Path::new(command).file_name();
        let name = name.map_or_else(|| command.into(), |name| name.to_string_lossy());
        let spec = McpServerSpec::stdio(name, command, args.iter().copied());
        Self::connect(spec, ()).await
    }

    /// Reaches a server over streamable HTTP. Its tools keep their own names.
    ///
    /// # Errors
    ///
    /// As [`McpClient::connect`].
    pub async fn connect_http(url: &str) -> Result<Self, McpError> {
        Self::connect(McpServerSpec::http("http", url), ()).await
    }

    /// Starts or reaches a server, with what it may ask of this side. One attempt.
    ///
    /// # Errors
    ///
    /// [`McpError::Connection`], [`McpError::Initialization`] or [`McpError::Protocol`].
    pub async fn connect(
        spec: McpServerSpec,
        handler: impl McpClientHandler + 'static,
    ) -> Result<Self, McpError> {
        Self::connect_shared(spec, Arc::new(handler)).await
    }

    pub(crate) async fn connect_shared(
        spec: McpServerSpec,
        handler: Arc<dyn McpClientHandler>,
    ) -> Result<Self, McpError> {
        let connection = Connection::open(&spec, Arc::clone(&handler)).await?;
        let slot = Mutex::new(Slot::Open(Arc::new(connection)));
        Ok(Self {
            inner: Arc::new(Inner {
                spec,
                handler,
                slot,
            }),
        })
    }

    /// The name that errors and logs use.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.spec.name
    }

    /// What the server says of itself.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`].
    pub async fn server_info(&self) -> Result<McpServerInfo, McpError> {
        let connection = self.connection().await?;
        let info = connection
            .info()
            .ok_or_else(|| self.nonsense("it did not say what it is"))?;
        let implementation = info.server_info.clone().unwrap_or_default();
        Ok(McpServerInfo {
            name: shown(&implementation.name, 200),
            version: shown(&implementation.version, 200),
            protocol_version: shown(info.protocol_version.as_str(), 40),
            instructions: info
                .instructions
                .as_deref()
                .map(|text| text.chars().take(MAX_INSTRUCTIONS_CHARS).collect()),
            has_tools: info.capabilities.tools.is_some(),
            has_resources: info.capabilities.resources.is_some(),
            has_prompts: info.capabilities.prompts.is_some(),
        })
    }

    /// Asks whether the server is there.
    ///
    /// # Errors
    ///
    /// Any but [`McpError::Cancelled`], [`McpError::NotOffered`] and those of serving.
    pub async fn ping(&self) -> Result<(), McpError> {
        let request = ClientRequest::PingRequest(RequestNoParam::default());
        self.ask(request, &self.briefly()).await.map(drop)
    }

    /// One page of the tools, under the server's own names. `cursor` is the [`PaginatedList::next_cursor`] of
    /// the page before.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`].
    pub async fn list_tools(
        &self,
        cursor: Option<&str>,
    ) -> Result<PaginatedList<ToolDefinition>, McpError> {
        let page = self.tools_page(cursor).await?;
        Ok(PaginatedList {
            items: page.items.into_iter().map(definition::from_wire).collect(),
            next_cursor: page.next_cursor,
        })
    }

    async fn tools_page(
        &self,
        cursor: Option<&str>,
    ) -> Result<PaginatedList<rmcp::model::Tool>, McpError> {
        let request = ClientRequest::ListToolsRequest(page(cursor));
        match self.ask(request, &self.briefly()).await? {
            ServerResult::ListToolsResult(page) => Ok(PaginatedList {
                items: page.tools,
                next_cursor: page.next_cursor,
            }),
            _ => Err(self.nonsense("its answer is no list of tools")),
        }
    }

    /// Calls a tool by the server's own name. Dropping the future cancels the call.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`]. A tool that failed is an output with
    /// [`is_error`](ToolOutput::is_error), not an error.
    pub async fn call_tool(&self, name: &str, args: Value) -> Result<ToolOutput, McpError> {
        self.call_tool_in(name, args, &ToolContext::default()).await
    }

    /// As [`McpClient::call_tool`], reporting progress to the context and ending when it is cancelled.
    ///
    /// # Errors
    ///
    /// As [`McpClient::call_tool`], and [`McpError::Cancelled`].
    pub async fn call_tool_in(
        &self,
        name: &str,
        args: Value,
        ctx: &ToolContext,
    ) -> Result<ToolOutput, McpError> {
        let arguments = match args {
            Value::Object(arguments) => arguments,
            Value::Null => Map::new(),
            _ => {
                return Err(McpError::Refused {
                    server: self.name().to_owned(),
                    code: rmcp::model::ErrorCode::INVALID_PARAMS.0,
                    message: "the arguments are no object".to_owned(),
                });
            }
        };
        let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        let how = How {
            timeout: None,
            cancel: Some(&ctx.cancellation_token),
            progress: ctx.progress_reporter.clone(),
        };
        let request = ClientRequest::CallToolRequest(Request::new(params));
        match self.ask(request, &how).await? {
            ServerResult::CallToolResult(result) => Ok(content::output(result)),
            _ => Err(self.nonsense("its answer is no result of a tool")),
        }
    }

    /// All tools that can be used, ready for a registry.
    ///
    /// # Errors
    ///
    /// As [`McpClient::discover`].
    pub async fn discover_tools(&self) -> Result<Vec<Arc<dyn ToolDyn>>, McpError> {
        let found = self.discover(None).await?;
        let tools = found.tools.into_iter();
        Ok(tools.map(|tool| tool as Arc<dyn ToolDyn>).collect())
    }

    /// All tools, those that cannot be used apart. With a prefix, their names are `PREFIX__NAME`; in any case
    /// names become such as providers take: letters, digits, `_` and `-`, at most 64 of them.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`], and [`McpError::Protocol`] for a list that has more than 1,000 tools or more
    /// than 100 pages.
    pub async fn discover(&self, prefix: Option<&str>) -> Result<Discovered, McpError> {
        let mut tools = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let page = self.tools_page(cursor.as_deref()).await?;
            tools.extend(page.items);
            if tools.len() > MAX_TOOLS {
                return Err(self.nonsense(&format!("it lists more than {MAX_TOOLS} tools")));
            }
            let Some(next) = page.next_cursor else {
                return Ok(self.bridge(prefix, tools));
            };
            if cursor.as_ref() == Some(&next) {
                return Err(self.nonsense("its list of tools has a page that leads to itself"));
            }
            cursor = Some(next);
        }
        Err(self.nonsense(&format!(
            "its list of tools has more than {MAX_PAGES} pages"
        )))
    }

    fn bridge(&self, prefix: Option<&str>, tools: Vec<rmcp::model::Tool>) -> Discovered {
        let sorted = definition::sort(prefix, tools);
        for LeftOut { name, reason } in &sorted.left_out {
            warn!(
                server = self.name(),
                tool = name,
                reason,
                "an MCP tool is left out"
            );
        }
        let usable = sorted.usable.into_iter();
        Discovered {
            tools: usable
                .map(|(own, definition)| Arc::new(McpTool::new(self.clone(), own, definition)))
                .collect(),
            left_out: sorted.left_out,
        }
    }

    /// One page of the resources.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`].
    pub async fn list_resources(
        &self,
        cursor: Option<&str>,
    ) -> Result<PaginatedList<McpResource>, McpError> {
        let request = ClientRequest::ListResourcesRequest(page(cursor));
        match self.ask(request, &self.briefly()).await? {
            ServerResult::ListResourcesResult(page) => Ok(PaginatedList {
                items: page.resources.into_iter().map(Into::into).collect(),
                next_cursor: page.next_cursor,
            }),
            _ => Err(self.nonsense("its answer is no list of resources")),
        }
    }

    /// One page of the patterns that further resources' addresses have.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`].
    pub async fn list_resource_templates(
        &self,
        cursor: Option<&str>,
    ) -> Result<PaginatedList<McpResourceTemplate>, McpError> {
        let request = ClientRequest::ListResourceTemplatesRequest(page(cursor));
        match self.ask(request, &self.briefly()).await? {
            ServerResult::ListResourceTemplatesResult(page) => Ok(PaginatedList {
                items: page
                    .resource_templates
                    .into_iter()
                    .map(Into::into)
                    .collect(),
                next_cursor: page.next_cursor,
            }),
            _ => Err(self.nonsense("its answer is no list of resource templates")),
        }
    }

    /// What a resource holds.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`].
    pub async fn read_resource(&self, uri: &str) -> Result<Vec<ResourceContent>, McpError> {
        let params = ReadResourceRequestParams::new(uri);
        let request = ClientRequest::ReadResourceRequest(Request::new(params));
        match self.ask(request, &self.briefly()).await? {
            ServerResult::ReadResourceResult(result) => {
                Ok(result.contents.into_iter().map(Into::into).collect())
            }
            _ => Err(self.nonsense("its answer is no resource")),
        }
    }

    /// One page of the prompts.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`].
    pub async fn list_prompts(
        &self,
        cursor: Option<&str>,
    ) -> Result<PaginatedList<McpPrompt>, McpError> {
        let request = ClientRequest::ListPromptsRequest(page(cursor));
        match self.ask(request, &self.briefly()).await? {
            ServerResult::ListPromptsResult(page) => Ok(PaginatedList {
                items: page.prompts.into_iter().map(Into::into).collect(),
                next_cursor: page.next_cursor,
            }),
            _ => Err(self.nonsense("its answer is no list of prompts")),
        }
    }

    /// A prompt, filled in.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`].
    pub async fn get_prompt(
        &self,
        name: &str,
        args: impl IntoIterator<Item = (String, String)>,
    ) -> Result<PromptResult, McpError> {
        let arguments: Map<String, Value> = args
            .into_iter()
            .map(|(name, value)| (name, Value::String(value)))
            .collect();
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        let request = ClientRequest::GetPromptRequest(Request::new(params));
        match self.ask(request, &self.briefly()).await? {
            ServerResult::GetPromptResult(result) => Ok(result.into()),
            _ => Err(self.nonsense("its answer is no prompt")),
        }
    }

    /// Ends the connection for this client and all its clones. A server that was started here has ended when
    /// this returns. Further requests fail.
    pub async fn close(&self) {
        let slot = std::mem::replace(&mut *self.inner.slot.lock().await, Slot::Closed);
        if let Slot::Open(connection) = slot {
            connection.close().await;
        }
    }

    /// Gives up the connection that there is: the next request makes a new one.
    pub(crate) async fn renew(&self) {
        let mut slot = self.inner.slot.lock().await;
        if let Slot::Open(connection) = &*slot {
            let connection = Arc::clone(connection);
            *slot = Slot::Lost;
            drop(slot);
            connection.close().await;
        }
    }

    /// How a request is made that takes no work.
    fn briefly(&self) -> How<'static> {
        How {
            timeout: Some(self.inner.spec.timeout),
            ..How::default()
        }
    }

    fn nonsense(&self, reason: &str) -> McpError {
        McpError::Protocol {
            server: self.name().to_owned(),
            reason: reason.to_owned(),
        }
    }

    async fn ask(&self, request: ClientRequest, how: &How<'_>) -> Result<ServerResult, McpError> {
        let mut renewed = false;
        loop {
            let connection = self.connection().await?;
            match connection.ask(request.clone(), how).await {
                Ok(answer) => return Ok(answer),
                Err(NoAnswer::Final(error)) => return Err(error),
                Err(NoAnswer::Broken(error)) => {
                    self.forget(&connection).await;
                    return Err(error);
                }
                Err(NoAnswer::Unasked(error)) => {
                    self.forget(&connection).await;
                    if renewed {
                        return Err(error);
                    }
                    renewed = true;
                }
            }
        }
    }

    /// The connection that there is, or a new one.
    async fn connection(&self) -> Result<Arc<Connection>, McpError> {
        // Held while connecting: whoever comes meanwhile waits for the same server.
        let mut slot = self.inner.slot.lock().await;
        match &*slot {
            Slot::Open(connection) if !connection.is_closed() => return Ok(Arc::clone(connection)),
            Slot::Closed => {
                return Err(McpError::Connection {
                    server: self.name().to_owned(),
                    reason: "its client was closed".to_owned(),
                });
            }
            _ => {}
        }
        let lost = std::mem::replace(&mut *slot, Slot::Lost);
        if let Slot::Open(connection) = lost {
            connection.close().await;
        }
        let mut delays = RECONNECT_DELAYS.into_iter();
        loop {
            let handler = Arc::clone(&self.inner.handler);
            match Connection::open(&self.inner.spec, handler).await {
                Ok(connection) => {
                    info!(server = self.name(), "an MCP server is back");
                    let connection = Arc::new(connection);
                    *slot = Slot::Open(Arc::clone(&connection));
                    return Ok(connection);
                }
                Err(error) => match delays.next() {
                    Some(delay) if error.is_unavailable() => time::sleep(delay).await,
                    _ => return Err(error),
                },
            }
        }
    }

    /// Gives up a connection that is of no use, unless somebody did already.
    async fn forget(&self, broken: &Arc<Connection>) {
        let mut slot = self.inner.slot.lock().await;
        if matches!(&*slot, Slot::Open(connection) if Arc::ptr_eq(connection, broken)) {
            *slot = Slot::Lost;
            drop(slot);
            broken.close().await;
        }
    }
}

fn page<M: Default>(cursor: Option<&str>) -> RequestOptionalParam<M, PaginatedRequestParams> {
    match cursor {
        Some(cursor) => RequestOptionalParam::with_param(
            PaginatedRequestParams::default().with_cursor(Some(cursor.to_owned())),
        ),
        None => RequestOptionalParam::default(),
    }
}

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClient")
            .field("spec", &self.inner.spec)
            .finish_non_exhaustive()
    }
}
