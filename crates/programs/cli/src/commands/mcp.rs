//! `neuron mcp`

use crate::{CliError, Exit, args::McpArgs, session::Session};

#[cfg(feature = "mcp")]
mod list;
#[cfg(feature = "mcp")]
mod serve;

#[cfg(feature = "mcp")]
pub(crate) async fn mcp(session: &Session, args: McpArgs) -> Result<Exit, CliError> {
    use crate::args::McpCommand;

    match args.command {
        McpCommand::Serve(args) => serve::serve(session, args.http).await,
        McpCommand::List(args) => list::list(session, &args.servers).await,
    }
}

#[cfg(not(feature = "mcp"))]
#[expect(clippy::unused_async, reason = "in a build with MCP it waits")]
pub(crate) async fn mcp(_session: &Session, _args: McpArgs) -> Result<Exit, CliError> {
    Err(CliError::NoMcp { server: None })
}
