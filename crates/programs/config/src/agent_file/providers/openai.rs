//! The settings of providers of the kinds `openai-responses` and `openai-chat` only.

use std::{sync::Arc, time::Duration};

use neuron_provider_http::Cure;
use neuron_provider_openai::{
    OpenAiBuilder, OpenAiChat, OpenAiResponses, SystemRole, TokenLimitField,
};
use neuron_types::{DynProvider, ProviderError};

use crate::agent_file::text::table::Table;

/// The keys of both kinds besides those of every API.
const KEYS: [&str; 3] = ["organization", "project", "check_models"];

/// The further keys of the kind `openai-responses`.
pub(crate) const RESPONSES_KEYS: [&str; 4] = [KEYS[0], KEYS[1], KEYS[2], "encrypted_reasoning"];

/// The further keys of the kind `openai-chat`.
pub(crate) const CHAT_KEYS: [&str; 8] = [
    KEYS[0],
    KEYS[1],
    KEYS[2],
    "token_limit_field",
    "system_role",
    "reasoning_field",
    "stream_usage",
    "done_suffices",
];

const TOKEN_LIMITS: [(&str, TokenLimitField); 2] = [
    ("max_tokens", TokenLimitField::MaxTokens),
    (
        "max_completion_tokens",
        TokenLimitField::MaxCompletionTokens,
    ),
];

const SYSTEM_ROLES: [(&str, SystemRole); 2] = [
    ("system", SystemRole::System),
    ("developer", SystemRole::Developer),
];

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
        fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: &T) -> &'static str {
            let mut names = names.iter();
            names
                .find(|(_, it)| it == value)
                .map_or("", |(name, _)| name)
        }
        match self {
            Self::TokenLimit(field) => {
                format!("token_limit_field = {:?}", name_of(&TOKEN_LIMITS, field))
            }
            Self::SystemRole(role) => {
                format!("system_role = {:?}", name_of(&SYSTEM_ROLES, role))
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
        let text = |key| table.text(key).map(|text| text.value.to_owned());
        Self {
            organization: text("organization"),
            project: text("project"),
            check_models: table.boolean("check_models"),
            encrypted_reasoning: table.boolean("encrypted_reasoning"),
            token_limit: table.choice("token_limit_field", &TOKEN_LIMITS),
            system_role: table.choice("system_role", &SYSTEM_ROLES),
            reasoning_field: text("reasoning_field"),
            stream_usage: table.boolean("stream_usage"),
            done_suffices: table.boolean("done_suffices"),
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
