use neuron_types::{
    CompletionRequest, FailureKind, ProviderError, ReasoningEffort, ThinkingConfig,
};

/// Returns the effort to ask for. OpenAI has no thinking switch of its own: no thinking is effort `none`.
pub(crate) fn effort(
    request: &CompletionRequest,
) -> Result<Option<ReasoningEffort>, ProviderError> {
    let effort = request.reasoning_effort;
    match request.thinking {
        None | Some(ThinkingConfig::Adaptive) => Ok(effort),
        Some(ThinkingConfig::Disabled) => match effort {
            None | Some(ReasoningEffort::None) => Ok(Some(ReasoningEffort::None)),
            Some(_) => Err(refuse(
                "disabled thinking and a reasoning effort exclude each other: leave one of them unset",
            )),
        },
        Some(ThinkingConfig::Enabled { .. }) => Err(refuse(
            "openai takes no budget for thinking: set the reasoning effort and leave `thinking` unset",
        )),
        Some(_) => Err(refuse(
            "openai's models cannot be told when to think: set the reasoning effort and leave `thinking` unset",
        )),
    }
}

/// Returns the error of a request that cannot be expressed, or that the model would reject.
pub(crate) fn refuse(message: impl Into<String>) -> ProviderError {
    ProviderError::new(FailureKind::InvalidRequest, message)
}
