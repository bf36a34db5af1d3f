//! The settings of providers of the kind `ollama` only.

use std::time::Duration;

use neuron_provider_ollama::{KeepAlive, Ollama, Think};
use neuron_types::ProviderError;

use crate::agent_file::text::{problem::shown, table::Table};

/// The keys of its table besides those of every API.
pub(crate) const KEYS: [&str; 3] = ["num_ctx", "keep_alive", "think"];

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OllamaSettings {
    num_ctx: Option<u64>,
    keep_alive: Option<KeepAlive>,
    think: Option<Think>,
}

impl OllamaSettings {
    pub(crate) fn read(table: &Table<'_>) -> Self {
        Self {
            num_ctx: table.count("num_ctx"),
            keep_alive: keep_alive(table),
            think: think(table),
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

fn keep_alive(table: &Table<'_>) -> Option<KeepAlive> {
    let text = table.text("keep_alive")?;
    if text.value == "forever" {
        return Some(KeepAlive::Forever);
    }
    let duration = humantime::parse_duration(text.value).ok();
    if duration.is_none() {
        let found = shown(text.value);
        let message =
            format!("is {found}: write a duration with its unit, as in \"30m\", or \"forever\"");
        table.problem("keep_alive", text.offset, &message);
    }
    duration.map(KeepAlive::For)
}

fn think(table: &Table<'_>) -> Option<Think> {
    if table.is_boolean("think") {
        let think = table.boolean("think")?;
        return Some(if think { Think::On } else { Think::Off });
    }
    let text = table.text("think")?;
    match text.value {
        "low" => Some(Think::Low),
        "medium" => Some(Think::Medium),
        "high" => Some(Think::High),
        "max" => Some(Think::Max),
        other => {
            let found = shown(other);
            let message =
                format!("is {found}: write true, false, \"low\", \"medium\", \"high\" or \"max\"");
            table.problem("think", text.offset, &message);
            None
        }
    }
}
