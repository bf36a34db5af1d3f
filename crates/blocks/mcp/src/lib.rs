#![doc = include_str!("../README.md")]

#[cfg(feature = "protocol")]
mod client;
mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod handler;
mod notice;
#[cfg(feature = "protocol")]
mod server;
mod spec;
#[cfg(feature = "protocol")]
mod transport;
#[cfg(feature = "protocol")]
mod wire;

#[cfg(feature = "protocol")]
pub use self::{
    client::discovery::Discovered,
    client::mcp_client::{McpClient, McpServerInfo},
    client::page::PaginatedList,
    client::resource::{
        McpPrompt, McpPromptArgument, McpResource, McpResourceTemplate, PromptResult,
        ResourceContent, ResourceData,
    },
    client::servers::McpServers,
    client::servers_builder::McpServersBuilder,
    client::tool::McpTool,
    server::mcp_server::McpServer,
    wire::definition::LeftOut,
};
pub use self::{
    error::McpError,
    handler::client_handler::{
        ElicitationAnswer, ElicitationForm, ElicitationRequest, McpClientHandler, McpRoot,
        SamplingRequest,
    },
    notice::{McpNotice, McpNotices},
    spec::{McpServerSpec, McpTransport},
};
