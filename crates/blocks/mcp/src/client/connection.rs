//! One connection to a server, from the handshake to its end.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use neuron_types::ProgressReporter;
use rmcp::{
    Peer, RoleClient,
    model::{
        CancelledNotification, CancelledNotificationParam, ClientRequest, ProgressToken, RequestId,
        ServerPeerInfo, ServerResult,
    },
    service::{PeerRequestOptions, RunningService, ServiceError},
};
use tokio::time;
use tokio_util::sync::CancellationToken;

use crate::{
    McpClientHandler, McpError, McpServerSpec, McpTransport,
    client::no_answer::NoAnswer,
    client::opening::{Begun, begin},
    handler::questions::Questions,
    handler::side::{Routes, Side},
    wire::fault::Fault,
};

/// How long closing a connection over HTTP may take.
const CLOSE: Duration = Duration::from_secs(10);

/// A server that answers, or did.
pub(crate) struct Connection {
    server: String,
    is_http: bool,
    peer: Peer<RoleClient>,
    service: Mutex<Option<RunningService<RoleClient, Side>>>,
    progress: Routes,
    questions: Questions,
    fault: Fault,
    /// How many answers of any kind came.
    answers: AtomicU64,
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

impl Connection {
    /// Starts or reaches the server and begins the protocol. `older` is what is remembered of the server.
    pub(crate) async fn open(
        spec: &McpServerSpec,
        handler: Arc<dyn McpClientHandler>,
        older: &AtomicBool,
    ) -> Result<Self, McpError> {
        let progress = Routes::default();
        let questions = Questions::default();
        let side = Side {
            server: spec.name.as_str().into(),
            handler,
            progress: progress.clone(),
            questions: questions.clone(),
        };
        let is_http = matches!(spec.transport, McpTransport::Http { .. });
        let Begun { service, fault } = begin(spec, side, older).await?;
        Ok(Self {
            server: spec.name.clone(),
            is_http,
            peer: service.peer().clone(),
            service: Mutex::new(Some(service)),
            progress,
            questions,
            fault,
            answers: AtomicU64::new(0),
        })
    }

    /// Returns what the server said of itself.
    pub(crate) fn info(&self) -> Option<Arc<ServerPeerInfo>> {
        self.peer.peer_info()
    }

    /// Returns whether the server speaks the version of 2026-07-28, in which it asks by answering.
    pub(crate) fn is_newer(&self) -> bool {
        let info = self.peer.peer_info();
        info.is_some_and(|info| !info.protocol_version.has_initialize())
    }

    /// Returns how many answers came so far: results and errors alike.
    pub(crate) fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.peer.is_transport_closed() || self.fault.protocol().is_some()
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

    /// Makes a request and waits for its answer. Dropping the future notifies the server that the answer is no longer
    /// needed.
    pub(crate) async fn ask(
        &self,
        request: ClientRequest,
        how: &How<'_>,
    ) -> Result<ServerResult, NoAnswer> {
        let _work = self.questions.work(&request);
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
        if matches!(answer, Ok(_) | Err(ServiceError::McpError(_))) {
            self.answers.fetch_add(1, Ordering::Relaxed);
        }
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) => {
                Err(NoAnswer::because(error, &self.server, self.is_http, &self.fault).await)
            }
        }
    }
}

/// A request whose answer is awaited. The server is notified when it is not any more.
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
