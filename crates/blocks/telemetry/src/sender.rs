//! Requests to one address.

use std::{error::Error as _, fmt};

use opentelemetry_sdk::error::OTelSdkError;
use reqwest::{Client, Url, header::CONTENT_TYPE, redirect::Policy};
use tokio::runtime::Handle;

use crate::{error::TelemetryError, http_thread::HttpThread, settings::Receiver};

/// What is read of an answer. OTLP's are a few bytes.
const MOST_BYTES: usize = 64 * 1024;

/// Sends to one address.
#[derive(Clone)]
pub(crate) struct Sender {
    client: Client,
    url: Url,
    handle: Handle,
}

impl Sender {
    /// Returns what sends to this receiver, on this thread.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no client that speaks HTTPS.
    pub(crate) fn new(receiver: Receiver, thread: &HttpThread) -> Result<Self, TelemetryError> {
        let builder =
            neuron_tls::client_builder().map_err(|source| TelemetryError::Tls { source })?;
        let client = builder
            .timeout(receiver.timeout)
            .default_headers(receiver.headers)
            // The headers are for this receiver and no other.
            .redirect(Policy::none())
            .user_agent(concat!("neuron/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|source| TelemetryError::Client { source })?;
        Ok(Self {
            client,
            url: receiver.url,
            handle: thread.handle(),
        })
    }

    /// Sends this and returns what is answered. It may be awaited anywhere.
    ///
    /// # Errors
    ///
    /// Returns an error, without the address, if it was not taken.
    pub(crate) async fn post(&self, body: Vec<u8>) -> Result<Vec<u8>, OTelSdkError> {
        let request = self.client.post(self.url.clone());
        let request = request.header(CONTENT_TYPE, "application/x-protobuf");
        let exchange = exchange(request.body(body));
        let answer = self.handle.spawn(exchange).await;
        answer
            .unwrap_or_else(|_| Err("it was ended before an answer came".to_owned()))
            .map_err(OTelSdkError::InternalFailure)
    }
}

async fn exchange(request: reqwest::RequestBuilder) -> Result<Vec<u8>, String> {
    let mut response = request.send().await.map_err(said)?;
    if !response.status().is_success() {
        return Err(format!("the answer is {}", response.status()));
    }
    let mut answer = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(said)? {
        if answer.len() + chunk.len() > MOST_BYTES {
            return Err("the answer has no end".to_owned());
        }
        answer.extend_from_slice(&chunk);
    }
    Ok(answer)
}

/// Returns what an error says, with its causes, and without the address, which may hold keys.
fn said(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        said = format!("{said}: {error}");
        cause = error.source();
    }
    said
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}
