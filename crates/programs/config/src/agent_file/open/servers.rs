//! The MCP servers that were started for the agents of a file.

use std::sync::Arc;

use neuron_mcp::{McpClientHandler, McpServerSpec, McpServers};
use neuron_types::{ToolDefinition, ToolDyn};

use crate::agent_file::error::AgentFileError;

/// The servers, which run until they are stopped.
pub(crate) struct Servers(McpServers);

impl Servers {
    pub(crate) async fn start(
        servers: Vec<(McpServerSpec, Arc<dyn McpClientHandler>)>,
    ) -> Result<Self, AgentFileError> {
        Ok(Self(McpServers::start(servers).await?))
    }

    pub(crate) fn runs(&self, server: &str) -> bool {
        self.0.client(server).is_some()
    }

    /// What the model is told about a server's tools.
    pub(crate) fn definitions(&self, server: &str) -> Vec<ToolDefinition> {
        self.0.definitions(server)
    }

    /// A tool by its name here.
    pub(crate) fn tool(&self, name: &str) -> Option<Arc<dyn ToolDyn>> {
        self.0.tool(name)
    }

    pub(crate) async fn stop(&self) {
        self.0.stop().await;
    }
}
