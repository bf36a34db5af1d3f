/// The field that limits the length of an answer in Chat Completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenLimitField {
    /// `max_completion_tokens`: OpenAI's own. Its newer models refuse the other.
    MaxCompletionTokens,
    /// `max_tokens`: the older name, which many compatible servers know alone.
    MaxTokens,
}

impl TokenLimitField {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::MaxCompletionTokens => "max_completion_tokens",
            Self::MaxTokens => "max_tokens",
        }
    }
}

/// The role of instructions in Chat Completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemRole {
    /// `developer`: OpenAI's newer models.
    Developer,
    /// `system`: compatible servers.
    System,
}

/// How a server of Chat Completions differs from others.
#[derive(Debug, Clone)]
pub(crate) struct Dialect {
    pub(crate) token_limit: TokenLimitField,
    pub(crate) system_role: SystemRole,
    pub(crate) reasoning_field: Option<String>,
}
