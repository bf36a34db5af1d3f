//! HTTP as the client's transport uses it.

use std::{collections::HashMap, sync::Arc};

use futures::stream::BoxStream;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::{
    model::{
        ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage,
    },
    transport::streamable_http_client::{
        SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    },
};
use sse_stream::Sse;

use crate::wire::fault::shown;

/// How much of a server's error is told.
const MAX_REASON_CHARS: usize = 500;

type Failure = StreamableHttpError<reqwest::Error>;

/// The SDK's client, and an answer for whoever waits where a server's refusal does not say whom it answers:
/// servers on the official TypeScript SDK refuse so what belongs to a session that they do not know.
#[derive(Clone)]
pub(crate) struct HttpClient(pub(crate) reqwest::Client);

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
        let sent = self
            .0
            .post_message(uri, message, session_id, auth_header, custom_headers);
        answered(addressed(sent.await, in_session), question)
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
        let sent = self.0.post_message_with_max_sse_event_size(
            uri,
            message,
            session_id,
            auth_header,
            custom_headers,
            max_sse_event_size,
        );
        answered(addressed(sent.await, in_session), question)
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        self.0
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
        self.0
            .get_stream(uri, session_id, last_event_id, auth_header, custom_headers)
            .await
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
        self.0
            .get_stream_with_max_sse_event_size(
                uri,
                session_id,
                last_event_id,
                auth_header,
                custom_headers,
                max_sse_event_size,
            )
            .await
    }
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
