use neuron_provider_http::lenient;
use neuron_types::{ProviderError, ReasoningEffort};
use serde::Deserialize;

use crate::{Anthropic, ModelCapabilities, answer::failure};

/// What the API says of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelInfo {
    /// Its name.
    pub id: String,
    /// Its name for people.
    pub display_name: String,
    /// `active`, `deprecated` or `retired`; empty where the API does not say.
    pub lifecycle: String,
    /// The largest prompt, in tokens.
    pub max_input_tokens: Option<u64>,
    /// The longest answer, in tokens.
    pub max_tokens: Option<u64>,
    /// What it takes: what the API says, and what is known of the model besides.
    pub capabilities: ModelCapabilities,
}

#[derive(Debug, Deserialize)]
struct WireModel {
    id: String,
    #[serde(default, deserialize_with = "lenient")]
    display_name: String,
    #[serde(default, deserialize_with = "lenient")]
    lifecycle: String,
    #[serde(default, deserialize_with = "lenient")]
    max_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    max_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    capabilities: Capabilities,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Capabilities {
    #[serde(deserialize_with = "lenient")]
    thinking: Thinking,
    #[serde(deserialize_with = "lenient")]
    effort: Effort,
    #[serde(deserialize_with = "lenient")]
    structured_outputs: Supported,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Thinking {
    #[serde(deserialize_with = "lenient")]
    types: ThinkingTypes,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ThinkingTypes {
    #[serde(deserialize_with = "lenient")]
    enabled: Supported,
    #[serde(deserialize_with = "lenient")]
    adaptive: Supported,
    #[serde(deserialize_with = "lenient")]
    disabled: Supported,
    #[serde(deserialize_with = "lenient")]
    between_tools: Supported,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Effort {
    #[serde(deserialize_with = "lenient")]
    low: Supported,
    #[serde(deserialize_with = "lenient")]
    medium: Supported,
    #[serde(deserialize_with = "lenient")]
    high: Supported,
    #[serde(deserialize_with = "lenient")]
    xhigh: Supported,
    #[serde(deserialize_with = "lenient")]
    max: Supported,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Supported {
    #[serde(deserialize_with = "lenient")]
    supported: Option<bool>,
}

impl Anthropic {
    /// Asks the API about a model. What it answers can be given to
    /// [`AnthropicBuilder::capabilities`](crate::AnthropicBuilder::capabilities).
    ///
    /// # Errors
    ///
    /// As [`Provider::complete`](neuron_types::Provider::complete).
    pub async fn model(&self, id: &str) -> Result<ModelInfo, ProviderError> {
        let http = self.http.at(&["v1", "models", id]);
        let reply = http.get().await?;
        let model: WireModel = http.answer(&reply, failure::read, Some)?;
        Ok(model.into_info())
    }
}

impl WireModel {
    fn into_info(self) -> ModelInfo {
        let known = ModelCapabilities::of(&self.id);
        let thinking = self.capabilities.thinking.types;
        ModelInfo {
            capabilities: ModelCapabilities {
                thinking_budget: thinking.enabled.supported.or(known.thinking_budget),
                adaptive_thinking: thinking.adaptive.supported.or(known.adaptive_thinking),
                no_thinking: thinking.disabled.supported.or(known.no_thinking),
                between_tools: thinking.between_tools.supported.or(known.between_tools),
                efforts: self.capabilities.effort.levels().or(known.efforts),
                structured_outputs: self.capabilities.structured_outputs.supported,
                ..known
            },
            id: self.id,
            display_name: self.display_name,
            lifecycle: self.lifecycle,
            max_input_tokens: self.max_input_tokens,
            max_tokens: self.max_tokens,
        }
    }
}

impl Effort {
    /// Returns `None` where the API reports nothing about any level.
    fn levels(&self) -> Option<Vec<ReasoningEffort>> {
        let said = [
            (ReasoningEffort::Low, &self.low),
            (ReasoningEffort::Medium, &self.medium),
            (ReasoningEffort::High, &self.high),
            (ReasoningEffort::XHigh, &self.xhigh),
            (ReasoningEffort::Max, &self.max),
        ];
        if said.iter().all(|(_, level)| level.supported.is_none()) {
            return None;
        }
        let has = |level: &Supported| level.supported == Some(true);
        let levels = said.into_iter().filter(|(_, level)| has(level));
        Some(levels.map(|(effort, _)| effort).collect())
    }
}
