use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use neuron_provider_http::{
    ApiFailure, HttpClient, HttpClientBuilder, NdjsonDecoder, NoAnswer, Reply, ToolNames, Wire,
    http_settings, variable,
};
use neuron_types::{
    CompletionRequest, CompletionResponse, DynProvider, FailureKind, Provider, ProviderError,
    RunOrigin, StreamHandle, read_json,
};
use serde_json::json;

use crate::{
    KeepAlive, Think,
    answer::failure,
    answer::response::{Answer, Piece},
    answer::stream::Lines,
    base_url_of_host,
    request::body::Body,
    request::model::Model,
    settings::Settings,
};

/// Where the server is unless [`OllamaBuilder::base_url`] says otherwise.
pub const DEFAULT_BASE_URL: &str = "http://localhost:11434";

/// Ollama's chat API.
///
/// Cloning it is cheap and shares the connections and what is known of the models. Its `Debug` shows no key.
#[derive(Debug, Clone)]
pub struct Ollama {
    pub(crate) http: HttpClient,
    show: HttpClient,
    settings: Settings,
    models: Arc<Mutex<BTreeMap<String, Arc<Model>>>>,
}

impl Ollama {
    /// Starts a client.
    pub fn builder() -> OllamaBuilder {
        OllamaBuilder {
            http: HttpClient::builder("ollama", DEFAULT_BASE_URL).path(&["api", "chat"]),
            has_key: false,
            settings: Settings {
                num_ctx: None,
                keep_alive: None,
                think: None,
                check_models: true,
            },
        }
    }

    /// Makes a client with what the environment says: the server in `OLLAMA_HOST`, in the forms that Ollama's own
    /// command takes, and a key in `OLLAMA_API_KEY`. Without either it is the server of this machine.
    ///
    /// # Errors
    ///
    /// As [`OllamaBuilder::build`].
    pub fn from_env() -> Result<Self, ProviderError> {
        let mut builder = Self::builder();
        if let Some(host) = variable("OLLAMA_HOST") {
            builder = builder.base_url(base_url_of_host(&host));
        }
        if let Some(key) = variable("OLLAMA_API_KEY") {
            builder = builder.api_key(key);
        }
        builder.build()
    }

    /// Returns what to send, once the model is known to be able to answer it.
    async fn body<'a>(
        &'a self,
        request: &'a CompletionRequest,
        stream: bool,
    ) -> Result<Body<'a>, ProviderError> {
        let mut body = Body::new(request, &self.settings, stream)?;
        let wanted = body.wanted();
        if !self.settings.check_models || !wanted.anything() {
            return Ok(body);
        }
        if let Some(model) = self.model(&request.model).await? {
            if let Err(refusal) = model.check(&request.model, &wanted) {
                // Another model may be pulled under this name.
                self.known(|models| models.remove(&request.model));
                return Err(refusal);
            }
            body.adapt(&model);
        }
        Ok(body)
    }

    /// Returns what the server says of a model, asked once. `None` if the server says nothing.
    async fn model(&self, name: &str) -> Result<Option<Arc<Model>>, ProviderError> {
        if let Some(model) = self.known(|models| models.get(name).cloned()) {
            return Ok(Some(model));
        }
        let reply = self.show.post(&json!({"model": name}), &[]).await?;
        if !reply.is_success() {
            // The answer's own request says what is wrong.
            return Ok(None);
        }
        let model: Arc<Model> = Arc::new(self.show.decode(&reply)?);
        self.known(|models| models.insert(name.to_owned(), Arc::clone(&model)));
        Ok(Some(model))
    }

    /// Forgets what is known of a model, under each name that means it: another one may have its name now.
    pub(crate) fn forget(&self, name: &str) {
        let name = base_name(name);
        self.known(|models| models.retain(|known, _| base_name(known) != name));
    }

    fn known<T>(&self, look: impl FnOnce(&mut BTreeMap<String, Arc<Model>>) -> T) -> T {
        look(&mut self.models.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the name of a model without the tag that a name without one means.
fn base_name(name: &str) -> &str {
    name.strip_suffix(":latest").unwrap_or(name)
}

impl Provider for Ollama {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let body = &self.body(request, false).await?;
        self.http.complete(&Chat { body }, body, &[]).await
    }

    async fn complete_stream(
        &self,
        request: &CompletionRequest,
    ) -> Result<StreamHandle, ProviderError> {
        let body = &self.body(request, true).await?;
        self.http.stream(&Chat { body }, body, &[]).await
    }

    fn of_run(&self, origin: RunOrigin<'_>) -> Option<Arc<dyn DynProvider>> {
        let http = self.http.of_run(origin)?;
        Some(Arc::new(Self {
            http,
            ..self.clone()
        }))
    }
}

/// One request of the chat API.
struct Chat<'a> {
    body: &'a Body<'a>,
}

impl Wire for Chat<'_> {
    type Decoder = NdjsonDecoder;
    type Assembler = Lines;

    const STREAMS: &'static str = "application/x-ndjson";
    const IS_LINES: bool = true;

    fn assembler(&self) -> Lines {
        Lines::to(self.body.messages())
    }

    fn whole(&self, body: &[u8]) -> Result<CompletionResponse, NoAnswer> {
        whole(body, self.body.messages())
    }

    fn tools(&self) -> &ToolNames<'_> {
        &self.body.tools.names
    }

    fn failure(&self, reply: &Reply) -> ApiFailure {
        failure::read(reply)
    }
}

/// Reads an answer that came whole, to a conversation of this number of messages.
pub(crate) fn whole(body: &[u8], messages: usize) -> Result<CompletionResponse, NoAnswer> {
    let mut piece: Piece = read_json(body)?;
    if piece.error.is_some() || piece.message.is_none() {
        return Err(NoAnswer::Absent);
    }
    // Whether the piece marks its end or not.
    piece.done = Some(true);
    let mut answer = Answer::to(messages);
    answer.take(piece)?;
    answer.finish()
}

/// Builds an [`Ollama`]. Created with [`Ollama::builder`].
#[derive(Debug, Clone)]
#[must_use]
pub struct OllamaBuilder {
    http: HttpClientBuilder,
    has_key: bool,
    settings: Settings,
}

impl OllamaBuilder {
    http_settings! {
        /// Sets the base URL, without `/api`. Default is [`DEFAULT_BASE_URL`]. For a value of `OLLAMA_HOST` see
        /// [`base_url_of_host`](crate::base_url_of_host).
        base_url;
        /// Sets the API key, which is sent as `Authorization: Bearer`. Needed for Ollama's cloud; a server of your own wants
        /// none.
        api_key("authorization", "Bearer ");
    }

    /// Sets how many tokens the model's context holds. Default is the server's, often 4096. A larger one
    /// takes more memory, and a model is loaded anew where it changes.
    pub fn num_ctx(mut self, tokens: u64) -> Self {
        self.settings.num_ctx = Some(tokens);
        self
    }

    /// Sets how long the model stays loaded after an answer. Default is the server's, five minutes.
    pub fn keep_alive(mut self, keep_alive: KeepAlive) -> Self {
        self.settings.keep_alive = Some(keep_alive);
        self
    }

    /// Sets whether the model thinks where the request does not set it. Default is the model's, which is yes for one
    /// that can.
    pub fn think(mut self, think: Think) -> Self {
        self.settings.think = Some(think);
        self
    }

    /// Sets whether the server is asked what a model can do before it is asked for that. Default is yes.
    pub fn check_models(mut self, check: bool) -> Self {
        self.settings.check_models = check;
        self
    }

    /// Makes the client.
    ///
    /// # Errors
    ///
    /// An authentication failure, where Ollama's cloud is addressed without a key; otherwise as
    /// [`HttpClientBuilder::build`].
    pub fn build(self) -> Result<Ollama, ProviderError> {
        if !self.has_key && self.http.host().as_deref() == Some("ollama.com") {
            return Err(ProviderError::new(
                FailureKind::Authentication,
                "ollama's cloud needs an API key: set OLLAMA_API_KEY or give the client one",
            ));
        }
        let http = self.http.build()?;
        Ok(Ollama {
            show: http.at(&["api", "show"]),
            http,
            settings: self.settings,
            models: Arc::default(),
        })
    }
}
