//! How a connection begins: a program is started or an address is reached, and the protocol is begun.

use std::{ffi::OsString, io, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use neuron_tool::is_secret_variable;
use rmcp::{
    RoleClient, ServiceExt as _,
    service::{ClientInitializeError, RunningService},
    transport::{
        StreamableHttpClientTransport, common::client_side_sse::SseRetryPolicy,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use tokio::{process::Command, time};

use crate::{
    McpError, McpServerSpec, McpTransport,
    client::no_answer::{MAX_REASON_CHARS, causes, without},
    handler::side::Side,
    transport::http::HttpClient,
    transport::process::ServerProcess,
    transport::stdio::StdioTransport,
    wire::fault::{Fault, shown},
};

/// How long an answer that broke off over HTTP is asked for again.
const RESUME_DELAYS: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_millis(400),
    Duration::from_millis(1600),
];

/// Starts or reaches a server and begins the protocol, in the time that the server has for it.
pub(crate) async fn begin(
    spec: &McpServerSpec,
    side: Side,
    fault: &Fault,
) -> Result<RunningService<RoleClient, Side>, McpError> {
    match time::timeout(spec.timeout, serve(spec, side, fault)).await {
        Ok(Ok(service)) => Ok(service),
        Ok(Err(Beginning::Start(error))) => Err(McpError::Connection {
            server: spec.name.clone(),
            reason: error.to_string(),
        }),
        Ok(Err(Beginning::Handshake(error))) => Err(handshake_error(spec, fault, &error).await),
        Err(_) => {
            let reason = format!("no answer within {:?}", spec.timeout);
            Err(McpError::Initialization {
                server: spec.name.clone(),
                reason: fault.explain(&reason).await,
            })
        }
    }
}

/// Why nothing began.
enum Beginning {
    Start(io::Error),
    Handshake(Box<ClientInitializeError>),
}

impl From<ClientInitializeError> for Beginning {
    fn from(error: ClientInitializeError) -> Self {
        Self::Handshake(Box::new(error))
    }
}

/// Boxed, so that the SDK's client is compiled here once, and not in every program that connects one.
fn serve<'a>(
    spec: &'a McpServerSpec,
    side: Side,
    fault: &'a Fault,
) -> BoxFuture<'a, Result<RunningService<RoleClient, Side>, Beginning>> {
    Box::pin(open_transport(spec, side, fault))
}

async fn open_transport(
    spec: &McpServerSpec,
    side: Side,
    fault: &Fault,
) -> Result<RunningService<RoleClient, Side>, Beginning> {
    match &spec.transport {
        McpTransport::Stdio { .. } => {
            let (process, pipes) =
                ServerProcess::spawn(command(&spec.transport)).map_err(Beginning::Start)?;
            let transport = StdioTransport::new(
                &spec.name,
                process,
                pipes,
                spec.max_message_bytes,
                fault.clone(),
            );
            Ok(side.serve(transport).await?)
        }
        McpTransport::Http { url, token } => {
            let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                .max_sse_event_size(spec.max_message_bytes);
            config.retry_config = Arc::new(Resume);
            config.auth_header = token.clone();
            let client = neuron_tls::client_builder()
                .map_err(|error| Beginning::Start(io::Error::other(error)))?
                .connect_timeout(spec.timeout)
                // A kept connection may turn out closed when a request is under way, and then it is not known
                // whether the server got it.
                .pool_max_idle_per_host(0)
                // An address is where its operator put it. A session must not be told to others.
                .redirect(reqwest::redirect::Policy::none())
                .build()
                .map_err(|error| Beginning::Start(io::Error::other(error)))?;
            let transport = StreamableHttpClientTransport::with_client(HttpClient(client), config);
            Ok(side.serve(transport).await?)
        }
    }
}

fn command(transport: &McpTransport) -> Command {
    let McpTransport::Stdio {
        command,
        args,
        environment,
        hidden_environment,
        cwd,
    } = transport
    else {
        return Command::new(OsString::new());
    };
    let mut built = Command::new(command);
    built.args(args);
    for (name, _) in std::env::vars_os() {
        if is_secret_variable(&name) || hidden_environment.iter().any(|hidden| name == **hidden) {
            built.env_remove(&name);
        }
    }
    built.envs(environment);
    if let Some(cwd) = cwd {
        built.current_dir(cwd);
    }
    built
}

async fn handshake_error(
    spec: &McpServerSpec,
    fault: &Fault,
    error: &ClientInitializeError,
) -> McpError {
    let server = spec.name.clone();
    if let Some(reason) = fault.protocol() {
        return McpError::Protocol { server, reason };
    }
    match error {
        ClientInitializeError::TransportError { error, .. } => {
            let url = match &spec.transport {
                McpTransport::Stdio { .. } => None,
                McpTransport::Http { url, .. } => Some(url.as_str()),
            };
            let reason = without(&causes(error.error.as_ref()), url);
            let reason = fault.explain(&reason).await;
            McpError::Connection { server, reason }
        }
        ClientInitializeError::ConnectionClosed(_) => {
            let reason = fault.explain("it ended at once").await;
            McpError::Initialization { server, reason }
        }
        ClientInitializeError::JsonRpcError(error) => McpError::Initialization {
            server,
            reason: shown(&error.message, MAX_REASON_CHARS),
        },
        other => McpError::Initialization {
            server,
            reason: shown(&other.to_string(), MAX_REASON_CHARS),
        },
    }
}

#[derive(Debug)]
struct Resume;

impl SseRetryPolicy for Resume {
    fn retry(&self, current_times: usize) -> Option<Duration> {
        RESUME_DELAYS.get(current_times).copied()
    }
}
