//! The Model Context Protocol: tools of other servers as tools here, and tools here as a server.
//!
//! | You want to | Use |
//! | --- | --- |
//! | call the tools of a server, read its resources, fill in its prompts | [`McpClient`] |
//! | have them in a [`ToolRegistry`](neuron_tool::ToolRegistry) | [`McpClient::discover_tools`] |
//! | start the servers of a process once, look after them and stop them | [`McpServers`] |
//! | answer what servers ask: a model, a person, the folders to work in | [`McpClientHandler`] |
//! | offer the tools of a registry to others | [`McpServer`] |
//!
//! # Tools of a server
//!
//! ```no_run
//! use neuron_mcp::McpClient;
//! use neuron_tool::{BuiltinOptions, ToolRegistry, builtin_tools};
//!
//! # async fn example() -> Result<(), neuron_mcp::McpError> {
//! let mut tools = ToolRegistry::new();
//! for tool in builtin_tools(&BuiltinOptions::default()) {
//!     tools.register_dyn(tool);
//! }
//!
//! let github = McpClient::connect_stdio("npx", &["@mcp/server-github"]).await?;
//! for tool in github.discover_tools().await? {
//!     tools.register_dyn(tool);
//! }
//!
//! // Agents call them until then.
//! github.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! A server's tool is a [`ToolDyn`](neuron_types::ToolDyn) like any other: middleware, approvals and retries work as
//! for tools of this process. Its annotations say what may be repeated.
//!
//! # Strangers
//!
//! A server is a stranger. What it sends is bounded: the bytes of a message, the number of tools and pages, the size
//! and depth of schemas, the output that is no protocol. Names with control characters are left out, texts that
//! people see are cleaned of them, and schemas are handed on to the model and never executed. Whatever a server
//! does costs a [`McpError`], and one that was started here is ended with everything that it started. What it
//! says of its tools' effects is believed all the same, and its words reach the model: use servers that you
//! trust.
//!
//! # Over which transports
//!
//! Standard input and output, and streamable HTTP. The protocol's versions up to 2025-11-25 are spoken.

mod client;
mod connection;
mod content;
mod definition;
mod discovery;
mod error;
mod fault;
mod handler;
mod http;
mod http_client;
mod no_answer;
mod opening;
mod peer;
mod process;
mod questions;
mod resource;
mod sampling;
mod server;
mod servers;
mod spec;
mod stdio;
mod tool;

pub use self::{
    client::{McpClient, McpServerInfo},
    definition::LeftOut,
    discovery::Discovered,
    error::McpError,
    handler::{
        ElicitationAnswer, ElicitationForm, ElicitationRequest, McpClientHandler, McpRoot,
        SamplingRequest,
    },
    resource::{
        McpPrompt, McpPromptArgument, McpResource, McpResourceTemplate, PaginatedList,
        PromptResult, ResourceContent, ResourceData,
    },
    server::McpServer,
    servers::McpServers,
    spec::{McpServerSpec, McpTransport},
    tool::McpTool,
};
