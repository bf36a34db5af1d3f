//! The settings of providers of the kind `ollama` only.

use std::time::Duration;

use neuron_provider_ollama::{KeepAlive, Ollama, Think};
use neuron_types::ProviderError;
use serde_json::{Value, json};

use crate::agent_file::{
    providers::api::ApiKeys,
    text::{
        keys::{Keys, ValueKind, keys},
        kinds::{BooleanOr, Choice, Choices, Count, Part, Timespan, Words, words},
        problem::shown,
        table::Table,
    },
};

keys! {
    pub(crate) struct OllamaKeys {
        _api: Part<ApiKeys<'_>>,
        /// How many tokens the model's context holds.
        num_ctx: Count<u64>,
        /// How long the model stays loaded after an answer: a duration or `"forever"`.
        keep_alive: KeepAlive,
        /// Whether the model thinks if the agent does not set it: `true`, `false`, `"low"`, `"medium"`, `"high"`, `"max"`.
        think: Think,
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OllamaSettings {
    num_ctx: Option<u64>,
    keep_alive: Option<KeepAlive>,
    think: Option<Think>,
}

impl OllamaSettings {
    pub(crate) fn read(table: &Table<'_>) -> Self {
        let keys = OllamaKeys::of(table);
        Self {
            num_ctx: keys.num_ctx(),
            keep_alive: keys.keep_alive(),
            think: keys.think(),
        }
    }

    pub(crate) fn client(
        self,
        key: Option<String>,
        base_url: Option<String>,
        timeout: Duration,
        tag_headers: bool,
    ) -> Result<Ollama, ProviderError> {
        let mut builder = Ollama::builder().timeout(timeout).idle_timeout(timeout);
        builder = builder.tag_headers(tag_headers);
        if let Some(key) = key {
            builder = builder.api_key(key);
        }
        if let Some(url) = base_url {
            builder = builder.base_url(url);
        }
        if let Some(tokens) = self.num_ctx {
            builder = builder.num_ctx(tokens);
        }
        if let Some(keep_alive) = self.keep_alive {
            builder = builder.keep_alive(keep_alive);
        }
        if let Some(think) = self.think {
            builder = builder.think(think);
        }
        builder.build()
    }
}

/// A duration, or forever.
impl ValueKind for KeepAlive {
    type Value<'a> = Option<Self>;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> Option<Self> {
        let text = table.text(key)?;
        if text.value == "forever" {
            return Some(Self::Forever);
        }
        let duration = humantime::parse_duration(text.value).ok();
        if duration.is_none() {
            let found = shown(text.value);
            let message = format!(
                "is {found}: write a duration with its unit, as in \"30m\", or \"forever\""
            );
            table.problem(key, text.offset, &message);
        }
        duration.map(Self::For)
    }

    fn schema() -> Value {
        let none = json!({ "type": "string", "pattern": "^\\s*0+\\s*[a-zA-Zµ]*\\s*$" });
        json!({ "anyOf": [Timespan::schema(), { "const": "forever" }, none] })
    }
}

words!(
    Think:
    "low" => Self::Low,
    "medium" => Self::Medium,
    "high" => Self::High,
    "max" => Self::Max,
);

/// On, off, or a level.
impl ValueKind for Think {
    type Value<'a> = Option<Self>;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> Option<Self> {
        let text = match BooleanOr::<Words>::read(table, key) {
            Ok(is_on) => return is_on.map(|is_on| if is_on { Self::On } else { Self::Off }),
            Err(text) => text?,
        };
        let mut words = Self::words().into_iter();
        let known = words.find(|(word, _)| *word == text.value);
        if known.is_none() {
            let found = shown(text.value);
            let message =
                format!("is {found}: write true, false, \"low\", \"medium\", \"high\" or \"max\"");
            table.problem(key, text.offset, &message);
        }
        known.map(|(_, think)| think)
    }

    fn schema() -> Value {
        BooleanOr::<Choice<Self>>::schema()
    }
}
