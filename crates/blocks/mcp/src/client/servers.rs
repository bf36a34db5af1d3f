//! The servers of a process: started once, shared, looked after, stopped with it.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use futures::future::join_all;
use neuron_types::{ToolDefinition, ToolDyn};

use crate::{
    Discovered, LeftOut, McpClient, McpError, McpTool, client::told, client::watch::Watch,
};

/// Servers that were started together, with the tools that they had then. Cheap to clone; clones share the
/// servers, and so do all runs of the process.
///
/// The tools do not change as long as this value lives: what a server adds later is not seen, and the server rejects a
/// call of a tool that it took away. Every 30 s each server is looked at, and one that is lost is started or reached
/// again. So is one that has no call under way and does not answer a ping within its
/// [`timeout`](method@crate::McpServerSpec::timeout). An answer of any kind is a sign of life, an error too, and a
/// server of 2026-07-28, which has no ping, is sent none. [`McpServers::stop`] ends them all; dropping the last clone
/// does so in the background.
#[derive(Clone)]
pub struct McpServers {
    inner: Arc<Inner>,
}

struct Inner {
    servers: BTreeMap<String, Server>,
    /// Why the servers did not start that the others do without.
    failed: BTreeMap<String, McpError>,
    tools: BTreeMap<String, Arc<McpTool>>,
    watch: Mutex<Option<Watch>>,
}

/// A server that started, and what it had then.
pub(crate) struct Server {
    pub(crate) client: McpClient,
    pub(crate) found: Discovered,
}

impl McpServers {
    /// Takes servers that started, which `watch` looks after.
    pub(crate) fn of(
        servers: BTreeMap<String, Server>,
        failed: BTreeMap<String, McpError>,
        watch: Option<Watch>,
    ) -> Self {
        let found = servers.values().flat_map(|server| &server.found.tools);
        let tools = found.map(|tool| (tool.name().to_owned(), Arc::clone(tool)));
        let tools = tools.collect();
        Self {
            inner: Arc::new(Inner {
                servers,
                failed,
                tools,
                watch: Mutex::new(watch),
            }),
        }
    }

    /// Returns the names of the servers, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.inner.servers.keys().map(String::as_str)
    }

    /// Returns the client of a server.
    #[must_use]
    pub fn client(&self, server: &str) -> Option<&McpClient> {
        Some(&self.inner.servers.get(server)?.client)
    }

    /// Returns why a server did not start that the others do without: one that is not
    /// [required](method@crate::McpServerSpec::required), or any of them with
    /// [`McpServersBuilder::go_on_without`](crate::McpServersBuilder::go_on_without).
    #[must_use]
    pub fn failed(&self, server: &str) -> Option<&McpError> {
        self.inner.failed.get(server)
    }

    /// Returns how the model sees a server's tools. Empty if there is no such server.
    #[must_use]
    pub fn definitions(&self, server: &str) -> Vec<ToolDefinition> {
        let server = self.inner.servers.get(server);
        let tools = server.map(|server| server.found.tools.as_slice());
        let tools = tools.unwrap_or_default().iter();
        tools.map(|tool| tool.definition()).collect()
    }

    /// Returns the tools of a server that cannot be used.
    #[must_use]
    pub fn left_out(&self, server: &str) -> &[LeftOut] {
        let server = self.inner.servers.get(server);
        server.map_or(&[], |server| server.found.left_out.as_slice())
    }

    /// Returns which tools of a server cannot be used, each in a sentence with the server, the name and the reason, for
    /// the runs of agents that are to have its tools. The first 16 are named; if there are more, a last sentence counts
    /// them. Each has no more than 500 characters of the server's, all harmless to look at. For a server that
    /// [failed](Self::failed) to start one sentence gives the reason. Empty if there is no such server.
    #[must_use]
    pub fn told_left_out(&self, server: &str) -> Vec<String> {
        match self.failed(server) {
            Some(error) => vec![told::failed(server, error)],
            None => told::told(server, self.left_out(server)),
        }
    }

    /// Returns a tool by its name here.
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
            .field("failed", &self.inner.failed.keys())
            .field("tools", &self.inner.tools.keys())
            .finish_non_exhaustive()
    }
}
