use std::{error::Error, fmt, net::IpAddr, time::Duration};

use neuron_types::{FailureKind, ProviderError, RunOrigin, read_json};
use reqwest::{
    Client, Method, Request, Response, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    redirect,
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    ApiKey, MAX_ERROR_BODY, MAX_SUCCESS_BODY, Reply,
    client::{tag_headers, trace_headers},
};

/// How long a whole attempt may take unless the builder says otherwise: ten minutes.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// How long a stream may be silent unless the builder says otherwise: five minutes.
pub const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_secs(300);

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const USER_AGENT: &str = concat!("neuron/", env!("CARGO_PKG_VERSION"));

/// Speaks JSON with one server, one attempt per call.
///
/// It never retries and never follows a redirect. Cloning it is cheap and shares the connections.
#[derive(Clone)]
pub struct HttpClient {
    provider: &'static str,
    pub(crate) request_id: &'static str,
    client: Client,
    base: Url,
    url: Url,
    headers: HeaderMap,
    tag_headers: bool,
    secrets: Vec<ApiKey>,
    timeout: Duration,
    idle_timeout: Duration,
}

impl HttpClient {
    /// Starts a client. `provider` is the name that its error messages use; `base_url` is what
    /// [`HttpClientBuilder::path`] is appended to.
    pub fn builder(provider: &'static str, base_url: impl Into<String>) -> HttpClientBuilder {
        HttpClientBuilder {
            provider,
            request_id: "x-request-id",
            base_url: base_url.into(),
            path: &[],
            headers: Vec::new(),
            tag_headers: false,
            secrets: Vec::new(),
            timeout: DEFAULT_TIMEOUT,
            idle_timeout: DEFAULT_IDLE_TIMEOUT,
        }
    }

    /// Returns a client for another path below the base URL. It shares the connections.
    #[must_use]
    pub fn at(&self, path: &[&str]) -> Self {
        Self {
            url: join(&self.base, path),
            ..self.clone()
        }
    }

    /// Returns a client whose requests say in their headers what trace they are a part of, where there is one; and that
    /// they are of this run, if it was [built](HttpClientBuilder::tag_headers) to send that. It shares the connections.
    /// `None` if there is nothing to send.
    #[must_use]
    pub fn of_run(&self, origin: RunOrigin<'_>) -> Option<Self> {
        if !self.tag_headers && origin.trace.is_none() {
            return None;
        }
        let mut client = self.clone();
        if self.tag_headers {
            tag_headers::add(&mut client.headers, origin);
        }
        if let Some(trace) = origin.trace {
            trace_headers::add(&mut client.headers, trace);
        }
        Some(client)
    }

    /// Posts `body` as JSON and reads the answer, whatever its status.
    ///
    /// `headers` are those of this request alone. Dropping the future closes the connection.
    ///
    /// # Errors
    ///
    /// A retryable timeout or network failure where no whole answer came; an error status is a [`Reply`].
    pub async fn post<B: Serialize + ?Sized>(
        &self,
        body: &B,
        headers: &[(HeaderName, HeaderValue)],
    ) -> Result<Reply, ProviderError> {
        let mut request = self.request(body, headers)?;
        *request.timeout_mut() = Some(self.timeout);
        let response = self.send(request).await?;
        self.read(response, &[], self.timeout).await
    }

    /// Gets what is at the address and reads the answer, whatever its status.
    ///
    /// # Errors
    ///
    /// As [`HttpClient::post`].
    pub async fn get(&self) -> Result<Reply, ProviderError> {
        let mut request = Request::new(Method::GET, self.url.clone());
        *request.headers_mut() = self.headers.clone();
        *request.timeout_mut() = Some(self.timeout);
        let response = self.send(request).await?;
        self.read(response, &[], self.timeout).await
    }

    /// Sends `DELETE` with `body` as JSON and reads the answer, whatever its status.
    ///
    /// # Errors
    ///
    /// As [`HttpClient::post`].
    pub async fn delete<B: Serialize + ?Sized>(&self, body: &B) -> Result<Reply, ProviderError> {
        let mut request = self.request(body, &[])?;
        *request.method_mut() = Method::DELETE;
        *request.timeout_mut() = Some(self.timeout);
        let response = self.send(request).await?;
        self.read(response, &[], self.timeout).await
    }

    pub(crate) fn request<B: Serialize + ?Sized>(
        &self,
        body: &B,
        headers: &[(HeaderName, HeaderValue)],
    ) -> Result<Request, ProviderError> {
        let body = serde_json::to_vec(body).map_err(|error| {
            ProviderError::new(
                FailureKind::Internal,
                "the request cannot be written as JSON: report this as a bug",
            )
            .with_source(error)
        })?;
        let mut request = Request::new(Method::POST, self.url.clone());
        *request.headers_mut() = self.headers.clone();
        for (name, value) in headers {
            request.headers_mut().append(name, value.clone());
        }
        *request.body_mut() = Some(body.into());
        Ok(request)
    }

    pub(crate) async fn send(&self, request: Request) -> Result<Response, ProviderError> {
        let response = self.client.execute(request).await;
        response.map_err(|error| self.transport_error(error))
    }

    /// Parses the body of an answer that is a success.
    ///
    /// # Errors
    ///
    /// A [malformed answer](FailureKind::MalformedAnswer) with the parser's cause, where the body is not the JSON that `T`
    /// needs.
    pub fn decode<T: DeserializeOwned>(&self, reply: &Reply) -> Result<T, ProviderError> {
        read_json(reply.body()).map_err(|error| self.malformed(reply.status(), error))
    }

    /// Returns the error of an answer, or a piece of one, that is not the JSON that the provider sends.
    pub(crate) fn malformed(&self, status: u16, source: serde_json::Error) -> ProviderError {
        let message = format!(
            "{} sent what is not the JSON that {} sends: check that no proxy changes it",
            self.origin(),
            self.provider(),
        );
        ProviderError::new(FailureKind::MalformedAnswer, message)
            .with_status(status)
            .with_source(source)
    }

    /// Reads the rest of an answer that began with `first`, and that may be silent for this long.
    pub(crate) async fn read(
        &self,
        mut response: Response,
        first: &[u8],
        idle: Duration,
    ) -> Result<Reply, ProviderError> {
        let status = response.status().as_u16();
        let headers = std::mem::take(response.headers_mut());
        let success = (200..300).contains(&status);
        let mut body = first.to_vec();
        let limit = if success {
            MAX_SUCCESS_BODY
        } else {
            MAX_ERROR_BODY
        };
        loop {
            let chunk = match tokio::time::timeout(idle, response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => break,
                // The status says what happened, however little of the explanation came.
                Ok(Err(_)) | Err(_) if !success => {
                    self.drop_begun(&mut body);
                    break;
                }
                Ok(Err(error)) => {
                    return Err(self.transport_error(error).with_status(status));
                }
                Err(_) => return Err(self.silence().with_status(status)),
            };
            let room = limit.saturating_sub(body.len());
            body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            if chunk.len() > room {
                if success {
                    return Err(self.too_large(status));
                }
                self.drop_begun(&mut body);
                break;
            }
        }
        Ok(Reply::new(status, headers, body))
    }

    pub(crate) fn too_large(&self, status: u16) -> ProviderError {
        let message = format!(
            "{} sent an answer of more than {} MiB: ask for less at once",
            self.origin(),
            MAX_SUCCESS_BODY / (1024 * 1024),
        );
        ProviderError::new(FailureKind::Unavailable, message)
            .with_status(status)
            .with_should_retry(false)
    }

    /// Returns the provider's name as error messages use it.
    #[must_use]
    pub fn provider(&self) -> &'static str {
        self.provider
    }

    /// Returns scheme, host and port of the server: all that a message may say of the address.
    #[must_use]
    pub fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// Returns how long a whole attempt may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns how long a stream may be silent.
    #[must_use]
    pub fn idle_timeout(&self) -> Duration {
        self.idle_timeout
    }

    /// Drops what may be the beginning of a secret from the end of a body that was cut there.
    fn drop_begun(&self, body: &mut Vec<u8>) {
        for secret in &self.secrets {
            secret.drop_begun(body);
        }
    }

    pub(crate) fn redact(&self, text: &str) -> String {
        self.secrets
            .iter()
            .fold(text.to_owned(), |text, secret| secret.redact(&text))
    }
}

/// Shows the origin, never a path, a query or a header.
impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient")
            .field("provider", &self.provider)
            .field("origin", &self.origin())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Builds an [`HttpClient`]. Created with [`HttpClient::builder`].
#[derive(Clone)]
#[must_use]
pub struct HttpClientBuilder {
    provider: &'static str,
    request_id: &'static str,
    base_url: String,
    path: &'static [&'static str],
    headers: Vec<(String, String)>,
    tag_headers: bool,
    secrets: Vec<ApiKey>,
    timeout: Duration,
    idle_timeout: Duration,
}

impl HttpClientBuilder {
    /// Sets the name that error messages use. Default is the one that the builder was started with.
    pub fn provider(mut self, provider: &'static str) -> Self {
        self.provider = provider;
        self
    }

    /// Sets the header of an answer that names its request. Default is `x-request-id`, which proxies set too.
    pub fn request_id(mut self, header: &'static str) -> Self {
        self.request_id = header;
        self
    }

    /// Sets the base URL. A query that it has is kept in every request.
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        self.base_url = base_url.into();
        self
    }

    /// Sets the path segments that are appended to the base URL. Default is no segments.
    pub fn path(mut self, segments: &'static [&'static str]) -> Self {
        self.path = segments;
        self
    }

    /// Sets a header of every request. Logs and messages do not show it.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets whether every request of a run states which run it is of, and whose that is, for gateways that bill or
    /// route by headers. Default is no.
    ///
    /// They are `x-neuron-run`, `x-neuron-root` (the run at the top of its tree), `x-neuron-tenant`, `x-neuron-owner` and
    /// `x-neuron-label-KEY` of at most 32 labels, the first by their keys. What is not visible ASCII is percent-encoded, as
    /// `%` is. A value of more than 1024 bytes or a key of more than 64 is left out, and never cut. A header that is
    /// [set](Self::header) for every request stays as it is.
    pub fn tag_headers(mut self, sent: bool) -> Self {
        self.tag_headers = sent;
        self
    }

    /// Sets a header that is `prefix` and the key. The key is blanked in every error message.
    pub fn secret_header(mut self, name: &str, prefix: &str, key: &ApiKey) -> Self {
        self.secrets.push(key.clone());
        self.header(name, format!("{prefix}{}", key.expose()))
    }

    /// Sets how long a whole attempt may take, from connecting to the last byte. Default is ten minutes.
    /// Connecting alone may take ten seconds. A stream has no such bound.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how long a stream may be silent, also before its first byte. Default is
    /// [`DEFAULT_IDLE_TIMEOUT`].
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Returns the base URL's host, where it has one.
    #[must_use]
    pub fn host(&self) -> Option<String> {
        Url::parse(&self.base_url)
            .ok()?
            .host_str()
            .map(str::to_owned)
    }

    /// Makes the client. Proxies are those of the environment, except for a server on this machine.
    ///
    /// # Errors
    ///
    /// An invalid request, where the base URL or a header cannot be used; an internal failure, where TLS
    /// cannot be set up.
    pub fn build(self) -> Result<HttpClient, ProviderError> {
        let base = base_url(&self.base_url)?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        for (name, value) in &self.headers {
            let (name, value) = header(name, value)?;
            headers.insert(name, value);
        }
        let mut client = neuron_tls::client_builder().map_err(no_client)?;
        if is_loopback(&base) {
            client = client.no_proxy();
        }
        let client = client
            .user_agent(USER_AGENT)
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .build()
            .map_err(|error| no_client(error.without_url()))?;
        Ok(HttpClient {
            provider: self.provider,
            request_id: self.request_id,
            client,
            url: join(&base, self.path),
            base,
            headers,
            tag_headers: self.tag_headers,
            secrets: self.secrets,
            timeout: self.timeout,
            idle_timeout: self.idle_timeout,
        })
    }
}

/// Shows neither headers nor the base URL, which may hold a secret.
fn no_client(error: impl Error + Send + Sync + 'static) -> ProviderError {
    ProviderError::new(
        FailureKind::Internal,
        "the HTTP client cannot be set up: check the system's certificates and proxy settings",
    )
    .with_source(error)
}

impl fmt::Debug for HttpClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClientBuilder")
            .field("provider", &self.provider)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

fn base_url(base_url: &str) -> Result<Url, ProviderError> {
    let refuse = |why| Err(ProviderError::new(FailureKind::InvalidRequest, why));
    let Ok(url) = Url::parse(base_url.trim()) else {
        return refuse("the base URL is not a URL: write it like https://api.example.com/v1");
    };
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return refuse(
            "the base URL is not an http or https address: write it like https://api.example.com/v1",
        );
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refuse(
            "the base URL holds a user name or password: take it out and use an API key",
        );
    }
    Ok(url)
}

fn join(base: &Url, path: &[&str]) -> Url {
    let mut url = base.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    url
}

/// Returns whether the server is on this machine: it is not behind a proxy then, whatever the environment says of
/// others.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), ProviderError> {
    let refuse = || {
        ProviderError::new(
            FailureKind::InvalidRequest,
            format!(
                "the header {name:?} holds characters that a header cannot: check the key or value"
            ),
        )
    };
    let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refuse())?;
    let mut value = HeaderValue::from_str(value).map_err(|_| refuse())?;
    value.set_sensitive(true);
    Ok((parsed, value))
}
