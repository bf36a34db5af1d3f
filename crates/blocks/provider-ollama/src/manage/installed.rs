use neuron_provider_http::{lenient, lenient_list};
use neuron_types::ProviderError;
use serde::Deserialize;
use serde_json::json;

use crate::{ModelDetails, Ollama, answer::failure, manage::failure as missing};

/// A model that the server has.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct InstalledModel {
    /// The name to ask for it by, with its tag.
    pub name: String,
    /// How large its files are, in bytes.
    #[serde(default, deserialize_with = "lenient")]
    pub size: u64,
    /// The SHA-256 of its manifest, in hexadecimal.
    #[serde(default, deserialize_with = "lenient")]
    pub digest: String,
    /// When it was changed last, as the server writes times (RFC 3339).
    #[serde(default, deserialize_with = "lenient")]
    pub modified_at: String,
    /// What kind of model it is.
    #[serde(default, deserialize_with = "lenient")]
    pub details: ModelDetails,
}

#[derive(Debug, Deserialize)]
struct Tags {
    #[serde(default, deserialize_with = "lenient_list")]
    models: Vec<InstalledModel>,
}

impl Ollama {
    /// Returns the models that the server has, in its order: the newest first.
    ///
    /// # Errors
    ///
    /// As [`Provider::complete`](neuron_types::Provider::complete).
    pub async fn installed(&self) -> Result<Vec<InstalledModel>, ProviderError> {
        let http = self.http.at(&["api", "tags"]);
        let reply = http.get().await?;
        http.answer(&reply, failure::read, |tags: Tags| Some(tags.models))
    }

    /// Removes a model from the server. Runs that ask for it fail from now on.
    ///
    /// # Errors
    ///
    /// [`ModelNotFound`](neuron_types::FailureKind::ModelNotFound) if the server has no model of this name; otherwise
    /// as [`Provider::complete`](neuron_types::Provider::complete).
    pub async fn delete(&self, name: &str) -> Result<(), ProviderError> {
        let http = self.http.at(&["api", "delete"]);
        // Older servers know `name`, newer ones `model`.
        let reply = http.delete(&json!({"model": name, "name": name})).await?;
        self.forget(name);
        if reply.is_success() {
            return Ok(());
        }
        let hint = "check its name with `Ollama::installed`";
        Err(http.failure(&reply, missing::hinted(failure::read(&reply), hint)))
    }
}
