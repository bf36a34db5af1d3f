//! HTTP as the client's transport uses it.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures::{StreamExt as _, stream::BoxStream};
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::{
    model::{
        ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage,
    },
    transport::streamable_http_client::{
        SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    },
};
use serde::{Deserialize, de::IgnoredAny};
use sse_stream::Sse;

use crate::{
    transport::MAX_UNASKED,
    wire::fault::{Fault, shown},
};

/// How much of a server's error is told.
const MAX_REASON_CHARS: usize = 500;

type Failure = StreamableHttpError<reqwest::Error>;

/// The SDK's client, and an answer for whoever waits where a server's refusal does not say whom it answers:
/// servers on the official TypeScript SDK refuse so what belongs to a session that they do not know.
///
/// All streams of a connection together bring at most [`MAX_UNASKED`] messages in a row that answer nothing.
#[derive(Clone)]
pub(crate) struct HttpClient {
    client: reqwest::Client,
    unasked: Arc<AtomicUsize>,
    fault: Fault,
}

type Events = BoxStream<'static, Result<Sse, SseError>>;

impl HttpClient {
    pub(crate) fn new(client: reqwest::Client, fault: Fault) -> Self {
        Self {
            client,
            unasked: Arc::default(),
            fault,
        }
    }

    /// A server that broke the protocol is asked nothing more, also not to go on where it broke off.
    fn usable(&self) -> Result<&reqwest::Client, Failure> {
        match self.fault.protocol() {
            Some(reason) => Err(StreamableHttpError::UnexpectedServerResponse(reason.into())),
            None => Ok(&self.client),
        }
    }

    /// The events of a stream, up to one too many that answers nothing.
    fn counted(&self, events: Events) -> Events {
        let counting = self.clone();
        let counted = events.map(move |event| match event {
            Ok(event) if !counting.takes(&event) => Err(SseError::Body("too many messages".into())),
            event => event,
        });
        let mut is_over = false;
        let until_over = counted.take_while(move |event| {
            let was_over = std::mem::replace(&mut is_over, event.is_err());
            std::future::ready(!was_over)
        });
        until_over.boxed()
    }

    /// An answer with its events counted, if it has any.
    fn counted_in(&self, answer: StreamableHttpPostResponse) -> StreamableHttpPostResponse {
        match answer {
            StreamableHttpPostResponse::Sse(events, session) => {
                StreamableHttpPostResponse::Sse(self.counted(events), session)
            }
            answer => answer,
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
        let in_session = session_id.is_some();
        let question = newer_question(&message);
        let sent =
            self.usable()?
                .post_message(uri, message, session_id, auth_header, custom_headers);
        let answer = answered(addressed(sent.await, in_session), question)?;
        Ok(self.counted_in(answer))
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
        let in_session = session_id.is_some();
        let question = newer_question(&message);
        let sent = self.usable()?.post_message_with_max_sse_event_size(
            uri,
            message,
            session_id,
            auth_header,
            custom_headers,
            max_sse_event_size,
        );
        let answer = answered(addressed(sent.await, in_session), question)?;
        Ok(self.counted_in(answer))
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

/// Whether the data of an event answers something.
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

/// The id of the question with which the protocol begins as of 2026-07-28.
fn newer_question(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request)
            if matches!(request.request, ClientRequest::DiscoverRequest(_)) =>
        {
            Some(request.id.clone())
        }
        _ => None,
    }
}

/// An answer to that question where a server refuses it in a way of its own: it is an older one, and can be
/// asked in the older way. What the SDK takes for such a refusal already is none of these.
fn answered(
    answer: Result<StreamableHttpPostResponse, Failure>,
    question: Option<RequestId>,
) -> Result<StreamableHttpPostResponse, Failure> {
    let refusal = match &answer {
        Err(StreamableHttpError::HttpStatus(status)) if matches!(status.status, 500 | 501) => true,
        Err(StreamableHttpError::UnexpectedContentType(_)) => true,
        Err(StreamableHttpError::UnexpectedServerResponse(text)) => {
            !text.contains("HTTP 401") && !text.contains("HTTP 403")
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
    in_session: bool,
) -> Result<StreamableHttpPostResponse, Failure> {
    match answer? {
        StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), _)
            if error.id.is_none() =>
        {
            let message = &error.error.message;
            if in_session && message.to_lowercase().contains("session") {
                return Err(StreamableHttpError::SessionExpired);
            }
            let text = shown(message, MAX_REASON_CHARS);
            Err(StreamableHttpError::UnexpectedServerResponse(text.into()))
        }
        answer => Ok(answer),
    }
}
