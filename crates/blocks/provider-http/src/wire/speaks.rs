//! Asking in the words of one wire.

use std::collections::VecDeque;

use bytes::Bytes;
use neuron_types::{CompletionResponse, FailureKind, ProviderError, StreamHandle};
use reqwest::{Response, header::HeaderName, header::HeaderValue};
use serde::Serialize;

use crate::{
    ApiFailure, Assemble, EventDecoder, HttpClient, NoAnswer, Progress, Reply, ToolNames,
    client::failure::name_tool, wire::shape::Shape,
};

/// One of the APIs through which models are asked: what it makes of bodies, whole and in pieces.
///
/// # Contract
///
/// The same content is the same answer, whole or in pieces, and however it is cut.
pub trait Wire: Sync {
    /// Cuts the body of a stream into events.
    type Decoder: EventDecoder + Default + Send + 'static;
    /// Puts the events of a stream together.
    type Assembler: Assemble;

    /// The type that a stream is asked for with.
    const STREAMS: &'static str;
    /// Whether a stream is JSON values, one a line, so that a whole answer is a stream too.
    const IS_LINES: bool = false;

    /// Starts an answer that comes in pieces.
    fn assembler(&self) -> Self::Assembler;

    /// Reads an answer that came whole.
    ///
    /// # Errors
    ///
    /// There is no answer.
    fn whole(&self, body: &[u8]) -> Result<CompletionResponse, NoAnswer>;

    /// Returns what the tools of the request are called: those that are left out become
    /// [`CompletionResponse::left_out`], and a failure names the one that its message means by its place.
    fn tools(&self) -> &ToolNames<'_>;

    /// Reads an error answer, or a body that holds no answer.
    fn failure(&self, reply: &Reply) -> ApiFailure;
}

impl HttpClient {
    /// Asks for a whole answer, and takes one in pieces too.
    ///
    /// # Errors
    ///
    /// As [`HttpClient::post`]; what the server says that is wrong; a [malformed answer](FailureKind::MalformedAnswer),
    /// where what came cannot be read; `model_not_found`, where a page for people came.
    pub async fn complete<W: Wire, B: Serialize + ?Sized>(
        &self,
        wire: &W,
        body: &B,
        headers: &[(HeaderName, HeaderValue)],
    ) -> Result<CompletionResponse, ProviderError> {
        let reply = self.post(body, headers).await?;
        self.whole(wire, &reply)
    }

    /// Asks for an answer in pieces, and takes a whole one too: the content decides, not its type.
    ///
    /// All of an answer is at most [`MAX_SUCCESS_BODY`](crate::MAX_SUCCESS_BODY). Nothing bounds how long it may take; each
    /// silence is bounded by [`HttpClientBuilder::idle_timeout`](crate::HttpClientBuilder::idle_timeout), also the one
    /// before the answer starts.
    ///
    /// # Errors
    ///
    /// As [`HttpClient::complete`], where no stream began. Of one that began they are its last event.
    pub async fn stream<W: Wire, B: Serialize + ?Sized>(
        &self,
        wire: &W,
        body: &B,
        headers: &[(HeaderName, HeaderValue)],
    ) -> Result<StreamHandle, ProviderError> {
        let mut response = self.open(body, headers, W::STREAMS).await?;
        let mut first = Bytes::new();
        if response.status().is_success() {
            first = self.beginning(&mut response).await?;
            let shape = Shape::of(&first);
            if shape != Shape::Page && (shape != Shape::Json || W::IS_LINES) {
                let events = self.events(response, W::Decoder::default(), first);
                let left_out = wire.tools().left_out.clone();
                return Ok(events.into_answer(wire.assembler(), left_out));
            }
        }
        let reply = self.read(response, &first, self.idle_timeout()).await?;
        self.whole(wire, &reply).map(StreamHandle::from)
    }

    /// Waits for as much of a body as shows what it is.
    async fn beginning(&self, response: &mut Response) -> Result<Bytes, ProviderError> {
        let mut first = Bytes::new();
        while Shape::of(&first) == Shape::Blank {
            let next = tokio::time::timeout(self.idle_timeout(), response.chunk()).await;
            let status = response.status().as_u16();
            let chunk = match next {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => break,
                Ok(Err(error)) => return Err(self.transport_error(error).with_status(status)),
                Err(_) => return Err(self.silence().with_status(status)),
            };
            if first.is_empty() {
                first = chunk;
            } else if first.len().saturating_add(chunk.len()) > MOST_BLANKS {
                return Err(self.too_large(status));
            } else {
                first = [first, chunk].concat().into();
            }
        }
        Ok(first)
    }

    fn whole<W: Wire>(&self, wire: &W, reply: &Reply) -> Result<CompletionResponse, ProviderError> {
        let failed = || self.failure(reply, name_tool(wire.failure(reply), &wire.tools().sent));
        if !reply.is_success() {
            return Err(failed());
        }
        let answer = match Shape::of(reply.body()) {
            Shape::Page => return Err(self.page(reply.status())),
            Shape::Other => gathered(wire, reply),
            Shape::Json | Shape::Blank => match wire.whole(reply.body()) {
                // Lines of JSON are no JSON.
                Err(NoAnswer::Malformed(error)) if W::IS_LINES => {
                    gathered(wire, reply).map_err(|fault| match fault {
                        NoAnswer::Failed(failure) => NoAnswer::Failed(failure),
                        _ => NoAnswer::Malformed(error),
                    })
                }
                answer => answer,
            },
        };
        let told = |answer| CompletionResponse {
            left_out: wire.tools().left_out.clone(),
            ..answer
        };
        answer.map(told).map_err(|fault| match fault {
            NoAnswer::Malformed(error) => self.malformed(reply.status(), error),
            NoAnswer::Absent => failed(),
            NoAnswer::Failed(failure) => self.failure(reply, failure),
        })
    }

    /// Returns the error of a page for people in the place of an answer: another attempt finds it there too.
    fn page(&self, status: u16) -> ProviderError {
        let message = format!(
            "{} answered with a web page and not as an API: check the base URL, which for many servers ends in /v1, and \
             that no proxy or login stands before it",
            self.origin(),
        );
        ProviderError::new(FailureKind::ModelNotFound, message).with_status(status)
    }
}

/// How much may come that is blank.
const MOST_BLANKS: usize = 64 * 1024;

/// Puts a stream together that came as one body.
fn gathered<W: Wire>(wire: &W, reply: &Reply) -> Result<CompletionResponse, NoAnswer> {
    let mut decoder = W::Decoder::default();
    let mut assembler = wire.assembler();
    let mut seen = VecDeque::new();
    let mut body = reply.body();
    while decoder.advance(&mut body).unwrap_or(false) {
        if assembler.feed(decoder.event(), &mut seen)? == Progress::Complete {
            return assembler.finish();
        }
        seen.clear();
    }
    if decoder.finish() {
        assembler.feed(decoder.event(), &mut seen)?;
    }
    assembler.finish()
}
