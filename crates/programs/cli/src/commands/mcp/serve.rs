//! `neuron mcp serve`

use std::{env, net::SocketAddr};

use neuron_mcp::{McpError, McpServer};
use neuron_tool::builtin::PermissionChecker;
use neuron_types::{AgentSpec, RequestHead, ToolContext};
use neuron_worker::{Interruption, variable};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{CliError, Exit, session::Session, terminal::output::note};

/// The variable that holds the token which clients over HTTP must send.
const TOKEN_VARIABLE: &str = "NEURON_MCP_TOKEN";

pub(crate) async fn serve(session: &Session, http: Option<SocketAddr>) -> Result<Exit, CliError> {
    // A person who is asked about the file can end the command with one signal.
    let file = session.agent_file().await?;
    let stop = CancellationToken::new();
    let interruption = Interruption::listen({
        let stop = stop.clone();
        move || stop.cancel()
    })
    .map_err(CliError::Signals)?;

    let cwd = env::current_dir().map_err(CliError::WorkingDirectory)?;
    let agent = session.global.agent();
    let options = session.open_options()?.agents([agent]);
    let agents = file.open(options).await?;
    let served = async {
        let agent = agents.agent(agent)?;
        // Tools need no model, and so no key.
        let tools_only = AgentSpec {
            head: RequestHead {
                tools: agent.head.tools.clone(),
                ..RequestHead::default()
            }
            .into(),
            name: agent.name,
            tool_settings: agent.tool_settings,
            tool_timeout: agent.tool_timeout,
            ..AgentSpec::default()
        };
        let executor = agents.executor(&tools_only)?;
        let mut tools = executor.tools().clone();
        let count = tools.names().count();
        tools.add_middleware(PermissionChecker::new(agent.approvals));
        let server = McpServer::new(tools).context(ToolContext {
            cwd: cwd.clone(),
            ..ToolContext::default()
        });
        match http {
            Some(address) => serve_http(server, address, count, stop).await,
            None => {
                tokio::select! {
                    served = server.serve_stdio() => Ok(served?),
                    () = stop.cancelled() => Ok(()),
                }
            }
        }
    }
    .await;
    agents.stop().await;
    served.map(|()| {
        interruption
            .signal()
            .filter(|_| http.is_none())
            .map_or(Exit::Done, Exit::Signalled)
    })
}

async fn serve_http(
    mut server: McpServer,
    address: SocketAddr,
    tools: usize,
    stop: CancellationToken,
) -> Result<(), CliError> {
    let token = variable(TOKEN_VARIABLE).and_then(|token| token.into_string().ok());
    if let Some(token) = token {
        server = server.token(token.trim());
    }
    // The address is checked before anything reports that it is served.
    server.check_address(address)?;
    let failed = |source| McpError::Serve {
        address: Some(address),
        source,
    };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    note(&format!(
        "serving {tools} tools at http://{address}/mcp (Ctrl-C stops)"
    ));
    server.serve_listener(listener, stop).await?;
    Ok(())
}
