//! How a connection begins: a program is started or an address is reached, and the protocol is begun.

use std::{
    collections::{BTreeMap, HashMap},
    env, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use neuron_sandbox::{ConfinedCommand, Confinement, Sandbox};
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::{
    RoleClient,
    service::{ClientInitializeError, RunningService},
    transport::{
        StreamableHttpClientTransport, common::client_side_sse::SseRetryPolicy,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use tokio::time;

use crate::{
    McpError, McpServerSpec, McpTransport,
    client::cache::{self, Identity},
    client::handshake::begin_protocol,
    client::no_answer::{MAX_REASON_CHARS, causes},
    handler::side::Side,
    transport::http::HttpClient,
    transport::process::ServerProcess,
    transport::stdio::StdioTransport,
    wire::{fault::Fault, mend::Asked, secrets::Secrets},
};

/// How long an answer that broke off over HTTP is asked for again.
const RESUME_DELAYS: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_millis(400),
    Duration::from_millis(1600),
];

/// A connection that has begun.
pub(crate) struct Begun {
    pub(crate) service: RunningService<RoleClient, Side>,
    /// Where the reason of the end is reported by the part that sees it.
    pub(crate) fault: Fault,
}

/// Starts or reaches a server and begins the protocol, in the time that the server has for it.
///
/// `older` is what is remembered of the server: whether the newer way to begin is of no use with it.
pub(crate) async fn begin(
    spec: &McpServerSpec,
    side: Side,
    older: &AtomicBool,
) -> Result<Begun, McpError> {
    let end = time::Instant::now() + spec.longest_start();
    let first = attempt(spec, side.clone(), older, end).await;
    match first {
        Err(Failed {
            error: Beginning::Handshake(error),
            fault,
        }) if matches!(*error, ClientInitializeError::ConnectionClosed(_))
            && fault.protocol().is_none()
            && !older.swap(true, Ordering::Relaxed) =>
        {
            // Some older servers end where they are asked anything before `initialize`.
            let second = attempt(spec, side, older, end).await;
            if second.is_err() {
                older.store(false, Ordering::Relaxed);
            }
            sort(spec, second).await
        }
        first => sort(spec, first).await,
    }
}

async fn attempt(
    spec: &McpServerSpec,
    side: Side,
    older: &AtomicBool,
    end: time::Instant,
) -> Result<Begun, Failed> {
    let fault = Fault::of(Secrets::of(&spec.transport));
    let served = time::timeout_at(end, serve(spec, side, &fault, older)).await;
    match served.unwrap_or(Err(Beginning::Late)) {
        Ok(service) => Ok(Begun { service, fault }),
        Err(error) => Err(Failed { error, fault }),
    }
}

async fn sort(spec: &McpServerSpec, begun: Result<Begun, Failed>) -> Result<Begun, McpError> {
    let Failed { error, fault } = match begun {
        Ok(begun) => return Ok(begun),
        Err(failed) => failed,
    };
    Err(match error {
        Beginning::Start(error) => McpError::Connection {
            server: spec.name.clone(),
            reason: error.to_string(),
        },
        Beginning::Handshake(error) => handshake_error(spec, &fault, &error).await,
        Beginning::Late => {
            let most = spec.longest_start();
            let reason = format!("no answer within {most:?}, which start_timeout sets");
            McpError::Initialization {
                server: spec.name.clone(),
                reason: fault.explain(&reason).await,
            }
        }
    })
}

/// An attempt that failed, and what is known of its end.
struct Failed {
    error: Beginning,
    fault: Fault,
}

/// Why nothing began.
enum Beginning {
    Start(io::Error),
    Handshake(Box<ClientInitializeError>),
    Late,
}

impl From<ClientInitializeError> for Beginning {
    fn from(error: ClientInitializeError) -> Self {
        Self::Handshake(Box::new(error))
    }
}

/// Serves the client. Boxed, so that the SDK's client is compiled here once, and not in every program that connects
/// one.
fn serve<'a>(
    spec: &'a McpServerSpec,
    side: Side,
    fault: &'a Fault,
    older: &'a AtomicBool,
) -> BoxFuture<'a, Result<RunningService<RoleClient, Side>, Beginning>> {
    Box::pin(open_transport(spec, side, fault, older))
}

async fn open_transport(
    spec: &McpServerSpec,
    side: Side,
    fault: &Fault,
    older: &AtomicBool,
) -> Result<RunningService<RoleClient, Side>, Beginning> {
    match &spec.transport {
        McpTransport::Stdio { .. } => {
            let command = command(spec).map_err(Beginning::Start)?;
            let (process, pipes) = ServerProcess::spawn(command).map_err(Beginning::Start)?;
            let transport = StdioTransport::new(
                &spec.name,
                process,
                pipes,
                spec.max_message_bytes,
                fault.clone(),
            );
            Ok(begin_protocol(side, transport, older).await?)
        }
        McpTransport::Http {
            url,
            token,
            headers,
        } => {
            let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                .max_sse_event_size(spec.max_message_bytes);
            config.retry_config = Arc::new(Resume);
            config.auth_header = token.clone();
            config.custom_headers = custom_headers(headers).map_err(Beginning::Start)?;
            let client = neuron_tls::client_builder()
                .map_err(|error| Beginning::Start(io::Error::other(error)))?
                .connect_timeout(spec.timeout)
                // A kept connection may turn out closed when a request is under way, and then it is not known
                // whether the server got it.
                .pool_max_idle_per_host(0)
                // An address is where its operator put it. A session must not reach others.
                .redirect(reqwest::redirect::Policy::none())
                .build()
                .map_err(|error| Beginning::Start(io::Error::other(error)))?;
            let client = HttpClient::new(client, fault.clone());
            let transport = StreamableHttpClientTransport::with_client(client, config);
            Ok(begin_protocol(side, transport, older).await?)
        }
    }
}

/// Returns the headers of every request. Errors name them and not their values.
fn custom_headers(
    headers: &BTreeMap<String, String>,
) -> io::Result<HashMap<HeaderName, HeaderValue>> {
    let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
    let header = |(name, value): (&String, &String)| -> io::Result<(HeaderName, HeaderValue)> {
        let parsed = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| invalid(format!("{name:?} is no name of a header")))?;
        let mut value = HeaderValue::from_str(value).map_err(|_| {
            invalid(format!(
                "the header {name} has characters that no header has"
            ))
        })?;
        value.set_sensitive(true);
        Ok((parsed, value))
    };
    headers.iter().map(header).collect()
}

fn command(spec: &McpServerSpec) -> io::Result<ConfinedCommand> {
    let McpTransport::Stdio {
        command,
        args,
        environment,
        sandbox,
        protected,
        cwd,
    } = &spec.transport
    else {
        return Err(io::ErrorKind::Unsupported.into());
    };
    let here = env::current_dir()?;
    let cwd = cwd
        .as_ref()
        .map_or_else(|| here.clone(), |cwd| here.join(cwd));
    let identity = Identity {
        name: &spec.name,
        configured_in: spec.configured_in.as_deref(),
        cwd: &cwd,
        command,
        args,
        environment,
        sandbox,
    };
    let cache = cache::directory(&identity);
    let words = [command].into_iter().chain(args);
    let sandbox = with_readable(sandbox, words.filter_map(|word| readable(word)));
    let is_off = sandbox.is_off();
    let mut confinement = Confinement::builder(sandbox).protected(protected.clone());
    if let Some((caches, below)) = cache.filter(|_| !is_off) {
        confinement = confinement.home(caches, below);
    }
    let mut built = confinement.build().command(command, &cwd)?;
    built.args(args).envs(environment);
    Ok(built)
}

fn with_readable(sandbox: &Sandbox, paths: impl Iterator<Item = PathBuf>) -> Sandbox {
    match sandbox.rules() {
        None => Sandbox::Off,
        Some(rules) => Sandbox::Custom(paths.fold(rules, |rules, path| rules.read(path))),
    }
}

/// Returns what can be read since a word of the command line names it: a directory; a file with what is beside it, and
/// with the packages that it belongs to.
fn readable(word: &str) -> Option<PathBuf> {
    let path = Path::new(word);
    if !path.is_absolute() || !path.exists() {
        return None;
    }
    if path.is_dir() {
        return Some(path.to_owned());
    }
    let real = path.canonicalize().ok()?;
    let packages = real
        .ancestors()
        .filter(|folder| folder.ends_with("node_modules"))
        .last();
    let folder = packages.or_else(|| real.parent())?;
    let holds_home = env::home_dir().is_some_and(|home| home.starts_with(folder));
    Some(match holds_home {
        true => path.to_owned(),
        false => folder.to_owned(),
    })
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
            let reason = causes(error.error.as_ref(), fault.secrets());
            let reason = fault.explain(&reason).await;
            McpError::Connection { server, reason }
        }
        ClientInitializeError::ConnectionClosed(_) => {
            let reason = fault.explain("it ended at once").await;
            McpError::Initialization { server, reason }
        }
        ClientInitializeError::JsonRpcError(error) => McpError::Initialization {
            server,
            reason: fault.secrets().shown(&error.message, MAX_REASON_CHARS),
        },
        ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ExpectedInitResponse(_) => McpError::Initialization {
            server,
            reason: format!(
                "its answer to initialize is another: {}",
                Asked::Initialize.unfit()
            ),
        },
        other => McpError::Initialization {
            server,
            reason: fault.secrets().shown(&other.to_string(), MAX_REASON_CHARS),
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
