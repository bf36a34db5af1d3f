use neuron_provider_http::lenient;
use serde::Deserialize;

/// What kind of model it is, as far as the server says it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ModelDetails {
    /// The form of its file, such as `gguf`.
    #[serde(deserialize_with = "lenient")]
    pub format: String,
    /// Its family, such as `qwen3`.
    #[serde(deserialize_with = "lenient")]
    pub family: String,
    /// How many parameters it has, such as `8.2B`.
    #[serde(deserialize_with = "lenient")]
    pub parameter_size: String,
    /// How its parameters are stored, such as `Q4_K_M`.
    #[serde(deserialize_with = "lenient")]
    pub quantization_level: String,
}
