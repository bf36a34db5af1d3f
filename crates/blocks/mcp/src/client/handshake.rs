//! How the protocol begins: as of 2026-07-28 where the server knows that, with the older `initialize` where not.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use rmcp::{
    ClientHandler as _, ErrorData, RoleClient,
    model::{
        ClientConfig, ClientJsonRpcMessage, ClientNotification, ClientRequest, ClientResult,
        DiscoverRequest, DiscoverRequestParams, ErrorCode, InitializeRequest,
        InitializedNotification, NotificationNoParam, ProtocolVersion, RequestId,
        RequestMetaObject, ServerJsonRpcMessage, ServerPeerInfo, ServerRequest, ServerResult,
    },
    service::{ClientInitializeError, RunningService, serve_directly},
    transport::Transport,
};
use tokio::time;

use crate::handler::side::Side;

/// The newer version.
const NEWEST: ProtocolVersion = ProtocolVersion::V_2026_07_28;
/// How long a server may leave the newer question unanswered before it is asked the older one as well: it may
/// still be starting, and it may be one that answers nothing before `initialize`.
const SILENCE: Duration = Duration::from_secs(10);
/// The ids of the two questions, far from those that the SDK counts from 0: an answer may come late.
const DISCOVER: RequestId = RequestId::Number(2_147_483_646);
const INITIALIZE: RequestId = RequestId::Number(2_147_483_647);

/// Begins the protocol and serves it.
///
/// With `older` set, the server is asked the older question only. It is set here when a server left the newer
/// one unanswered: the next connection need not wait for it.
pub(crate) async fn begin_protocol<T>(
    side: Side,
    mut transport: T,
    older: &AtomicBool,
) -> Result<RunningService<RoleClient, Side>, ClientInitializeError>
where
    T: Transport<RoleClient> + 'static,
{
    let config = side.get_info();
    let mut talk = Talk {
        transport: &mut transport,
        config: config.with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE),
        awaits_newer: false,
        awaits_older: false,
        refused: None,
    };
    let info = talk.agree(older).await?;
    Ok(serve_directly(side, transport, Some(info)))
}

/// The talk before the protocol.
struct Talk<'a, T> {
    transport: &'a mut T,
    config: ClientConfig,
    awaits_newer: bool,
    awaits_older: bool,
    /// How the server rejected the older question while it owed the answer to the newer one.
    refused: Option<ErrorData>,
}

impl<T: Transport<RoleClient> + 'static> Talk<'_, T> {
    async fn agree(&mut self, older: &AtomicBool) -> Result<ServerPeerInfo, ClientInitializeError> {
        match older.load(Ordering::Relaxed) {
            true => self.ask_older().await?,
            false => self.ask_newer().await?,
        }
        let silence = time::sleep(SILENCE);
        tokio::pin!(silence);
        loop {
            let asked_once = !self.awaits_older && self.refused.is_none();
            let message = tokio::select! {
                biased;
                message = self.transport.receive() => message,
                () = &mut silence, if asked_once => {
                    self.ask_older().await?;
                    continue;
                }
            };
            let Some(message) = message else {
                let context = "handshake".to_owned();
                return Err(ClientInitializeError::ConnectionClosed(context));
            };
            if let Some(info) = self.hear(message).await? {
                if self.awaits_newer && info.protocol_version.has_initialize() {
                    older.store(true, Ordering::Relaxed);
                }
                return Ok(info);
            }
        }
    }

    /// Returns what the server is, if this says it.
    async fn hear(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> Result<Option<ServerPeerInfo>, ClientInitializeError> {
        match message {
            ServerJsonRpcMessage::Response(answer) if is(&answer.id, &DISCOVER) => {
                match answer.result {
                    ServerResult::DiscoverResult(found)
                        if found.supported_versions.contains(&NEWEST) =>
                    {
                        let info = ServerPeerInfo::from_discover_result(NEWEST, found);
                        return Ok(Some(info));
                    }
                    // It knows the question, and speaks an older version; or it says anything to anything.
                    _ => self.is_older().await?,
                }
            }
            ServerJsonRpcMessage::Response(answer) if is(&answer.id, &INITIALIZE) => {
                let ServerResult::InitializeResult(result) = answer.result else {
                    let result = Some(answer.result);
                    return Err(ClientInitializeError::ExpectedInitResult(result));
                };
                self.confirm().await?;
                return Ok(Some(result.into()));
            }
            ServerJsonRpcMessage::Error(error) => {
                let is_to = |ours| error.id.as_ref().is_none_or(|id| is(id, ours));
                if self.awaits_older && is_to(&INITIALIZE) {
                    self.awaits_older = false;
                    if !self.awaits_newer {
                        return Err(ClientInitializeError::JsonRpcError(error.error));
                    }
                    self.refused = Some(error.error);
                } else if self.awaits_newer && is_to(&DISCOVER) {
                    if is_of_newer(error.error.code) {
                        return Err(ClientInitializeError::JsonRpcError(error.error));
                    }
                    self.is_older().await?;
                }
            }
            ServerJsonRpcMessage::Request(request)
                if matches!(request.request, ServerRequest::PingRequest(_)) =>
            {
                let answer = ClientJsonRpcMessage::response(ClientResult::empty(()), request.id);
                self.send(answer, "answer a ping").await?;
            }
            // Logs, and what has no place before the protocol.
            _ => {}
        }
        Ok(None)
    }

    async fn ask_newer(&mut self) -> Result<(), ClientInitializeError> {
        let mut request = DiscoverRequest::new(DiscoverRequestParams {});
        request
            .extensions
            .insert(RequestMetaObject::with_client_context(
                NEWEST,
                self.config.client_info.clone(),
                self.config.capabilities.clone(),
            ));
        let request = ClientRequest::DiscoverRequest(request);
        self.awaits_newer = true;
        let message = ClientJsonRpcMessage::request(request, DISCOVER);
        self.send(message, "ask what it speaks").await
    }

    async fn ask_older(&mut self) -> Result<(), ClientInitializeError> {
        let request = InitializeRequest::new(self.config.clone());
        let request = ClientRequest::InitializeRequest(request);
        self.awaits_older = true;
        let message = ClientJsonRpcMessage::request(request, INITIALIZE);
        self.send(message, "initialize").await
    }

    /// Notes the answer to the newer question: the server does not speak the newer version.
    async fn is_older(&mut self) -> Result<(), ClientInitializeError> {
        self.awaits_newer = false;
        match self.refused.take() {
            Some(error) => Err(ClientInitializeError::JsonRpcError(error)),
            None if self.awaits_older => Ok(()),
            None => self.ask_older().await,
        }
    }

    async fn confirm(&mut self) -> Result<(), ClientInitializeError> {
        let notice: InitializedNotification = NotificationNoParam::default();
        let notice = ClientNotification::InitializedNotification(notice);
        let message = ClientJsonRpcMessage::notification(notice);
        self.send(message, "confirm what was agreed").await
    }

    async fn send(
        &mut self,
        message: ClientJsonRpcMessage,
        what: &'static str,
    ) -> Result<(), ClientInitializeError> {
        let sent = self.transport.send(message).await;
        sent.map_err(|error| ClientInitializeError::transport::<T>(error, what))
    }
}

/// Returns whether an answer is to this question. Some servers send numbers back as texts.
fn is(id: &RequestId, ours: &RequestId) -> bool {
    id.to_string() == ours.to_string()
}

/// Returns whether only a server that speaks the newer version answers so: asking it the older question is of no use.
fn is_of_newer(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY | ErrorCode::HEADER_MISMATCH
    )
}
