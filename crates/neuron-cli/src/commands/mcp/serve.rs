//! `neuron mcp serve`

use std::{env, net::SocketAddr};

use neuron_mcp::{McpError, McpServer};
use neuron_runtime::ProcessEnvironment;
use neuron_tool::builtin::PermissionChecker;
use neuron_types::{AgentSpec, CompletionRequest, ToolContext};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{CliError, Exit, interruption::Interruption, output::note, session::Session};

/// The variable that holds the token which clients over HTTP must send.
const TOKEN_VARIABLE: &str = "NEURON_MCP_TOKEN";

pub(crate) async fn serve(session: &Session, http: Option<SocketAddr>) -> Result<Exit, CliError> {
    let stop = CancellationToken::new();
    let interruption = Interruption::listen({
        let stop = stop.clone();
        move || stop.cancel()
    })
    .map_err(CliError::Signals)?;

    let mut file = session.agent_file()?;
    let cwd = session.cwd()?;
    let agent = &session.global.agent;
    let servers = file.start_mcp([agent], &cwd, &ProcessEnvironment).await?;
    let served = async {
        let agent = file.agent(agent)?;
        // Tools need no model, and so no key.
        let tools_only = AgentSpec {
            request: CompletionRequest {
                tools: agent.request.tools,
                ..CompletionRequest::default()
            },
            name: agent.name,
            tool_settings: agent.tool_settings,
            tool_timeout: agent.tool_timeout,
            ..AgentSpec::default()
        };
        let executor = file.executor(&tools_only, &cwd, &ProcessEnvironment)?;
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
    servers.stop().await;
    served.map(|()| {
        interruption
            .exit()
            .filter(|_| http.is_none())
            .unwrap_or(Exit::Done)
    })
}

async fn serve_http(
    mut server: McpServer,
    address: SocketAddr,
    tools: usize,
    stop: CancellationToken,
) -> Result<(), CliError> {
    let token = env::var(TOKEN_VARIABLE).ok();
    if let Some(token) = token.filter(|token| !token.trim().is_empty()) {
        server = server.token(token.trim());
    }
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
