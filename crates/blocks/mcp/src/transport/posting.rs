//! Messages to a server over HTTP, one a request, and what comes back.
//!
//! As the SDK does it, but for answers that are JSON: the SDK reads them by itself, and one that is not quite what MCP
//! prescribes would cost the whole answer.

use std::{collections::HashMap, io};

use futures::{Stream, StreamExt as _, stream};
use hyper::body::Bytes;
use neuron_types::read_json;
use reqwest::{
    Response, StatusCode,
    header::{
        ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
    },
};
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, RequestId, ServerJsonRpcMessage},
    transport::{
        common::http_header::{
            EVENT_STREAM_MIME_TYPE, HEADER_LAST_EVENT_ID, HEADER_MCP_PROTOCOL_VERSION,
            HEADER_SESSION_ID, JSON_MIME_TYPE,
        },
        streamable_http_client::{
            AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpError,
            StreamableHttpPostResponse,
        },
    },
};
use sse_stream::SseStream;

use crate::{
    transport::{
        awaited::Awaited,
        event_size::EventSize,
        incoming::{Incoming, read},
    },
    wire::{secrets::Secrets, shallow::shallow},
};

/// The most bytes of an answer that is no stream.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;
/// The most bytes of a rejection.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;
/// How much of an answer that cannot be read is shown.
const MAX_EXCERPT_CHARS: usize = 256;

pub(super) type Failure = StreamableHttpError<reqwest::Error>;

/// A message to be sent.
pub(super) struct Post<'a> {
    pub(super) uri: &'a str,
    pub(super) message: &'a ClientJsonRpcMessage,
    pub(super) session: Option<&'a str>,
    pub(super) token: Option<String>,
    pub(super) headers: HashMap<HeaderName, HeaderValue>,
    /// The most bytes of one event of a stream.
    pub(super) most: usize,
}

impl Post<'_> {
    fn newer_question(&self) -> Option<RequestId> {
        newer_question(self.message).filter(|_| self.session.is_none())
    }

    /// Sends it. What comes back is read with what is known of the requests under way.
    pub(super) async fn send(
        self,
        client: &reqwest::Client,
        awaited: &Awaited,
        secrets: &Secrets,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let accepted = [EVENT_STREAM_MIME_TYPE, JSON_MIME_TYPE].join(", ");
        let mut request = client.post(self.uri).header(ACCEPT, accepted);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        for (name, value) in &self.headers {
            if is_reserved(name) {
                let name = name.to_string();
                return Err(StreamableHttpError::ReservedHeaderConflict(name));
            }
            request = request.header(name, value);
        }
        if let Some(session) = self.session {
            request = request.header(HEADER_SESSION_ID, session);
        }
        let answer = request.json(self.message).send().await?;
        if let Some(refusal) = refusal(answer.status(), answer.headers()) {
            return Err(refusal);
        }
        let status = answer.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && self.session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            return refused(answer, self.newer_question()).await;
        }
        let session = session_of(&answer);
        let kind = content_type(&answer);
        if is_of(kind.as_deref(), EVENT_STREAM_MIME_TYPE) {
            let events = SseStream::from_bytes_stream(limited(answer, self.most));
            return Ok(StreamableHttpPostResponse::Sse(events.boxed(), session));
        }
        let is_json = is_of(kind.as_deref(), JSON_MIME_TYPE);
        // A success says that the message was taken, whatever else it says.
        if !matches!(self.message, ClientJsonRpcMessage::Request(_)) {
            let body = match is_json {
                true => body(answer, MAX_ANSWER_BYTES).await.unwrap_or_default(),
                false => Vec::new(),
            };
            return Ok(
                message(&body).map_or(StreamableHttpPostResponse::Accepted, |message| {
                    StreamableHttpPostResponse::Json(message, session)
                }),
            );
        }
        let body = body(answer, MAX_ANSWER_BYTES).await?;
        if let Some(message) = message(&body) {
            return Ok(StreamableHttpPostResponse::Json(message, session));
        }
        match read(&body, awaited, secrets) {
            Incoming::Message(message) | Incoming::Mended(message) => {
                Ok(StreamableHttpPostResponse::Json(*message, session))
            }
            Incoming::Noise if !is_json => Err(StreamableHttpError::UnexpectedContentType(kind)),
            Incoming::Noise => Err(unreadable(&body, secrets)),
        }
    }
}

/// Returns the id of the question with which the protocol begins as of 2026-07-28.
pub(super) fn newer_question(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request)
            if matches!(request.request, ClientRequest::DiscoverRequest(_)) =>
        {
            Some(request.id.clone())
        }
        _ => None,
    }
}

/// Returns whether only the protocol sets this header.
fn is_reserved(name: &HeaderName) -> bool {
    let own = [ACCEPT.as_str(), HEADER_SESSION_ID, HEADER_LAST_EVENT_ID];
    let is_version = name
        .as_str()
        .eq_ignore_ascii_case(HEADER_MCP_PROTOCOL_VERSION);
    !is_version
        && own
            .iter()
            .any(|own| name.as_str().eq_ignore_ascii_case(own))
}

/// Returns the failure that the status shows alone.
fn refusal(status: StatusCode, headers: &HeaderMap) -> Option<Failure> {
    let challenge = headers.get(WWW_AUTHENTICATE)?;
    let challenge = String::from_utf8_lossy(challenge.as_bytes()).into_owned();
    match status {
        StatusCode::UNAUTHORIZED => Some(StreamableHttpError::AuthRequired(
            AuthRequiredError::new(challenge),
        )),
        StatusCode::FORBIDDEN => Some(StreamableHttpError::InsufficientScope(
            InsufficientScopeError::new(challenge, None),
        )),
        _ => None,
    }
}

/// Reads an answer with a status that is no success: the JSON-RPC error that comes with it, or what there is. An error
/// to the question with which the protocol begins as of 2026-07-28 answers that question, whatever its id.
async fn refused(
    answer: Response,
    newer_question: Option<RequestId>,
) -> Result<StreamableHttpPostResponse, Failure> {
    let status = answer.status();
    let is_json = is_of(content_type(&answer).as_deref(), JSON_MIME_TYPE);
    let is_limited = status == StatusCode::TOO_MANY_REQUESTS;
    let failed = (is_limited || status.is_server_error()).then(|| {
        let after = answer.headers().get(RETRY_AFTER);
        let after = after.and_then(|after| after.to_str().ok());
        Failure::from(HttpStatusError::new(
            status.as_u16(),
            after.map(str::to_owned),
        ))
    });
    let failed = match failed {
        Some(failed) if is_limited || !is_json => return Err(failed),
        failed => failed,
    };
    let session = session_of(&answer);
    let body = match body(answer, MAX_REFUSAL_BYTES).await {
        Ok(body) => body,
        Err(error @ StreamableHttpError::ResponseBodyTooLarge { .. }) => {
            return Err(failed.unwrap_or(error));
        }
        Err(_) => b"<failed to read response body>".to_vec(),
    };
    // The status decides whether a client may not ask.
    let is_forbidden = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if (is_json || newer_question.is_some())
        && !is_forbidden
        && let Some(ServerJsonRpcMessage::Error(mut error)) = message(&body)
    {
        error.id = newer_question.or(error.id);
        let message = ServerJsonRpcMessage::Error(error);
        return Ok(StreamableHttpPostResponse::Json(message, session));
    }
    let said = || {
        let body = String::from_utf8_lossy(&body);
        StreamableHttpError::UnexpectedServerResponse(format!("HTTP {status}: {body}").into())
    };
    Err(failed.unwrap_or_else(said))
}

/// Reads a body as a message, also with odd letters in it and nested deeper than it can be kept.
fn message(body: &[u8]) -> Option<ServerJsonRpcMessage> {
    let text = String::from_utf8_lossy(body);
    let flat = shallow(text.trim_start_matches('\u{feff}'));
    let exact = serde_json::from_str(&flat).ok();
    exact.or_else(|| read_json(flat.as_bytes()).ok())
}

fn unreadable(body: &[u8], secrets: &Secrets) -> Failure {
    let text = String::from_utf8_lossy(body);
    let excerpt = match text.trim() {
        "" => "it is empty".to_owned(),
        text => secrets.shown(text, MAX_EXCERPT_CHARS),
    };
    StreamableHttpError::UnexpectedServerResponse(
        format!("its answer is no message of JSON-RPC: {excerpt}").into(),
    )
}

async fn body(mut answer: Response, most: usize) -> Result<Vec<u8>, Failure> {
    let too_large = || StreamableHttpError::ResponseBodyTooLarge { max_size: most };
    let most = u64::try_from(most).unwrap_or(u64::MAX);
    if answer.content_length().is_some_and(|length| length > most) {
        return Err(too_large());
    }
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        body.extend_from_slice(&chunk);
        if u64::try_from(body.len()).unwrap_or(u64::MAX) > most {
            return Err(too_large());
        }
    }
    Ok(body)
}

/// Returns the bytes of a stream, up to an event that is too large.
fn limited(answer: Response, most: usize) -> impl Stream<Item = io::Result<Bytes>> + Send {
    let state = Some((answer, EventSize::new(most)));
    stream::unfold(state, |state| async {
        let (mut answer, mut size) = state?;
        match answer.chunk().await.transpose()? {
            Ok(chunk) if size.takes(&chunk) => Some((Ok(chunk), Some((answer, size)))),
            Ok(_) => Some((Err(size.error()), None)),
            Err(error) => Some((Err(io::Error::other(error)), None)),
        }
    })
}

fn session_of(answer: &Response) -> Option<String> {
    let session = answer.headers().get(HEADER_SESSION_ID)?;
    session.to_str().ok().map(str::to_owned)
}

fn content_type(answer: &Response) -> Option<String> {
    let kind = answer.headers().get(CONTENT_TYPE)?;
    Some(String::from_utf8_lossy(kind.as_bytes()).into_owned())
}

fn is_of(kind: Option<&str>, expected: &str) -> bool {
    let start = kind.and_then(|kind| kind.get(..expected.len()));
    start.is_some_and(|start| start.eq_ignore_ascii_case(expected))
}
