use std::marker::PhantomData;

use serde_json::Value;
use wiremock::{
    Mock, MockServer, Request, ResponseTemplate,
    matchers::{method, path},
};

use crate::{Api, KEY, LONG};

/// One server for one test: gives every request the same answer and records the requests.
#[derive(Debug)]
pub struct FakeApi<A> {
    server: MockServer,
    api: PhantomData<fn() -> A>,
}

impl<A: Api> FakeApi<A> {
    /// Answers with this.
    pub async fn answering(template: ResponseTemplate) -> Self {
        let server = MockServer::start().await;
        let asked = Mock::given(method("POST")).and(path(A::PATH));
        asked.respond_with(template).mount(&server).await;
        let api = PhantomData;
        Self { server, api }
    }

    /// Answers with this body.
    pub async fn with_body(body: &Value) -> Self {
        Self::answering(ResponseTemplate::new(200).set_body_json(body)).await
    }

    /// The base URL that clients of this server use.
    pub fn base_url(&self) -> String {
        self.server.uri() + A::BASE
    }

    /// A client of this server.
    pub fn client(&self) -> A::Client {
        A::build(A::builder(Some(&self.base_url()), Some(KEY), LONG)).unwrap()
    }

    /// The requests so far.
    pub async fn requests(&self) -> Vec<Request> {
        let mut requests = self.server.received_requests().await.unwrap();
        requests.retain(|request| request.url.path() == A::PATH);
        requests
    }

    /// The body of a request.
    pub async fn body_of(&self, index: usize) -> Value {
        self.requests().await[index].body_json().unwrap()
    }
}

/// An answer that is a stream.
pub fn event_stream<A: Api>(body: impl Into<Vec<u8>>) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_raw(body, A::STREAM)
}
