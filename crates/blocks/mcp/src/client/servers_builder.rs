//! Starting the servers of a process.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use futures::future::join_all;
use tokio::time;
use tracing::{info, warn};

use crate::{
    McpClient, McpClientHandler, McpError, McpNotice, McpNotices, McpServerSpec, McpServers,
    client::{servers::Server, watch::Watch},
};

/// How often each server is looked at.
const HEALTH_INTERVAL: Duration = Duration::from_secs(30);

/// How long a start may take before it is reported that it is waited for.
const SLOW: Duration = Duration::from_secs(2);

/// Starts servers together. Created with [`McpServers::builder`].
#[must_use]
pub struct McpServersBuilder {
    servers: Vec<(McpServerSpec, Arc<dyn McpClientHandler>)>,
    health_interval: Duration,
    notices: Option<McpNotices>,
    goes_on: bool,
}

impl McpServers {
    /// Returns a builder without servers.
    pub fn builder() -> McpServersBuilder {
        McpServersBuilder {
            servers: Vec::new(),
            health_interval: HEALTH_INTERVAL,
            notices: None,
            goes_on: false,
        }
    }

    /// Starts or reaches all servers, as [`McpServersBuilder::start`] does. Each comes with the handler that answers
    /// what it asks.
    ///
    /// # Errors
    ///
    /// As [`McpServersBuilder::start`].
    pub async fn start(
        servers: impl IntoIterator<Item = (McpServerSpec, Arc<dyn McpClientHandler>)>,
    ) -> Result<Self, McpError> {
        let mut builder = Self::builder();
        builder.servers.extend(servers);
        builder.start().await
    }
}

impl McpServersBuilder {
    /// Adds a server, with the handler that answers what it asks.
    pub fn server(mut self, spec: McpServerSpec, handler: Arc<dyn McpClientHandler>) -> Self {
        self.servers.push((spec, handler));
        self
    }

    /// Sets how often each server is looked at. Default is every 30 s.
    ///
    /// # Panics
    ///
    /// [`start`](Self::start) panics if it is zero.
    pub fn health_interval(mut self, every: Duration) -> Self {
        self.health_interval = every;
        self
    }

    /// Sets the callback that is notified of servers that are slow to start, and of those that are left out. Default is
    /// the log.
    pub fn notices(mut self, notices: McpNotices) -> Self {
        self.notices = Some(notices);
        self
    }

    /// Sets whether the others start without a server that does not, though it is required. No notice is sent then:
    /// [`McpServers::failed`] returns the reason. Default is false.
    pub fn go_on_without(mut self, goes_on: bool) -> Self {
        self.goes_on = goes_on;
        self
    }

    /// Starts or reaches all servers at the same time, one attempt each, and discovers their tools, whose names
    /// become `SERVER__TOOL`. A server that is not [required](method@McpServerSpec::required) and does not start is left out.
    ///
    /// # Errors
    ///
    /// As [`McpClient::connect`] and [`McpClient::discover`], of the first required server that fails. The others have
    /// ended then.
    pub async fn start(self) -> Result<McpServers, McpError> {
        let notices = self.notices.unwrap_or_else(|| Arc::new(log));
        let starting = self.servers.into_iter().map(|(spec, handler)| {
            let notices = Arc::clone(&notices);
            async move {
                let (name, required) = (spec.name.clone(), spec.required);
                (name, required, start_one(spec, handler, &notices).await)
            }
        });
        let (mut servers, mut failed) = (BTreeMap::<String, Server>::new(), BTreeMap::new());
        let mut fatal = None;
        for (name, required, started) in join_all(starting).await {
            match started {
                Ok(server) => {
                    servers.insert(name, server);
                }
                Err(error) if !required => {
                    notices(&McpNotice::LeftOut { error: &error });
                    failed.insert(name, error);
                }
                Err(error) if self.goes_on => {
                    failed.insert(name, error);
                }
                Err(error) => {
                    fatal.get_or_insert(error);
                }
            }
        }
        if let Some(error) = fatal {
            join_all(servers.values().map(|server| server.client.close())).await;
            return Err(error);
        }
        let clients: Vec<McpClient> = servers
            .values()
            .map(|server| server.client.clone())
            .collect();
        let watch = (!clients.is_empty()).then(|| Watch::over(clients, self.health_interval));
        Ok(McpServers::of(servers, failed, watch))
    }
}

impl fmt::Debug for McpServersBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self
            .servers
            .iter()
            .map(|(spec, _)| spec.name.as_str())
            .collect();
        f.debug_struct("McpServersBuilder")
            .field("servers", &names)
            .field("health_interval", &self.health_interval)
            .finish_non_exhaustive()
    }
}

async fn start_one(
    spec: McpServerSpec,
    handler: Arc<dyn McpClientHandler>,
    notices: &McpNotices,
) -> Result<Server, McpError> {
    let (name, most) = (spec.name.clone(), spec.longest_start());
    let starting = async {
        let client = McpClient::connect_shared(spec, handler).await?;
        match client.discover(Some(&name)).await {
            Ok(found) => Ok(Server { client, found }),
            Err(error) => {
                client.close().await;
                Err(error)
            }
        }
    };
    tokio::pin!(starting);
    tokio::select! {
        biased;
        started = &mut starting => return started,
        () = time::sleep(SLOW) => {}
    }
    notices(&McpNotice::Waiting {
        server: &name,
        most,
    });
    starting.await
}

fn log(notice: &McpNotice<'_>) {
    match notice {
        McpNotice::Waiting { .. } => info!("{notice}"),
        McpNotice::LeftOut { .. } => warn!("{notice}"),
    }
}
