//! HTTP as the client's transport uses it.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use futures::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::{
    model::{ClientJsonRpcMessage, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    },
};
use serde::{Deserialize, de::IgnoredAny};
use sse_stream::Sse;
use tracing::debug;

use crate::{
    transport::MAX_UNASKED,
    transport::awaited::{Awaited, number},
    transport::incoming::{Incoming, read},
    transport::posting::{Failure, Post, newer_question},
    wire::{
        answer::{lost, unreadable},
        fault::Fault,
        mend::{Asked, mend},
        secrets::Secrets,
    },
};

/// How much of a server's error is shown.
const MAX_REASON_CHARS: usize = 500;
/// The most bytes of an event of a stream where nothing else is said.
const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// The client of the SDK's transport. It also answers a waiting request where a server's rejection does not name the
/// request that it answers: servers on the official TypeScript SDK reject like this what belongs to a session that they
/// do not know.
///
/// All streams of a connection together bring at most [`MAX_UNASKED`] messages in a row that answer nothing.
#[derive(Clone)]
pub(crate) struct HttpClient {
    client: reqwest::Client,
    awaited: Awaited,
    unasked: Arc<AtomicUsize>,
    fault: Fault,
}

type Events = BoxStream<'static, Result<Sse, SseError>>;

impl HttpClient {
    pub(crate) fn new(client: reqwest::Client, fault: Fault) -> Self {
        Self {
            client,
            awaited: Awaited::default(),
            unasked: Arc::default(),
            fault,
        }
    }

    /// Returns the client, unless the server broke the protocol: such a server is asked nothing more, also not to
    /// continue where it broke off.
    fn usable(&self) -> Result<&reqwest::Client, Failure> {
        match self.fault.protocol() {
            Some(reason) => Err(StreamableHttpError::UnexpectedServerResponse(reason.into())),
            None => Ok(&self.client),
        }
    }

    /// Returns the events of a stream, as the SDK reads them, up to one too many that answers nothing.
    fn counted(&self, events: Events) -> Events {
        let counting = self.clone();
        let counted = events.map(move |event| match event {
            Ok(event) => {
                let event = counting.mended(event);
                match counting.takes(&event) {
                    true => Ok(event),
                    false => Err(SseError::Body("too many messages".into())),
                }
            }
            event => event,
        });
        let mut is_over = false;
        let until_over = counted.take_while(move |event| {
            let was_over = std::mem::replace(&mut is_over, event.is_err());
            std::future::ready(!was_over)
        });
        until_over.boxed()
    }

    /// Returns the events of the answer to a request. A stream that ends without the answer, and cannot be taken up
    /// again, reports that.
    fn answering(&self, events: Events, id: RequestId) -> Events {
        let is_settled = Arc::new(AtomicBool::new(false));
        let settles = Arc::clone(&is_settled);
        let events = self.counted(events).inspect(move |event| {
            let is_settled = match event {
                Ok(event) => event.id.is_some() || event.data.as_deref().is_some_and(is_answer),
                Err(_) => true,
            };
            if is_settled {
                settles.store(true, Ordering::Relaxed);
            }
        });
        let end = stream::once(async move {
            let error = lost(id, "its stream ended without the answer");
            let is_lost = !is_settled.load(Ordering::Relaxed);
            let data = is_lost
                .then(|| serde_json::to_string(&error).ok())
                .flatten();
            Ok(Sse {
                data,
                ..Sse::default()
            })
        });
        events.chain(end).boxed()
    }

    fn mended(&self, event: Sse) -> Sse {
        let Some(data) = &event.data else {
            return event;
        };
        let (message, is_as_sent) = match read(data.as_bytes(), &self.awaited, self.fault.secrets())
        {
            Incoming::Message(message) => (message, true),
            Incoming::Mended(message) => (message, false),
            Incoming::Noise => return event,
        };
        match &*message {
            ServerJsonRpcMessage::Response(response) => self.awaited.ends(&response.id),
            ServerJsonRpcMessage::Error(error) => {
                if let Some(id) = &error.id {
                    self.awaited.ends(id);
                }
            }
            _ => {}
        }
        if is_as_sent {
            return event;
        }
        let data = serde_json::to_string(&message).ok().or(event.data);
        Sse { data, ..event }
    }

    /// Takes what came back for a message. A request has its answer then, or never gets one.
    fn received(
        &self,
        answer: Result<StreamableHttpPostResponse, Failure>,
        sent: Sent,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let answer = answered(
            addressed(answer, &sent, self.fault.secrets()),
            sent.newer_question,
        );
        let Some((id, asked)) = sent.request else {
            return Ok(match answer? {
                StreamableHttpPostResponse::Sse(events, session) => {
                    StreamableHttpPostResponse::Sse(self.counted(events), session)
                }
                answer => answer,
            });
        };
        if !matches!(answer, Ok(StreamableHttpPostResponse::Sse(..))) {
            self.awaited.ends(&id);
        }
        Ok(match answer? {
            StreamableHttpPostResponse::Sse(events, session) => {
                StreamableHttpPostResponse::Sse(self.answering(events, id), session)
            }
            StreamableHttpPostResponse::Json(message, session) => StreamableHttpPostResponse::Json(
                addressed_to(message, id, asked, self.fault.secrets()),
                session,
            ),
            _ => {
                let error = lost(id, "it took the request and sent no answer");
                StreamableHttpPostResponse::Json(error, None)
            }
        })
    }

    fn sends(&self, message: &ClientJsonRpcMessage, in_session: bool) -> Sent {
        self.awaited.sends(message);
        let request = match message {
            ClientJsonRpcMessage::Request(request) => {
                Some((request.id.clone(), Asked::of(&request.request)))
            }
            _ => None,
        };
        Sent {
            in_session,
            newer_question: newer_question(message),
            request,
        }
    }

    fn takes(&self, event: &Sse) -> bool {
        let is_answer = event.data.as_deref().is_some_and(is_answer);
        if is_answer {
            self.unasked.store(0, Ordering::Relaxed);
            return true;
        }
        let takes = self.unasked.fetch_add(1, Ordering::Relaxed) < MAX_UNASKED;
        if !takes {
            let reason = format!("it sent {MAX_UNASKED} messages without answering anything");
            self.fault.broke_protocol(reason);
        }
        takes
    }
}

/// What an answer to a message is read by.
struct Sent {
    in_session: bool,
    newer_question: Option<RequestId>,
    request: Option<(RequestId, Asked)>,
}

impl StreamableHttpClient for HttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        self.post_message_with_max_sse_event_size(
            uri,
            message,
            session_id,
            auth_header,
            custom_headers,
            MAX_EVENT_BYTES,
        )
        .await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        max_sse_event_size: usize,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let client = self.usable()?;
        let sent = self.sends(&message, session_id.is_some());
        let post = Post {
            uri: &uri,
            message: &message,
            session: session_id.as_deref(),
            token: auth_header,
            headers: custom_headers,
            most: max_sse_event_size,
        };
        let answer = post.send(client, &self.awaited, self.fault.secrets());
        self.received(answer.await, sent)
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        self.client
            .delete_session(uri, session_id, auth_header, custom_headers)
            .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let events = self
            .usable()?
            .get_stream(uri, session_id, last_event_id, auth_header, custom_headers)
            .await?;
        Ok(self.counted(events))
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        max_sse_event_size: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let events = self
            .usable()?
            .get_stream_with_max_sse_event_size(
                uri,
                session_id,
                last_event_id,
                auth_header,
                custom_headers,
                max_sse_event_size,
            )
            .await?;
        Ok(self.counted(events))
    }
}

/// Returns whether the data of an event answers something.
pub(crate) fn is_answer(data: &str) -> bool {
    #[derive(Deserialize)]
    struct Head {
        id: Option<IgnoredAny>,
        method: Option<IgnoredAny>,
    }
    let head = serde_json::from_str::<Head>(data);
    matches!(
        head,
        Ok(Head {
            id: Some(_),
            method: None
        })
    )
}

/// Reads an answer to the [newer question](newer_question) where a server rejects it in a way of its own: it is an
/// older one, and can be asked in the older way. Rejections that the SDK recognises itself are not handled here.
fn answered(
    answer: Result<StreamableHttpPostResponse, Failure>,
    question: Option<RequestId>,
) -> Result<StreamableHttpPostResponse, Failure> {
    let refusal = match &answer {
        Err(StreamableHttpError::HttpStatus(status)) if matches!(status.status, 500 | 501) => true,
        Err(StreamableHttpError::UnexpectedContentType(_)) => true,
        Err(StreamableHttpError::UnexpectedServerResponse(text)) => {
            !text.starts_with("HTTP 401") && !text.starts_with("HTTP 403")
        }
        _ => false,
    };
    match question {
        Some(id) if refusal => {
            let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "refused", None);
            let error = ServerJsonRpcMessage::error(error, Some(id));
            Ok(StreamableHttpPostResponse::Json(error, None))
        }
        _ => answer,
    }
}

fn addressed(
    answer: Result<StreamableHttpPostResponse, Failure>,
    sent: &Sent,
    secrets: &Secrets,
) -> Result<StreamableHttpPostResponse, Failure> {
    match answer? {
        StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), _)
            if error.id.is_none() =>
        {
            let message = &error.error.message;
            if sent.in_session && message.to_lowercase().contains("session") {
                return Err(StreamableHttpError::SessionExpired);
            }
            let text = secrets.shown(message, MAX_REASON_CHARS);
            // No request waits for an answer to a notice, and what comes next shows whether the server can be used.
            if sent.request.is_none() {
                debug!(reason = text, "a server refuses a notice");
                return Ok(StreamableHttpPostResponse::Accepted);
            }
            Err(StreamableHttpError::UnexpectedServerResponse(text.into()))
        }
        answer => Ok(answer),
    }
}

/// Returns the one message that came back for a request, as the SDK reads it.
fn addressed_to(
    message: ServerJsonRpcMessage,
    id: RequestId,
    asked: Asked,
    secrets: &Secrets,
) -> ServerJsonRpcMessage {
    let is_ours = |other: &RequestId| number(other) == number(&id);
    match message {
        ServerJsonRpcMessage::Response(response) if !is_ours(&response.id) => {
            lost(id, "it answered a request that was not made")
        }
        ServerJsonRpcMessage::Response(response) => {
            if asked.is_answered_by(&response.result) {
                return ServerJsonRpcMessage::response(response.result, id);
            }
            let result = serde_json::to_value(&response.result).unwrap_or_default();
            let text = result.to_string();
            match mend(asked, result) {
                Some(result) => ServerJsonRpcMessage::response(result, id),
                None => unreadable(asked, id, asked.unfit(), &text, secrets),
            }
        }
        // A server that could not read the request reports that with an id of its own.
        ServerJsonRpcMessage::Error(error)
            if error
                .id
                .as_ref()
                .is_none_or(|other| is_ours(other) || number(other).is_none()) =>
        {
            ServerJsonRpcMessage::error(error.error, Some(id))
        }
        ServerJsonRpcMessage::Error(_) => lost(id, "it answered a request that was not made"),
        _ => lost(id, "it answered with a request or a notice of its own"),
    }
}
