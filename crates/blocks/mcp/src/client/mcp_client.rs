//! The client: one server, for as long as it is needed, over as many connections as that takes.

use std::{
    fmt,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use rmcp::model::{
    ClientRequest, MetaObject, PaginatedRequestParams, RequestNoParam, RequestOptionalParam,
    ServerResult,
};
use tokio::{sync::Mutex, time};
use tracing::{info, warn};

use crate::{
    LeftOut, McpClientHandler, McpError, McpServerSpec,
    client::connection::{Connection, How},
    client::no_answer::NoAnswer,
    wire::{definition, harmless::shown},
};

/// How long is waited between the attempts to get a lost server back.
const RECONNECT_DELAYS: [Duration; 5] = [
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(400),
    Duration::from_millis(800),
    Duration::from_millis(1600),
];
/// How much of a server's instructions is kept.
const MAX_INSTRUCTIONS_CHARS: usize = 8000;

/// A client of one MCP server. Cheap to clone; clones share the server.
///
/// A server that is lost is started or reached again by the next request, with at most 6 attempts in about three
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
/// tools.extend(github.discover_tools().await?);
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
    /// Whether the newer way to begin was of no use with this server.
    older: AtomicBool,
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
    /// The server's name; that of its [spec](McpServerSpec::name) if the server states none.
    pub name: String,
    /// The server's version. Empty if the server states none.
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
        let older = AtomicBool::default();
        let connection = Connection::open(&spec, Arc::clone(&handler), &older).await?;
        let slot = Mutex::new(Slot::Open(Arc::new(connection)));
        Ok(Self {
            inner: Arc::new(Inner {
                spec,
                handler,
                older,
                slot,
            }),
        })
    }

    /// Returns the name that errors and logs use.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.spec.name
    }

    /// Returns whether the server is sent which run a call is of.
    pub(crate) fn sends_tags(&self) -> bool {
        self.inner.spec.sends_tags()
    }

    /// Returns what the server says of itself.
    ///
    /// # Errors
    ///
    /// As [`McpClient::ping`].
    pub async fn server_info(&self) -> Result<McpServerInfo, McpError> {
        let connection = self.connection().await?;
        let info = connection
            .info()
            .ok_or_else(|| self.nonsense("it did not say what it is"))?;
        // It need not say this as of 2026-07-28.
        let (name, version) = match &info.server_info {
            Some(it) => (it.name.as_str(), it.version.as_str()),
            None => (self.name(), ""),
        };
        Ok(McpServerInfo {
            name: shown(name, 200),
            version: shown(version, 200),
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
        if !self.connection().await?.is_newer() {
            let request = ClientRequest::PingRequest(RequestNoParam::default());
            return self.ask(request, &self.briefly()).await.map(drop);
        }
        // The newer version has no question of its own for this, and any answer says that the server is there.
        let request = ClientRequest::ListToolsRequest(page(None));
        match self.ask(request, &self.briefly()).await {
            Ok(_) | Err(McpError::Refused { .. }) => Ok(()),
            Err(error) => Err(error),
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

    /// Looks after the server: one that is lost is started or reached again, and so is one that has nothing to do and
    /// does not answer a ping in time.
    ///
    /// An answer of any kind is life, an error too. While a request is under way nothing is asked and nothing is given up:
    /// a server may answer one thing at a time. One of 2026-07-28 has no ping and is sent none.
    ///
    /// # Errors
    ///
    /// The server is not there, and could not be started or reached again.
    pub(crate) async fn look(&self) -> Result<(), McpError> {
        if self.is_at_work().await {
            return Ok(());
        }
        let connection = self.connection().await?;
        if connection.is_newer() {
            return Ok(());
        }
        let answers = connection.answers();
        let ping = ClientRequest::PingRequest(RequestNoParam::default());
        let why = match connection.ask(ping, &self.briefly()).await {
            Ok(_) => return Ok(()),
            Err(
                NoAnswer::Broken(error)
                | NoAnswer::Unasked(error)
                | NoAnswer::Final(error @ McpError::Timeout { .. }),
            ) => error,
            Err(NoAnswer::Final(_)) => return Ok(()),
        };
        if connection.answers() != answers || !self.give_up(connection).await {
            return Ok(());
        }
        warn!(server = self.name(), %why, "an MCP server is not well");
        self.connection().await.map(drop)
    }

    /// Returns whether a request waits for an answer of the server.
    async fn is_at_work(&self) -> bool {
        let slot = self.inner.slot.lock().await;
        // A caller that has made a request holds the connection until it is answered, besides the slot.
        matches!(&*slot, Slot::Open(connection)
            if !connection.is_closed() && Arc::strong_count(connection) > 1)
    }

    /// Closes the connection, unless a request waits for an answer over it or it is given up already. Returns whether
    /// it was closed. The next request makes a new one.
    async fn give_up(&self, silent: Arc<Connection>) -> bool {
        let mut slot = self.inner.slot.lock().await;
        let is_current =
            matches!(&*slot, Slot::Open(connection) if Arc::ptr_eq(connection, &silent));
        // The slot's and this one. No other is handed out as long as the slot is locked.
        if !is_current || Arc::strong_count(&silent) > 2 {
            return false;
        }
        *slot = Slot::Lost;
        drop(slot);
        silent.close().await;
        true
    }

    /// Returns what the server is.
    pub(crate) fn spec(&self) -> &McpServerSpec {
        &self.inner.spec
    }

    /// Starts or reaches another server like this one, and returns its client.
    pub(crate) async fn connect_another(&self, spec: McpServerSpec) -> Result<Self, McpError> {
        Self::connect_shared(spec, Arc::clone(&self.inner.handler)).await
    }

    /// Returns the handler that answers what the server asks.
    pub(crate) fn handler(&self) -> &dyn McpClientHandler {
        &*self.inner.handler
    }

    /// Returns how a request is made that takes no work.
    pub(crate) fn briefly(&self) -> How<'static> {
        How {
            timeout: Some(self.inner.spec.timeout),
            ..How::default()
        }
    }

    /// Returns the cursor to the page after one that was asked for with `cursor`. An empty cursor ends the list, as
    /// servers mean it. As of 2026-07-28 it is a cursor like others, but leads no further where it leads to itself.
    pub(crate) async fn further(
        &self,
        next: Option<String>,
        cursor: Option<&str>,
    ) -> Result<Option<String>, McpError> {
        match next {
            Some(next) if next.is_empty() => {
                let is_newer = self.connection().await?.is_newer();
                Ok((is_newer && cursor != Some("")).then_some(next))
            }
            next => Ok(next),
        }
    }

    /// Returns what the server lists on a page and cannot be read.
    pub(crate) fn left_out(&self, meta: Option<&MetaObject>) -> Vec<LeftOut> {
        let left_out = definition::omitted(meta);
        for LeftOut { name, reason } in &left_out {
            warn!(
                server = self.name(),
                name, reason, "an element of an MCP list is left out"
            );
        }
        left_out
    }

    pub(crate) fn nonsense(&self, reason: &str) -> McpError {
        McpError::Protocol {
            server: self.name().to_owned(),
            reason: reason.to_owned(),
        }
    }

    /// Asks the server, and once more over a new connection if it was not asked at all.
    pub(crate) async fn ask(
        &self,
        request: ClientRequest,
        how: &How<'_>,
    ) -> Result<ServerResult, McpError> {
        let mut renewed = false;
        loop {
            let connection = self.connection().await.map_err(before_asking)?;
            match connection.ask(request.clone(), how).await {
                Ok(answer) => return Ok(answer),
                Err(NoAnswer::Final(error)) => return Err(error),
                Err(NoAnswer::Broken(error)) => {
                    self.forget(connection).await;
                    return Err(error);
                }
                Err(NoAnswer::Unasked(error)) => {
                    self.forget(connection).await;
                    if renewed {
                        return Err(error);
                    }
                    renewed = true;
                }
            }
        }
    }

    /// Returns the open connection, or a new one.
    async fn connection(&self) -> Result<Arc<Connection>, McpError> {
        // Held while connecting: a request that comes meanwhile waits for the same server.
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
            match Connection::open(&self.inner.spec, handler, &self.inner.older).await {
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

    /// Makes no further request over a connection that is of no use. Requests of others over it still end: the last one
    /// closes it.
    async fn forget(&self, broken: Arc<Connection>) {
        let mut slot = self.inner.slot.lock().await;
        if matches!(&*slot, Slot::Open(connection) if Arc::ptr_eq(connection, &broken)) {
            *slot = Slot::Lost;
        }
        drop(slot);
        if broken.is_closed() || Arc::strong_count(&broken) == 1 {
            broken.close().await;
        }
    }
}

/// Returns why nothing was asked: a server that breaks the protocol at its start has not begun.
fn before_asking(error: McpError) -> McpError {
    match error {
        McpError::Protocol { server, reason } => McpError::Initialization { server, reason },
        error => error,
    }
}

/// Returns the request for a page of a list.
pub(crate) fn page<M: Default>(
    cursor: Option<&str>,
) -> RequestOptionalParam<M, PaginatedRequestParams> {
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
