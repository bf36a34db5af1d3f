use neuron_provider_http::lenient;
use neuron_types::ProviderError;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{ModelDetails, Ollama, answer::failure, manage::failure as missing};

/// What the server says of one model.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ShownModel {
    /// What it can do, such as `completion`, `tools`, `vision` and `thinking`; `None` if the server does not say.
    #[serde(deserialize_with = "lenient")]
    pub capabilities: Option<Vec<String>>,
    /// What kind of model it is.
    #[serde(deserialize_with = "lenient")]
    pub details: ModelDetails,
    /// The settings that it comes with, a line each.
    #[serde(deserialize_with = "lenient")]
    pub parameters: String,
    /// The template that conversations are written with.
    #[serde(deserialize_with = "lenient")]
    pub template: String,
    /// Its licence.
    #[serde(deserialize_with = "lenient")]
    pub license: String,
    /// Where it runs, if that is elsewhere; else empty.
    #[serde(deserialize_with = "lenient")]
    pub remote_host: String,
    /// What its file says, such as `general.architecture`.
    #[serde(deserialize_with = "lenient")]
    pub model_info: Map<String, Value>,
}

impl ShownModel {
    /// Returns how many tokens its context can hold; `None` if the server does not say.
    #[must_use]
    pub fn context_length(&self) -> Option<u64> {
        let architecture = self.model_info.get("general.architecture")?.as_str()?;
        let length = self
            .model_info
            .get(&format!("{architecture}.context_length"))?;
        length.as_u64().filter(|tokens| *tokens > 0)
    }
}

impl Ollama {
    /// Returns what the server says of a model.
    ///
    /// # Errors
    ///
    /// [`ModelNotFound`](neuron_types::FailureKind::ModelNotFound) if the server does not have it; otherwise as
    /// [`Provider::complete`](neuron_types::Provider::complete).
    pub async fn show(&self, name: &str) -> Result<ShownModel, ProviderError> {
        let http = self.http.at(&["api", "show"]);
        let reply = http.post(&json!({"model": name}), &[]).await?;
        let hint = "pull it first, with `Ollama::pull`, or check its name with `Ollama::installed`";
        let read = |reply: &_| missing::hinted(failure::read(reply), hint);
        http.answer(&reply, read, Some)
    }
}
