//! The servers of a process: started once, shared, looked after, stopped with it.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::future::join_all;
use neuron_types::{ToolDefinition, ToolDyn};
use tokio::{task::JoinHandle, time};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::{Discovered, LeftOut, McpClient, McpClientHandler, McpError, McpServerSpec, McpTool};

/// How often each server is asked whether it is there.
const HEALTH_INTERVAL: Duration = Duration::from_secs(30);

/// How long the end waits for a look that is under way.
const LAST_LOOK: Duration = Duration::from_secs(5);

/// Servers that were started together, with the tools that they had then. Cheap to clone; clones share the
/// servers, and so do all runs of the process.
///
/// The tools do not change as long as this lives: what a server adds later is not seen, and a call of what it
/// took away is refused by the server. Every 30 s each server is asked whether it is there, and one that is
/// not is started or reached again. [`McpServers::stop`] ends them all; dropping the last clone does so in
/// the background.
#[derive(Clone)]
pub struct McpServers {
    inner: Arc<Inner>,
}

struct Inner {
    servers: BTreeMap<String, Server>,
    tools: BTreeMap<String, Arc<McpTool>>,
    watch: Mutex<Option<Watch>>,
}

/// Who looks after the servers. Dropping it ends that at once.
struct Watch {
    task: JoinHandle<()>,
    ending: CancellationToken,
}

struct Server {
    client: McpClient,
    found: Discovered,
}

impl McpServers {
    /// Starts or reaches all servers at the same time, one attempt each, and discovers their tools, whose names
    /// become `SERVER__TOOL`. Each comes with who answers what it asks.
    ///
    /// # Errors
    ///
    /// As [`McpClient::connect`] and [`McpClient::discover`], of the first server that fails. The others have
    /// ended then.
    pub async fn start(
        servers: impl IntoIterator<Item = (McpServerSpec, Arc<dyn McpClientHandler>)>,
    ) -> Result<Self, McpError> {
        let starting = servers.into_iter().map(|(spec, handler)| async move {
            let name = spec.name.clone();
            let client = McpClient::connect_shared(spec, handler).await?;
            let found = match client.discover(Some(&name)).await {
                Ok(found) => found,
                Err(error) => {
                    client.close().await;
                    return Err(error);
                }
            };
            Ok::<_, McpError>((name, Server { client, found }))
        });
        let mut servers = BTreeMap::new();
        let mut failed = None;
        for started in join_all(starting).await {
            match started {
                Ok((name, server)) => {
                    servers.insert(name, server);
                }
                Err(error) => {
                    failed.get_or_insert(error);
                }
            }
        }
        if let Some(error) = failed {
            join_all(servers.values().map(|server| server.client.close())).await;
            return Err(error);
        }
        let mut tools = BTreeMap::new();
        for server in servers.values() {
            for tool in &server.found.tools {
                tools.insert(tool.name().to_owned(), Arc::clone(tool));
            }
        }
        let clients = servers.values().map(|server| server.client.clone());
        let watch = (!servers.is_empty()).then(|| Watch::over(clients.collect()));
        Ok(Self {
            inner: Arc::new(Inner {
                servers,
                tools,
                watch: Mutex::new(watch),
            }),
        })
    }

    /// The names of the servers, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.inner.servers.keys().map(String::as_str)
    }

    /// The client of a server.
    #[must_use]
    pub fn client(&self, server: &str) -> Option<&McpClient> {
        Some(&self.inner.servers.get(server)?.client)
    }

    /// What the model is told about a server's tools. Empty if there is no such server.
    #[must_use]
    pub fn definitions(&self, server: &str) -> Vec<ToolDefinition> {
        let server = self.inner.servers.get(server);
        let tools = server.map(|server| server.found.tools.as_slice());
        let tools = tools.unwrap_or_default().iter();
        tools.map(|tool| tool.definition()).collect()
    }

    /// The tools of a server that cannot be used.
    #[must_use]
    pub fn left_out(&self, server: &str) -> &[LeftOut] {
        let server = self.inner.servers.get(server);
        server.map_or(&[], |server| server.found.left_out.as_slice())
    }

    /// A tool by its name here.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<Arc<dyn ToolDyn>> {
        let tool = Arc::clone(self.inner.tools.get(name)?);
        Some(tool)
    }

    /// Ends all servers. Those that were started here have ended when this returns. Further calls fail.
    pub async fn stop(&self) {
        if let Some(watch) = self.inner.take_watch() {
            watch.end().await;
        }
        let clients = self.inner.servers.values().map(|server| &server.client);
        join_all(clients.map(McpClient::close)).await;
    }
}

impl Inner {
    fn take_watch(&self) -> Option<Watch> {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        watch.take()
    }
}

impl Watch {
    fn over(clients: Vec<McpClient>) -> Self {
        let ending = CancellationToken::new();
        Self {
            task: tokio::spawn(watch(clients, ending.clone())),
            ending,
        }
    }

    /// Lets a look that is under way come to its end: a server that it has just started is ended like the
    /// others then.
    async fn end(mut self) {
        self.ending.cancel();
        drop(time::timeout(LAST_LOOK, &mut self.task).await);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn watch(clients: Vec<McpClient>, ending: CancellationToken) {
    let mut ticks = time::interval(HEALTH_INTERVAL);
    ticks.set_missed_tick_behavior(time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = ending.cancelled() => return,
            _ = ticks.tick() => {}
        }
        join_all(clients.iter().map(async |client| {
            if let Err(error) = client.ping().await {
                warn!(server = client.name(), %error, "an MCP server is not well");
                client.renew().await;
                // This very question starts it again.
                if let Err(error) = client.ping().await {
                    warn!(server = client.name(), %error, "an MCP server is not there");
                }
            }
        }))
        .await;
    }
}

/// The same servers, not such as are alike.
impl PartialEq for McpServers {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl fmt::Debug for McpServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServers")
            .field("servers", &self.inner.servers.keys())
            .field("tools", &self.inner.tools.keys())
            .finish_non_exhaustive()
    }
}
