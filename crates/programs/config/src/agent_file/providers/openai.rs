//! The settings of providers of the kinds `openai-responses` and `openai-chat` only.

use std::{sync::Arc, time::Duration};

use neuron_provider_http::Cure;
use neuron_provider_openai::{
    OpenAiBuilder, OpenAiChat, OpenAiResponses, SystemRole, TokenLimitField,
};
use neuron_types::{DynProvider, ProviderError};

use crate::agent_file::{
    providers::api::ApiKeys,
    text::{
        keys::{Keys, keys},
        kinds::{Boolean, Choice, Choices, Part, Words, words},
        table::{Table, Text},
    },
};

keys! {
    pub(crate) struct OpenAiKeys {
        /// Who is billed.
        organization: Words,
        /// Who is billed.
        project: Words,
        /// Whether a request that a known model would reject fails before it is sent.
        check_models: Boolean,
    }
}

keys! {
    pub(crate) struct ResponsesKeys {
        _api: Part<ApiKeys<'_>>,
        _openai: Part<OpenAiKeys<'_>>,
        /// Whether reasoning is asked for in the form that can be sent back.
        encrypted_reasoning: Boolean = true,
    }
}

keys! {
    pub(crate) struct ChatKeys {
        _api: Part<ApiKeys<'_>>,
        _openai: Part<OpenAiKeys<'_>>,
        /// The name of the field in which `max_tokens` is sent.
        token_limit_field: Choice<TokenLimitField>,
        /// The role of the instructions.
        system_role: Choice<SystemRole>,
        /// The field in which the server expects all its reasoning back; `""` for no field.
        reasoning_field: Words,
        /// Whether a stream is asked for its token counts; without them neither the tokens nor the cost are known.
        stream_usage: Boolean = true,
        /// Whether an answer counts as whole if it does not say why it ended: compatible servers.
        done_suffices: Boolean = false,
    }
}

words!(
    TokenLimitField:
    "max_tokens" => Self::MaxTokens,
    "max_completion_tokens" => Self::MaxCompletionTokens,
);

words!(SystemRole: "system" => Self::System, "developer" => Self::Developer);

/// The settings. A key that is `None` is left to the client's default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OpenAiSettings {
    organization: Option<String>,
    project: Option<String>,
    check_models: Option<bool>,
    encrypted_reasoning: Option<bool>,
    token_limit: Option<TokenLimitField>,
    system_role: Option<SystemRole>,
    reasoning_field: Option<String>,
    stream_usage: Option<bool>,
    done_suffices: Option<bool>,
}

/// One setting in which servers of Chat Completions differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Dialect {
    TokenLimit(TokenLimitField),
    SystemRole(SystemRole),
    ReasoningField(&'static str),
    StreamUsage(bool),
    DoneSuffices(bool),
}

impl Dialect {
    /// Returns the settings that may help if a server rejects the default, each with the failure that it cures.
    pub(crate) fn all() -> [(Self, Cure); 6] {
        [
            (
                Self::TokenLimit(TokenLimitField::MaxCompletionTokens),
                Cure::Refused(&["max_tokens", "max_completion_tokens"]),
            ),
            (
                Self::SystemRole(SystemRole::Developer),
                Cure::Refused(&["system"]),
            ),
            (
                Self::StreamUsage(false),
                Cure::Refused(&["stream_options", "include_usage"]),
            ),
            (Self::DoneSuffices(true), Cure::NoEnd),
            (
                Self::ReasoningField(""),
                Cure::Refused(&["reasoning", "thinking"]),
            ),
            (
                Self::ReasoningField("reasoning_content"),
                Cure::Refused(&["reasoning", "thinking"]),
            ),
        ]
    }

    /// Returns the setting as a line of the provider's table.
    pub(crate) fn line(&self) -> String {
        fn word_of<T: Choices + PartialEq>(value: T) -> &'static str {
            let mut words = T::words().into_iter();
            words
                .find(|(_, it)| *it == value)
                .map_or("", |(word, _)| word)
        }
        match self {
            Self::TokenLimit(field) => {
                format!("token_limit_field = {:?}", word_of(*field))
            }
            Self::SystemRole(role) => {
                format!("system_role = {:?}", word_of(*role))
            }
            Self::ReasoningField(field) => format!("reasoning_field = {field:?}"),
            Self::StreamUsage(ask) => format!("stream_usage = {ask}"),
            Self::DoneSuffices(suffices) => format!("done_suffices = {suffices}"),
        }
    }
}

/// How to reach the server.
pub(crate) struct Access {
    pub(crate) key: Option<String>,
    pub(crate) base_url: Option<String>,
    pub(crate) timeout: Duration,
    pub(crate) tag_headers: bool,
}

impl OpenAiSettings {
    /// Changes one setting.
    pub(crate) fn adopt(&mut self, dialect: &Dialect) {
        match *dialect {
            Dialect::TokenLimit(field) => self.token_limit = Some(field),
            Dialect::SystemRole(role) => self.system_role = Some(role),
            Dialect::ReasoningField(field) => self.reasoning_field = Some(field.to_owned()),
            Dialect::StreamUsage(ask) => self.stream_usage = Some(ask),
            Dialect::DoneSuffices(suffices) => self.done_suffices = Some(suffices),
        }
    }

    pub(crate) fn read(table: &Table<'_>) -> Self {
        let own = |text: Text<'_>| text.value.to_owned();
        let common = OpenAiKeys::of(table);
        let chat = ChatKeys::of(table);
        Self {
            organization: common.organization().map(own),
            project: common.project().map(own),
            check_models: common.check_models(),
            encrypted_reasoning: ResponsesKeys::of(table).encrypted_reasoning(),
            token_limit: chat.token_limit_field(),
            system_role: chat.system_role(),
            reasoning_field: chat.reasoning_field().map(own),
            stream_usage: chat.stream_usage(),
            done_suffices: chat.done_suffices(),
        }
    }

    pub(crate) fn responses(&self, access: Access) -> Result<Arc<dyn DynProvider>, ProviderError> {
        let mut builder = self.common(OpenAiResponses::builder(), access);
        if let Some(encrypted) = self.encrypted_reasoning {
            builder = builder.encrypted_reasoning(encrypted);
        }
        Ok(Arc::new(builder.build()?))
    }

    pub(crate) fn chat(&self, access: Access) -> Result<Arc<dyn DynProvider>, ProviderError> {
        let mut builder = self.common(OpenAiChat::builder(), access);
        if let Some(field) = self.token_limit {
            builder = builder.token_limit_field(field);
        }
        if let Some(role) = self.system_role {
            builder = builder.system_role(role);
        }
        if let Some(field) = &self.reasoning_field {
            builder = builder.reasoning_field(field);
        }
        if let Some(ask) = self.stream_usage {
            builder = builder.stream_usage(ask);
        }
        if let Some(suffices) = self.done_suffices {
            builder = builder.done_suffices(suffices);
        }
        Ok(Arc::new(builder.build()?))
    }

    fn common<S>(&self, mut builder: OpenAiBuilder<S>, access: Access) -> OpenAiBuilder<S> {
        builder = builder.timeout(access.timeout).idle_timeout(access.timeout);
        builder = builder.tag_headers(access.tag_headers);
        if let Some(key) = access.key {
            builder = builder.api_key(key);
        }
        if let Some(url) = access.base_url {
            builder = builder.base_url(url);
        }
        if let Some(organization) = &self.organization {
            builder = builder.organization(organization);
        }
        if let Some(project) = &self.project {
            builder = builder.project(project);
        }
        if let Some(check) = self.check_models {
            builder = builder.check_models(check);
        }
        builder
    }
}
