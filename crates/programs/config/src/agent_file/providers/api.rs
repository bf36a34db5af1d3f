//! The kinds of providers, and the keys that several of them have.

use crate::agent_file::text::{
    keys::keys,
    kinds::{Boolean, Choice, Count, Part, TextTable, Words, words},
};

/// The API that a provider has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    OpenAiResponses,
    OpenAiChat,
    Anthropic,
    Ollama,
    Script,
    Demo,
}

words!(
    Kind:
    "openai-responses" => Self::OpenAiResponses,
    "openai-chat" => Self::OpenAiChat,
    "anthropic" => Self::Anthropic,
    "ollama" => Self::Ollama,
    "script" => Self::Script,
    "demo" => Self::Demo,
);

keys! {
    pub(crate) struct KindKeys {
        /// The API that the provider speaks.
        kind: Choice<Kind>,
    }
}

keys! {
    pub(crate) struct RateKeys {
        /// How many requests may start in a minute, for each key: a count.
        requests_per_minute: Count<u32>,
        /// How many tokens they may use in a minute: a count.
        tokens_per_minute: Count<u64>,
    }
}

keys! {
    pub(crate) struct ApiKeys {
        _kind: Part<KindKeys<'_>>,
        /// The address of the API.
        base_url: Words,
        /// Keys may go to another machine unencrypted.
        insecure: Boolean = false,
        /// The variable that holds the key.
        api_key_env: Words,
        /// The variables with the keys of tenants, by tenant.
        tenant_keys: TextTable,
        /// Whether requests name in headers the run that they belong to, and whose it is.
        tag_headers: Boolean = false,
        _rates: Part<RateKeys<'_>>,
    }
}
