use std::sync::Arc;

use neuron_provider_anthropic::{Anthropic, fuzzing as anthropic};
use neuron_provider_http::{NoAnswer, fuzzing::Streamed};
use neuron_provider_ollama::{Ollama, fuzzing as ollama};
use neuron_provider_openai::{OpenAiChat, OpenAiResponses, fuzzing as openai};
use neuron_types::{CompletionResponse, DynProvider};
use serde::Deserialize;
use serde_json::Value;

pub(crate) const WIRES: [Wire; 4] = [Wire::Chat, Wire::Responses, Wire::Anthropic, Wire::Ollama];

/// One of the APIs that servers speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wire {
    Chat,
    Responses,
    Anthropic,
    Ollama,
}

impl Wire {
    /// Decodes a streamed answer that comes in these parts.
    pub(crate) fn stream(self, parts: &[&[u8]]) -> Streamed {
        match self {
            Self::Chat => openai::chat_stream(parts),
            Self::Responses => openai::responses_stream(parts),
            Self::Anthropic => anthropic::stream(parts),
            Self::Ollama => ollama::stream(parts),
        }
    }

    /// Decodes a whole answer.
    pub(crate) fn whole(self, body: &[u8]) -> Result<CompletionResponse, NoAnswer> {
        match self {
            Self::Chat => openai::chat_answer(body),
            Self::Responses => openai::responses_answer(body),
            Self::Anthropic => anthropic::answer(body),
            Self::Ollama => ollama::answer(body),
        }
    }

    /// The client of a server at this address.
    pub(crate) fn provider(self, url: &str) -> Arc<dyn DynProvider> {
        match self {
            Self::Chat => Arc::new(OpenAiChat::builder().base_url(url).build().unwrap()),
            Self::Responses => Arc::new(OpenAiResponses::builder().base_url(url).build().unwrap()),
            Self::Anthropic => {
                let builder = Anthropic::builder().base_url(url).api_key("key");
                Arc::new(builder.build().unwrap())
            }
            Self::Ollama => {
                let builder = Ollama::builder().base_url(url).check_models(false);
                Arc::new(builder.build().unwrap())
            }
        }
    }

    pub(crate) fn is_lines(self) -> bool {
        self == Self::Ollama
    }

    pub(crate) fn streams(self) -> &'static str {
        match self {
            Self::Ollama => "application/x-ndjson",
            _ => "text/event-stream",
        }
    }

    /// The lines of one event.
    pub(crate) fn event(self, json: &Value) -> Vec<String> {
        let name = json.get("type").and_then(Value::as_str);
        match (self, name) {
            (Self::Ollama, _) => vec![json.to_string()],
            (Self::Anthropic | Self::Responses, Some(name)) => vec![
                format!("event: {name}"),
                format!("data: {json}"),
                String::new(),
            ],
            _ => vec![format!("data: {json}"), String::new()],
        }
    }

    /// What other servers send between events to keep a connection alive.
    pub(crate) fn keep_alives(self) -> &'static [&'static str] {
        if self.is_lines() {
            return &["\n", " \r\n", "waiting\n"];
        }
        &[
            ": OPENROUTER PROCESSING\n\n",
            ":\n",
            "data:\n\n",
            "data: : still here\n\n",
            "event: ping\ndata: {\"type\":\"ping\"}\n\n",
            "event: ping\ndata: still here\n\n",
            "retry: 3000\nid: 7\n\n",
        ]
    }
}
