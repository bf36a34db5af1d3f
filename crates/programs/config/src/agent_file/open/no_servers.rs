//! The replacement for the MCP servers in a build without the protocol: none of them can be started.

use std::sync::Arc;

use neuron_mcp::{McpClientHandler, McpServerSpec};
use neuron_types::{ToolDefinition, ToolDyn};

use crate::agent_file::{error::AgentFileError, open::options::OpenOptions};

/// No servers.
pub(crate) struct Servers;

impl Servers {
    /// # Errors
    ///
    /// [`AgentFileError::McpNotBuilt`] if there is one to start.
    #[expect(
        clippy::unused_async,
        reason = "in a build with the protocol this waits for the servers"
    )]
    pub(crate) async fn start(
        servers: Vec<(McpServerSpec, Arc<dyn McpClientHandler>)>,
        _options: &OpenOptions,
    ) -> Result<Self, AgentFileError> {
        match servers.into_iter().next() {
            None => Ok(Self),
            Some((server, _)) => Err(AgentFileError::McpNotBuilt {
                server: server.name,
            }),
        }
    }

    pub(crate) fn runs(&self, _server: &str) -> bool {
        false
    }

    pub(crate) fn failed(&self, _server: &str) -> bool {
        false
    }

    pub(crate) fn why(&self, _server: &str) -> Option<String> {
        None
    }

    pub(crate) fn definitions(&self, _server: &str) -> Vec<ToolDefinition> {
        Vec::new()
    }

    pub(crate) fn told_left_out(&self, _server: &str) -> Vec<String> {
        Vec::new()
    }

    pub(crate) fn tool(&self, _name: &str) -> Option<Arc<dyn ToolDyn>> {
        None
    }

    #[expect(
        clippy::unused_async,
        reason = "in a build with the protocol this waits for the servers"
    )]
    pub(crate) async fn stop(&self) {}
}
