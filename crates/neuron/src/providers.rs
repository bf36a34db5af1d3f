//! The model providers of this build.

use std::sync::Arc;

use neuron_executor::PriceList;
#[cfg(feature = "anthropic")]
pub use neuron_provider_anthropic::Anthropic;
#[cfg(feature = "ollama")]
pub use neuron_provider_ollama::Ollama;
#[cfg(feature = "openai")]
pub use neuron_provider_openai::{OpenAiChat, OpenAiResponses};
use neuron_types::{DynProvider, ProviderError};

/// A provider that a model can name.
pub(crate) struct Built {
    pub(crate) name: &'static str,
    /// Makes it from the environment.
    pub(crate) from_env: fn() -> Result<Arc<dyn DynProvider>, ProviderError>,
    /// The prices of its vendor, and the variable that may name another server.
    prices: Option<(PriceList, &'static str)>,
}

impl Built {
    /// Returns the published prices of its vendor, if it is the vendor in this environment.
    pub(crate) fn price_list(&self) -> Option<PriceList> {
        let (list, variable) = self.prices?;
        let url = std::env::var(variable).ok();
        list.at(url.as_deref().filter(|url| !url.trim().is_empty()))
    }
}

/// The providers that a model can name, sorted.
pub(crate) const BUILT: &[Built] = &[
    #[cfg(feature = "anthropic")]
    Built {
        name: "anthropic",
        from_env: || Ok(Arc::new(Anthropic::from_env()?)),
        prices: Some((PriceList::Anthropic, "ANTHROPIC_BASE_URL")),
    },
    #[cfg(feature = "ollama")]
    Built {
        name: "ollama",
        from_env: || Ok(Arc::new(Ollama::from_env()?)),
        prices: None,
    },
    #[cfg(feature = "openai")]
    Built {
        name: "openai",
        from_env: || Ok(Arc::new(OpenAiResponses::from_env()?)),
        prices: Some((PriceList::OpenAi, "OPENAI_BASE_URL")),
    },
];

/// The names of all providers, each the name of its feature.
pub(crate) const FEATURES: [&str; 3] = ["anthropic", "ollama", "openai"];
