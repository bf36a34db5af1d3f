use neuron_provider_http::CallIdRule;

use crate::builder::OpenAiBuilder;

/// The field that limits the length of an answer in Chat Completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenLimitField {
    /// `max_completion_tokens`: OpenAI's own. Its newer models reject the other.
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

/// What is set for Chat Completions alone.
#[derive(Debug, Clone)]
pub struct ChatSettings {
    token_limit: Option<TokenLimitField>,
    system_role: Option<SystemRole>,
    reasoning_field: Option<String>,
    stream_usage: bool,
    done_suffices: bool,
}

impl Default for ChatSettings {
    fn default() -> Self {
        Self {
            token_limit: None,
            system_role: None,
            reasoning_field: None,
            stream_usage: true,
            done_suffices: false,
        }
    }
}

impl OpenAiBuilder<ChatSettings> {
    /// Sets the field that limits the length of an answer. Default is
    /// [`TokenLimitField::MaxCompletionTokens`] for OpenAI itself, else [`TokenLimitField::MaxTokens`].
    pub fn token_limit_field(mut self, field: TokenLimitField) -> Self {
        self.settings.token_limit = Some(field);
        self
    }

    /// Sets the role of instructions. Default is [`SystemRole::Developer`] for OpenAI itself, else
    /// [`SystemRole::System`].
    pub fn system_role(mut self, role: SystemRole) -> Self {
        self.settings.system_role = Some(role);
        self
    }

    /// Sets the field of an assistant message in which the server wants its reasoning back, for example
    /// `reasoning_content`: all of it goes back then. By default, reasoning which came as `reasoning_content` goes back
    /// in that field beside calls, and other reasoning does not. An empty name sends no reasoning.
    pub fn reasoning_field(mut self, name: impl Into<String>) -> Self {
        self.settings.reasoning_field = Some(name.into());
        self
    }

    /// Sets whether a stream is asked to report its usage, with `stream_options`. Default is yes. Switch it off for
    /// servers that reject the field: their streams may then report no usage.
    pub fn stream_usage(mut self, ask: bool) -> Self {
        self.settings.stream_usage = ask;
        self
    }

    /// Sets whether a stream that ends with `[DONE]` is whole although no finish reason came. Default is no:
    /// such an answer counts as cut off. Switch it on for servers that never send a reason.
    pub fn done_suffices(mut self, suffices: bool) -> Self {
        self.settings.done_suffices = suffices;
        self
    }

    pub(crate) fn dialect(&self) -> Dialect {
        let (token_limit, system_role) = if self.is_openai() {
            (TokenLimitField::MaxCompletionTokens, SystemRole::Developer)
        } else {
            (TokenLimitField::MaxTokens, SystemRole::System)
        };
        let settings = &self.settings;
        Dialect {
            token_limit: settings.token_limit.unwrap_or(token_limit),
            system_role: settings.system_role.unwrap_or(system_role),
            reasoning_field: settings.reasoning_field.clone(),
            stream_usage: settings.stream_usage,
            done_suffices: settings.done_suffices,
            check_models: self.checks_models(),
            call_ids: self.call_ids(),
        }
    }
}

/// How a server of Chat Completions differs from others.
#[derive(Debug, Clone)]
pub(crate) struct Dialect {
    pub(crate) token_limit: TokenLimitField,
    pub(crate) system_role: SystemRole,
    pub(crate) reasoning_field: Option<String>,
    pub(crate) stream_usage: bool,
    pub(crate) done_suffices: bool,
    pub(crate) check_models: bool,
    pub(crate) call_ids: CallIdRule,
}
