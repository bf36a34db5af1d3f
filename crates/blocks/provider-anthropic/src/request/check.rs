use std::collections::BTreeSet;

use neuron_types::{
    CompletionRequest, ContentBlock, Message, ProviderError, ResponseFormat, Role, ToolChoice,
};
use serde_json::{Map, Value};

use crate::{
    ApiVersion, ModelCapabilities,
    refusal::{invalid, unsupported},
    request::block::Block,
    request::message::WireMessage,
    request::purpose::Purpose,
    request::search,
    request::thinking::Thinking,
};

const SAMPLING: &[&str] = &["temperature", "top_p", "top_k"];

const LONGEST_NAME: usize = 128;

/// A request, and what decides whether it can be right.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) request: &'a CompletionRequest,
    pub(crate) extra: Option<&'a Map<String, Value>>,
    pub(crate) native_tools: &'a [Value],
    pub(crate) version: ApiVersion,
    pub(crate) model: &'a ModelCapabilities,
    pub(crate) messages: &'a [WireMessage<'a>],
    pub(crate) thinking: Option<Thinking>,
}

impl Asked<'_> {
    /// Rejects what the API would reject for certain, and states what to change.
    pub(crate) fn check(&self, purpose: Purpose<'_>) -> Result<(), ProviderError> {
        if purpose != Purpose::Count {
            self.check_sampling()?;
        }
        if matches!(purpose, Purpose::Compaction { .. }) {
            self.check_compaction()?;
        }
        self.check_tools()?;
        self.check_tool_choice()?;
        self.check_format()?;
        self.check_order()?;
        self.check_contents()
    }

    fn sets(&self, name: &str) -> bool {
        self.extra.is_some_and(|extra| extra.contains_key(name))
    }

    fn check_sampling(&self) -> Result<(), ProviderError> {
        let asked = |name: &&&str| match **name {
            "temperature" if self.request.temperature.is_some() => true,
            "top_p" if self.request.top_p.is_some() => true,
            name => self.sets(name),
        };
        let Some(name) = SAMPLING.iter().find(asked) else {
            return Ok(());
        };
        let model = &self.request.model;
        if self.model.sampling == Some(false) {
            return Err(unsupported(format!(
                "{model} takes no `{name}`: leave it unset"
            )));
        }
        if self.version.takes_sampling() {
            return Ok(());
        }
        Err(unsupported(format!(
            "anthropic's API version {} takes no `{name}`: leave it unset, or choose version {} and a model \
             that takes it",
            self.version.as_str(),
            ApiVersion::V2023_06_01.as_str(),
        )))
    }

    fn check_compaction(&self) -> Result<(), ProviderError> {
        if self.model.compaction == Some(false) {
            return Err(unsupported(format!(
                "{} cannot compact a conversation on demand: use a model from 4.6 on, or the context strategy \
                 `summarize`",
                self.request.model,
            )));
        }
        if self.sets("context_management") {
            return Err(invalid(
                "compaction on demand and `context_management` exclude each other: take the latter out of \
                 `extra`",
            ));
        }
        Ok(())
    }

    fn check_tools(&self) -> Result<(), ProviderError> {
        let native = self.native_tools.iter();
        let native = native.filter_map(|tool| tool.get("name")?.as_str());
        let mut names: BTreeSet<_> = native.collect();
        if search::is_added(self.request, self.native_tools) {
            names.insert(search::NAME);
        }
        for tool in self
            .request
            .tools
            .iter()
            .chain(&self.request.searched_tools)
        {
            let name = tool.name.as_str();
            let fits = (1..=LONGEST_NAME).contains(&name.len())
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
            if !fits {
                return Err(invalid(format!(
                    "anthropic takes no tool called {name:?}: use 1 to {LONGEST_NAME} letters, digits, \"_\" \
                     and \"-\""
                )));
            }
            if !names.insert(name) {
                return Err(invalid(format!(
                    "two tools are called {name:?}: rename one of them"
                )));
            }
        }
        Ok(())
    }

    fn check_tool_choice(&self) -> Result<(), ProviderError> {
        let forced = matches!(
            self.request.tool_choice,
            Some(ToolChoice::Required | ToolChoice::Specific { .. })
        );
        if !forced || self.sets("tool_choice") {
            return Ok(());
        }
        if self.model.forced_tool_choice == Some(false) {
            return Err(unsupported(format!(
                "{} cannot be forced to call a tool: let it choose and ask for the call in the instructions, or \
                 ask for an answer that fits a JSON Schema",
                self.request.model,
            )));
        }
        if self.thinking.is_some_and(Thinking::has_budget) {
            return Err(unsupported(
                "a call cannot be forced from a model that thinks with a budget: let it choose or disable \
                 thinking",
            ));
        }
        Ok(())
    }

    fn check_format(&self) -> Result<(), ProviderError> {
        let schema = matches!(
            self.request.response_format,
            Some(ResponseFormat::JsonSchema { .. })
        );
        if schema && self.model.structured_outputs == Some(false) {
            return Err(unsupported(format!(
                "{} has no answers that fit a JSON Schema: ask for the form in the instructions",
                self.request.model,
            )));
        }
        Ok(())
    }

    fn check_order(&self) -> Result<(), ProviderError> {
        let (Some(first), Some(last)) = (self.messages.first(), self.messages.last()) else {
            return Err(invalid("the conversation is empty: say something in it"));
        };
        let summary = first.content.first().is_some_and(Block::is_compaction);
        if first.role != "user" && !summary {
            return Err(invalid(format!(
                "the conversation starts with a message of the {}: start it with one of the user",
                first.role,
            )));
        }
        let prefill = last.role == "assistant" && last.content.iter().all(Block::is_plain_text);
        if prefill && self.model.prefill == Some(false) {
            return Err(unsupported(format!(
                "{} takes no beginning of its answer: end the conversation with a message of the user",
                self.request.model,
            )));
        }
        let system = |message: &WireMessage<'_>| message.role == "system";
        if self.model.system_messages == Some(false) && self.messages.iter().any(system) {
            return Err(unsupported(format!(
                "{} takes no system message inside the conversation: put it into the instructions or let the \
                 user say it",
                self.request.model,
            )));
        }
        let misplaced = |pair: &[WireMessage<'_>]| matches!(pair, [before, operator] if system(operator) && !before.takes_operator());
        if self.messages.windows(2).any(misplaced) {
            return Err(invalid(
                "a system message inside the conversation stands behind an answer: put it behind a message of \
                 the user",
            ));
        }
        Ok(())
    }

    /// Rejects what the newer version of the API takes in neither role's messages any more.
    fn check_contents(&self) -> Result<(), ProviderError> {
        if self.version == ApiVersion::V2023_06_01 {
            return Ok(());
        }
        for message in &self.request.messages {
            if message.role == Role::Assistant && holds_document(message) {
                return Err(unsupported(
                    "anthropic takes no document in a message of the assistant: let the user send it",
                ));
            }
            if message.role == Role::User && message.content.iter().any(has_citations) {
                return Err(unsupported(
                    "anthropic takes no citations in a message of the user: send the text alone",
                ));
            }
        }
        Ok(())
    }
}

fn holds_document(message: &Message) -> bool {
    let is_document = |block: &ContentBlock| match block {
        ContentBlock::Document { .. } => true,
        ContentBlock::Other(block) => block.get("type").and_then(Value::as_str) == Some("document"),
        _ => false,
    };
    message.content.iter().any(is_document)
}

fn has_citations(block: &ContentBlock) -> bool {
    let ContentBlock::Other(block) = block else {
        return false;
    };
    match block.get("type").and_then(Value::as_str) {
        Some("text") => is_cited(block),
        Some("search_result") => {
            let content = block.get("content").and_then(Value::as_array);
            content.is_some_and(|parts| parts.iter().any(is_cited))
        }
        _ => false,
    }
}

fn is_cited(text: &Value) -> bool {
    let citations = text.get("citations").and_then(Value::as_array);
    citations.is_some_and(|citations| !citations.is_empty())
}
