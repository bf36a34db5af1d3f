#![doc = include_str!("../README.md")]

mod client;
mod error;
mod handler;
mod server;
mod transport;
mod wire;

pub use self::{
    client::discovery::Discovered,
    client::mcp_client::{McpClient, McpServerInfo},
    client::resource::{
        McpPrompt, McpPromptArgument, McpResource, McpResourceTemplate, PaginatedList,
        PromptResult, ResourceContent, ResourceData,
    },
    client::servers::McpServers,
    client::spec::{McpServerSpec, McpTransport},
    client::tool::McpTool,
    error::McpError,
    handler::client_handler::{
        ElicitationAnswer, ElicitationForm, ElicitationRequest, McpClientHandler, McpRoot,
        SamplingRequest,
    },
    server::mcp_server::McpServer,
    wire::definition::LeftOut,
};
