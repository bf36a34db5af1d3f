//! The model providers of this build.

use std::sync::Arc;

#[cfg(feature = "anthropic")]
pub use neuron_provider_anthropic::Anthropic;
#[cfg(feature = "ollama")]
pub use neuron_provider_ollama::Ollama;
#[cfg(feature = "openai")]
pub use neuron_provider_openai::{OpenAiChat, OpenAiResponses};
use neuron_types::{DynProvider, ProviderError};

/// Makes a provider from the environment.
type FromEnv = fn() -> Result<Arc<dyn DynProvider>, ProviderError>;

/// The providers that a model can name, sorted.
pub(crate) const BUILT: &[(&str, FromEnv)] = &[
    #[cfg(feature = "anthropic")]
    ("anthropic", || Ok(Arc::new(Anthropic::from_env()?))),
    #[cfg(feature = "ollama")]
    ("ollama", || Ok(Arc::new(Ollama::from_env()?))),
    #[cfg(feature = "openai")]
    ("openai", || Ok(Arc::new(OpenAiResponses::from_env()?))),
];

/// The names of all providers, each the name of its feature.
pub(crate) const FEATURES: [&str; 3] = ["anthropic", "ollama", "openai"];
