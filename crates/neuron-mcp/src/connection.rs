//! One connection to a server, from the handshake to its end.

use std::{
    error::Error,
    ffi::OsString,
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use neuron_tool::is_secret_variable;
use neuron_types::{ProgressReporter, with_causes};
use rmcp::{
    Peer, RoleClient, ServiceExt as _,
    model::{
        CancelledNotification, CancelledNotificationParam, ClientRequest, ErrorCode, ProgressToken,
        RequestId, ServerPeerInfo, ServerResult,
    },
    service::{ClientInitializeError, PeerRequestOptions, RunningService, ServiceError},
    transport::{
        StreamableHttpClientTransport,
        common::client_side_sse::SseRetryPolicy,
        streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError},
    },
};
use tokio::{process::Command, time};
use tokio_util::sync::CancellationToken;

use crate::{
    McpClientHandler, McpError, McpServerSpec, McpTransport,
    fault::{Fault, shown},
    http_client::HttpClient,
    peer::{Routes, Side},
    process::ServerProcess,
    stdio::StdioTransport,
};

/// How much of a server's error is told.
const MAX_REASON_CHARS: usize = 2000;
/// How servers on the official TypeScript SDK refuse a session that they do not know.
const SESSION_REFUSED: ErrorCode = ErrorCode(-32000);
/// How long closing a connection over HTTP may take.
const CLOSE: Duration = Duration::from_secs(10);
/// How long an answer that broke off over HTTP is asked for again.
const RESUME_DELAYS: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_millis(400),
    Duration::from_millis(1600),
];

/// A server that answers, or did.
pub(crate) struct Connection {
    server: String,
    /// The address, which may hold what is secret.
    url: Option<String>,
    peer: Peer<RoleClient>,
    service: Mutex<Option<RunningService<RoleClient, Side>>>,
    progress: Routes,
    fault: Fault,
}

/// How a request is made.
#[derive(Default)]
pub(crate) struct How<'a> {
    /// How long the answer may take.
    pub(crate) timeout: Option<Duration>,
    /// What ends the wait before.
    pub(crate) cancel: Option<&'a CancellationToken>,
    pub(crate) progress: Option<Arc<dyn ProgressReporter>>,
}

/// Why there is no answer.
pub(crate) enum NoAnswer {
    /// The server was never asked: a new connection may help.
    Unasked(McpError),
    /// The connection is of no use any more, and the server may have been asked.
    Broken(McpError),
    /// This is the answer.
    Final(McpError),
}

#[derive(Debug)]
struct Resume;

impl SseRetryPolicy for Resume {
    fn retry(&self, current_times: usize) -> Option<Duration> {
        RESUME_DELAYS.get(current_times).copied()
    }
}

impl Connection {
    /// Starts or reaches the server and begins the protocol.
    pub(crate) async fn open(
        spec: &McpServerSpec,
        handler: Arc<dyn McpClientHandler>,
    ) -> Result<Self, McpError> {
        let fault = Fault::default();
        let progress = Routes::default();
        let side = Side {
            server: spec.name.as_str().into(),
            handler,
            progress: progress.clone(),
        };
        let url = match &spec.transport {
            McpTransport::Stdio { .. } => None,
            McpTransport::Http { url, .. } => Some(url.clone()),
        };
        let begun = time::timeout(spec.timeout, begin(spec, side, &fault)).await;
        let service = match begun {
            Ok(Ok(service)) => service,
            Ok(Err(Beginning::Start(error))) => {
                return Err(McpError::Connection {
                    server: spec.name.clone(),
                    reason: error.to_string(),
                });
            }
            Ok(Err(Beginning::Handshake(error))) => {
                return Err(handshake_error(spec, &url, &fault, &error).await);
            }
            Err(_) => {
                let reason = format!("no answer within {:?}", spec.timeout);
                return Err(McpError::Initialization {
                    server: spec.name.clone(),
                    reason: fault.explain(&reason).await,
                });
            }
        };
        Ok(Self {
            server: spec.name.clone(),
            url,
            peer: service.peer().clone(),
            service: Mutex::new(Some(service)),
            progress,
            fault,
        })
    }

    /// What the server said of itself.
    pub(crate) fn info(&self) -> Option<Arc<ServerPeerInfo>> {
        self.peer.peer_info()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    /// Closes the connection. A server that was started for it has ended when this returns.
    pub(crate) async fn close(&self) {
        let service = {
            let mut service = self.service.lock().unwrap_or_else(PoisonError::into_inner);
            service.take()
        };
        if let Some(mut service) = service {
            // How it ended does not matter.
            drop(service.close_with_timeout(CLOSE).await);
        }
    }

    /// Makes a request and waits for its answer. Dropping this tells the server that nobody waits any more.
    pub(crate) async fn ask(
        &self,
        request: ClientRequest,
        how: &How<'_>,
    ) -> Result<ServerResult, NoAnswer> {
        let options = PeerRequestOptions::no_options();
        let sent = self.peer.send_cancellable_request(request, options).await;
        let handle = match sent {
            Ok(handle) => handle,
            Err(error) => {
                return Err(NoAnswer::Unasked(McpError::Connection {
                    server: self.server.clone(),
                    reason: self.fault.explain(&error.to_string()).await,
                }));
            }
        };
        if let Some(reporter) = &how.progress {
            self.progress
                .open(handle.progress_token.clone(), Arc::clone(reporter));
        }
        let mut waiting = Waiting {
            connection: self,
            id: Some(handle.id.clone()),
            progress: handle.progress_token.clone(),
        };
        let cancelled = async {
            match how.cancel {
                Some(token) => token.cancelled().await,
                None => std::future::pending().await,
            }
        };
        let late = async {
            match how.timeout {
                Some(timeout) => time::sleep(timeout).await,
                None => std::future::pending().await,
            }
        };
        let answer = tokio::select! {
            biased;
            answer = handle.await_response() => answer,
            () = cancelled => return Err(NoAnswer::Final(McpError::Cancelled)),
            () = late => {
                return Err(NoAnswer::Final(McpError::Timeout {
                    server: self.server.clone(),
                    after: how.timeout.unwrap_or_default(),
                }));
            }
        };
        waiting.id = None;
        drop(waiting);
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) => Err(self.sort(error).await),
        }
    }

    async fn sort(&self, error: ServiceError) -> NoAnswer {
        let server = self.server.clone();
        match error {
            ServiceError::McpError(error) if error.code == ErrorCode::PARSE_ERROR => {
                let reason = shown(&error.message, MAX_REASON_CHARS);
                NoAnswer::Final(McpError::Protocol { server, reason })
            }
            // What servers say that were started anew and know no session, beside those that say 404.
            ServiceError::McpError(error)
                if self.url.is_some()
                    && error.code == SESSION_REFUSED
                    && error.message.contains("session") =>
            {
                NoAnswer::Unasked(McpError::Connection {
                    server,
                    reason: shown(&error.message, MAX_REASON_CHARS),
                })
            }
            ServiceError::McpError(error) => NoAnswer::Final(McpError::Refused {
                server,
                code: error.code.0,
                message: shown(&error.message, MAX_REASON_CHARS),
            }),
            ServiceError::TransportClosed => match self.fault.protocol() {
                Some(reason) => NoAnswer::Broken(McpError::Protocol { server, reason }),
                None => {
                    let reason = self.fault.explain("the connection ended").await;
                    NoAnswer::Broken(McpError::Lost { server, reason })
                }
            },
            ServiceError::TransportSend(error) => {
                let reason = without(&causes(error.error.as_ref()), self.url.as_deref());
                match error.error.downcast_ref() {
                    Some(error) => sort_http(server, reason, error),
                    // The pipe to a server that has ended.
                    None => NoAnswer::Unasked(McpError::Connection {
                        server,
                        reason: self.fault.explain(&reason).await,
                    }),
                }
            }
            ServiceError::UnexpectedResponse => NoAnswer::Final(McpError::Protocol {
                server,
                reason: "its answer is not what was asked for".to_owned(),
            }),
            ServiceError::Cancelled { .. } => NoAnswer::Final(McpError::Cancelled),
            other => NoAnswer::Final(McpError::Protocol {
                server,
                reason: shown(&other.to_string(), MAX_REASON_CHARS),
            }),
        }
    }
}

/// A failure over HTTP, by what the server can have done.
fn sort_http(
    server: String,
    reason: String,
    error: &StreamableHttpError<reqwest::Error>,
) -> NoAnswer {
    match error {
        StreamableHttpError::Client(error) if error.is_connect() => {
            NoAnswer::Unasked(McpError::Connection { server, reason })
        }
        StreamableHttpError::HttpStatus(status) if matches!(status.status, 429 | 503) => {
            NoAnswer::Unasked(McpError::Connection { server, reason })
        }
        // A session that the server does not know any more: it looked no further.
        StreamableHttpError::SessionExpired
        | StreamableHttpError::ReinitializationFailed(_)
        | StreamableHttpError::TransportChannelClosed
        | StreamableHttpError::MissingSessionIdInResponse => {
            NoAnswer::Unasked(McpError::Connection { server, reason })
        }
        StreamableHttpError::UnexpectedServerResponse(text)
            if text.contains("HTTP 400") || text.contains("HTTP 404") =>
        {
            NoAnswer::Unasked(McpError::Connection { server, reason })
        }
        StreamableHttpError::UnexpectedServerResponse(_)
        | StreamableHttpError::UnexpectedContentType(_)
        | StreamableHttpError::ResponseBodyTooLarge { .. }
        | StreamableHttpError::Deserialize(_)
        | StreamableHttpError::Sse(_)
        | StreamableHttpError::AuthRequired(_)
        | StreamableHttpError::InsufficientScope(_) => {
            NoAnswer::Final(McpError::Protocol { server, reason })
        }
        _ => NoAnswer::Broken(McpError::Lost { server, reason }),
    }
}

/// A request whose answer is awaited. The server is told when it is not any more.
struct Waiting<'a> {
    connection: &'a Connection,
    /// `None` when it was answered.
    id: Option<RequestId>,
    progress: ProgressToken,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.connection.progress.close(&self.progress);
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let peer = self.connection.peer.clone();
        let reason = Some("nobody waits for the answer any more".to_owned());
        let notice = CancelledNotification::new(CancelledNotificationParam::new(Some(id), reason));
        runtime.spawn(async move {
            // A connection that has ended needs no notice.
            drop(peer.send_notification(notice.into()).await);
        });
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

async fn begin(
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
            let client = reqwest::Client::builder()
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
    url: &Option<String>,
    fault: &Fault,
    error: &ClientInitializeError,
) -> McpError {
    let server = spec.name.clone();
    if let Some(reason) = fault.protocol() {
        return McpError::Protocol { server, reason };
    }
    match error {
        ClientInitializeError::TransportError { error, .. } => {
            let reason = without(&causes(error.error.as_ref()), url.as_deref());
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

/// An error and its causes, as short as it is to be.
fn causes(error: &(dyn Error + 'static)) -> String {
    shown(&with_causes(error), MAX_REASON_CHARS)
}

/// A text without the address.
fn without(text: &str, url: Option<&str>) -> String {
    match url {
        Some(url) => text
            .replace(&format!(" for url ({url})"), "")
            .replace(url, "its address"),
        None => text.to_owned(),
    }
}
