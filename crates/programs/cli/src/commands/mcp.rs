//! `neuron mcp`

use crate::{
    CliError, Exit,
    args::{McpArgs, McpCommand},
    session::Session,
};

mod list;
mod serve;

pub(crate) async fn mcp(session: &Session, args: McpArgs) -> Result<Exit, CliError> {
    match args.command {
        McpCommand::Serve(args) => serve::serve(session, args.http).await,
        McpCommand::List(args) => list::list(session, &args.servers).await,
    }
}
