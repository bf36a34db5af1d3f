//! The MCP servers that were started for the agents of a file.

use std::sync::Arc;

use neuron_mcp::{McpClientHandler, McpServerSpec, McpServers};
use neuron_types::{ToolDefinition, ToolDyn};

use crate::agent_file::{error::AgentFileError, open::options::OpenOptions};

/// The servers, which run until they are stopped.
pub(crate) struct Servers(McpServers);

impl Servers {
    pub(crate) async fn start(
        servers: Vec<(McpServerSpec, Arc<dyn McpClientHandler>)>,
        options: &OpenOptions,
    ) -> Result<Self, AgentFileError> {
        let mut builder = McpServers::builder().go_on_without(options.skips_servers);
        if let Some(notices) = &options.notices {
            builder = builder.notices(Arc::clone(notices));
        }
        for (spec, handler) in servers {
            builder = builder.server(spec, handler);
        }
        Ok(Self(builder.start().await?))
    }

    pub(crate) fn runs(&self, server: &str) -> bool {
        self.0.client(server).is_some()
    }

    /// Returns whether a server was to start, and did not.
    pub(crate) fn failed(&self, server: &str) -> bool {
        self.0.failed(server).is_some()
    }

    /// Returns why a server did not start.
    pub(crate) fn why(&self, server: &str) -> Option<String> {
        self.0.failed(server).map(ToString::to_string)
    }

    /// Returns the definitions of a server's tools as the model sees them.
    pub(crate) fn definitions(&self, server: &str) -> Vec<ToolDefinition> {
        self.0.definitions(server)
    }

    /// Returns which tools of a server cannot be used, or why the server did not start, each in a sentence with the
    /// reason.
    pub(crate) fn told_left_out(&self, server: &str) -> Vec<String> {
        self.0.told_left_out(server)
    }

    /// Returns a tool by its name here.
    pub(crate) fn tool(&self, name: &str) -> Option<Arc<dyn ToolDyn>> {
        self.0.tool(name)
    }

    pub(crate) async fn stop(&self) {
        self.0.stop().await;
    }
}
