use neuron_provider_http::lenient;
use neuron_types::{CompletionRequest, ProviderError, ResponseFormat};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    request::message::has_picture,
    think::{Think, refuse},
};

/// What the server says of a model.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Model {
    /// `None` for a server that does not report them.
    #[serde(default, deserialize_with = "lenient")]
    capabilities: Option<Vec<String>>,
    #[serde(default, deserialize_with = "lenient")]
    model_info: Map<String, Value>,
    /// Where it runs, if that is elsewhere.
    #[serde(default, deserialize_with = "lenient")]
    remote_host: String,
}

/// What a request wants of a model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    tools: bool,
    pictures: bool,
    think: Option<Think>,
    format: bool,
    num_ctx: Option<u64>,
}

impl Wanted {
    pub(crate) fn new(
        request: &CompletionRequest,
        tools: bool,
        think: Option<Think>,
        num_ctx: Option<u64>,
    ) -> Self {
        Self {
            tools,
            pictures: request.messages.iter().any(has_picture),
            think,
            format: !matches!(request.response_format, None | Some(ResponseFormat::Text)),
            num_ctx,
        }
    }

    /// Returns whether there is anything that a model may lack.
    pub(crate) fn anything(&self) -> bool {
        self.tools || self.pictures || self.think.is_some() || self.format || self.num_ctx.is_some()
    }
}

impl Model {
    /// Rejects what this model cannot do.
    pub(crate) fn check(&self, name: &str, wanted: &Wanted) -> Result<(), ProviderError> {
        if wanted.tools && self.lacks("tools") {
            return Err(refuse(format!(
                "{name} cannot call tools: use a model that can, or an agent without tools"
            )));
        }
        if wanted.pictures && self.lacks("vision") {
            return Err(refuse(format!(
                "{name} cannot see pictures: use a model that can, or leave them out"
            )));
        }
        match wanted.think {
            None => {}
            Some(Think::Off) if self.takes_levels_only() => {
                return Err(refuse(format!(
                    "{name} cannot stop thinking: ask for the reasoning effort low"
                )));
            }
            Some(Think::Off) => {}
            Some(_) if self.lacks("thinking") => {
                return Err(refuse(format!(
                    "{name} cannot think: leave thinking and reasoning effort unset"
                )));
            }
            Some(_) => {}
        }
        if wanted.format && !self.remote_host.is_empty() {
            return Err(refuse(format!(
                "{name} runs in Ollama's cloud, which enforces no form of answers: leave the response \
                 format unset and ask for it in the prompt"
            )));
        }
        if let (Some(asked), Some(most)) = (wanted.num_ctx, self.context_length())
            && asked > most
        {
            return Err(refuse(format!(
                "{name} has a context of {most} tokens, and num_ctx is {asked}: set it to {most} or less"
            )));
        }
        Ok(())
    }

    /// Returns what to send for what was asked: a model that knows levels only takes no plain yes.
    pub(crate) fn think(&self, think: Option<Think>) -> Option<Think> {
        match think {
            Some(Think::On) if self.takes_levels_only() => Some(Think::Medium),
            other => other,
        }
    }

    fn lacks(&self, capability: &str) -> bool {
        let known = self.capabilities.as_ref();
        known.is_some_and(|known| !known.iter().any(|name| name == capability))
    }

    fn architecture(&self) -> Option<&str> {
        self.model_info.get("general.architecture")?.as_str()
    }

    fn takes_levels_only(&self) -> bool {
        matches!(self.architecture(), Some("gptoss" | "gpt-oss"))
    }

    fn context_length(&self) -> Option<u64> {
        let name = format!("{}.context_length", self.architecture()?);
        self.model_info
            .get(&name)?
            .as_u64()
            .filter(|most| *most > 0)
    }
}
