use neuron_provider_http::{lenient, lenient_list};
use neuron_types::ProviderError;
use serde::Deserialize;

use crate::{ModelDetails, Ollama, answer::failure};

/// A model that is loaded into memory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct RunningModel {
    /// Its name, with its tag.
    pub name: String,
    /// How much memory it takes, in bytes.
    #[serde(default, deserialize_with = "lenient")]
    pub size: u64,
    /// How much of that is memory of a graphics card.
    #[serde(default, deserialize_with = "lenient")]
    pub size_vram: u64,
    /// How many tokens the context holds that it was loaded with; `None` if the server does not say.
    #[serde(default, deserialize_with = "lenient")]
    pub context_length: Option<u64>,
    /// When it is unloaded if nothing asks for it, as the server writes times (RFC 3339).
    #[serde(default, deserialize_with = "lenient")]
    pub expires_at: String,
    /// What kind of model it is.
    #[serde(default, deserialize_with = "lenient")]
    pub details: ModelDetails,
}

#[derive(Debug, Deserialize)]
struct Processes {
    #[serde(default, deserialize_with = "lenient_list")]
    models: Vec<RunningModel>,
}

impl Ollama {
    /// Returns the models that are loaded.
    ///
    /// # Errors
    ///
    /// As [`Provider::complete`](neuron_types::Provider::complete).
    pub async fn running(&self) -> Result<Vec<RunningModel>, ProviderError> {
        let http = self.http.at(&["api", "ps"]);
        let reply = http.get().await?;
        http.answer(&reply, failure::read, |loaded: Processes| {
            Some(loaded.models)
        })
    }
}
