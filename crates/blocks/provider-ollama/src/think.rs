use neuron_types::{
    CompletionRequest, FailureKind, ProviderError, ReasoningEffort, ThinkingConfig,
};
use serde::{Serialize, Serializer};

/// Whether a model thinks before it answers, and how hard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Think {
    /// Not at all.
    Off,
    /// As much as the model likes.
    On,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// As much as the model can.
    Max,
}

impl Serialize for Think {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::On => serializer.serialize_bool(true),
            Self::Low => serializer.serialize_str("low"),
            Self::Medium => serializer.serialize_str("medium"),
            Self::High => serializer.serialize_str("high"),
            Self::Max => serializer.serialize_str("max"),
        }
    }
}

/// Returns what the request asks for; `None` if it asks for nothing.
pub(crate) fn asked(request: &CompletionRequest) -> Result<Option<Think>, ProviderError> {
    let effort = match request.reasoning_effort {
        None => None,
        Some(ReasoningEffort::None) => Some(Think::Off),
        Some(ReasoningEffort::Low) => Some(Think::Low),
        Some(ReasoningEffort::Medium) => Some(Think::Medium),
        Some(ReasoningEffort::High) => Some(Think::High),
        Some(ReasoningEffort::Max) => Some(Think::Max),
        Some(_) => {
            return Err(refuse(
                "ollama knows the reasoning efforts none, low, medium, high and max: ask for one of them",
            ));
        }
    };
    match (request.thinking, effort) {
        (None, effort) => Ok(effort),
        (Some(ThinkingConfig::Disabled), None | Some(Think::Off)) => Ok(Some(Think::Off)),
        (Some(ThinkingConfig::Disabled), Some(_)) => Err(refuse(
            "disabled thinking and a reasoning effort exclude each other: leave one of them unset",
        )),
        (Some(ThinkingConfig::Adaptive), Some(Think::Off)) => Err(refuse(
            "thinking and the reasoning effort none exclude each other: leave one of them unset",
        )),
        (Some(ThinkingConfig::Adaptive), effort) => Ok(effort.or(Some(Think::On))),
        (Some(ThinkingConfig::Enabled { .. }), _) => Err(refuse(
            "ollama takes no budget for thinking: use adaptive thinking or a reasoning effort",
        )),
        (Some(_), _) => Err(refuse(
            "ollama cannot tell a model when to think: use adaptive thinking or a reasoning effort",
        )),
    }
}

/// Returns the error of a request that cannot be expressed, or that the model would reject.
pub(crate) fn refuse(message: impl Into<String>) -> ProviderError {
    ProviderError::new(FailureKind::InvalidRequest, message)
}
