use std::borrow::Cow;

use chrono::Utc;
use neuron_provider_http::{BodyWriter, Tools, closed_schema, extra_fields, kept, native_tools};
use neuron_types::{CompletionRequest, ProviderError, ResponseFormat, ThinkingConfig, ToolChoice};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{
    container,
    refusal::invalid,
    request::{
        cache, check,
        context::{self, ContextManagement},
        message::{self, WireMessage},
        purpose::Purpose,
        system::{self, SystemPart},
        thinking::Reasoning,
        tool::{self, Tool},
    },
    settings::Settings,
};

const RESERVED: &[&str] = &["model", "messages", "stream"];

/// The fields of `extra` that join what the request has itself.
const JOINED: &[&str] = &["container", "tools"];

/// The further fields of `extra` that the API takes when it only counts.
const COUNTED: &[&str] = &[
    "cache_control",
    "compaction",
    "context_management",
    "mcp_servers",
    "output_config",
    "speed",
    "system",
    "thinking",
    "tool_choice",
];

/// A request body that borrows the conversation.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    system: Vec<SystemPart<'a>>,
    pub(crate) tools: Tools<'a, Tool<'a>>,
    container: Option<Cow<'a, Value>>,
    messages: Vec<WireMessage<'a>>,
    /// The answer is to come as a stream.
    pub(crate) stream: bool,
    request: &'a CompletionRequest,
    purpose: Purpose<'a>,
    max_tokens: u64,
    reasoning: Reasoning,
    format: Option<Format<'a>>,
    tool_choice: Option<Choice<'a>>,
    context_management: Option<ContextManagement<'a>>,
    extra: Option<Cow<'a, Map<String, Value>>>,
}

#[derive(Debug, Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a Format<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonSchema { schema: Cow<'a, Value> },
}

#[derive(Debug, Serialize)]
struct Choice<'a> {
    #[serde(flatten)]
    kind: ChoiceKind<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    disable_parallel_tool_use: bool,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ChoiceKind<'a> {
    Auto,
    None,
    Any,
    Tool { name: &'a str },
}

#[derive(Debug, Serialize)]
struct Compaction<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
}

impl<'a> Body<'a> {
    /// Writes down what to send, and rejects what the API would reject for certain.
    pub(crate) fn new(
        request: &'a CompletionRequest,
        settings: &Settings,
        purpose: Purpose<'a>,
    ) -> Result<Self, ProviderError> {
        let extra = extra_fields(request, RESERVED)?;
        let native_tools = native_tools(extra)?;
        let model = settings.capabilities(&request.model);
        let messages = message::messages(request);
        let max_tokens = max_tokens(request, extra, settings.max_tokens);
        let reasoning = Reasoning::new(request, settings, &model, max_tokens, &messages)?;
        let asked = check::Asked {
            request,
            extra,
            native_tools,
            version: settings.version,
            model: &model,
            messages: &messages,
            thinking: reasoning.thinking,
        };
        asked.check(purpose)?;
        let tools = tool::tools(request, native_tools)?;
        let mut body = Self {
            system: system::system(request),
            container: match purpose {
                Purpose::Count => None,
                _ => container::next(&request.messages, extra, Utc::now()),
            },
            messages,
            stream: false,
            request,
            purpose,
            max_tokens,
            reasoning,
            format: format(request)?,
            tool_choice: tool_choice(request, tools.sent.is_empty()),
            tools,
            context_management: match purpose {
                Purpose::Compaction { .. } => None,
                Purpose::Answer | Purpose::Count => context::management(request),
            },
            extra: extra.map(|extra| {
                kept(extra, |name| {
                    let said = purpose != Purpose::Count || COUNTED.contains(&name);
                    said && !JOINED.contains(&name)
                })
            }),
        };
        if settings.automatic_caching && !body.extra_has("cache_control") {
            let Self {
                system,
                tools,
                messages,
                ..
            } = &mut body;
            cache::place(system, &mut tools.sent, messages, settings.cache_ttl);
        }
        Ok(body)
    }

    /// Returns how many tokens the answer may have.
    pub(crate) fn max_tokens(&self) -> u64 {
        self.max_tokens
    }

    pub(crate) fn extra_has(&self, name: &str) -> bool {
        let extra = self.extra.as_ref();
        extra.is_some_and(|extra| extra.contains_key(name))
    }

    pub(crate) fn drops_mismatched_thinking(&self) -> bool {
        let thinking = self.reasoning.thinking;
        thinking.is_some_and(|thinking| thinking.drops_mismatched()) && !self.extra_has("thinking")
    }

    pub(crate) fn is_compaction(&self) -> bool {
        matches!(self.purpose, Purpose::Compaction { .. })
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let request = self.request;
        let counting = self.purpose == Purpose::Count;
        let mut body = BodyWriter::begin(serializer, self.extra.as_deref())?;
        body.field("model", &request.model)?;
        if !counting {
            body.field("max_tokens", &self.max_tokens)?;
        }
        if self.stream {
            body.field("stream", &true)?;
        }
        if !self.system.is_empty() {
            body.field("system", &self.system)?;
        }
        if !self.tools.sent.is_empty() {
            body.field("tools", &self.tools.sent)?;
        }
        body.optional("tool_choice", self.tool_choice.as_ref())?;
        body.optional("container", self.container.as_ref())?;
        body.optional("thinking", self.reasoning.thinking.as_ref())?;
        if self.reasoning.effort.is_some() || self.format.is_some() {
            let config = OutputConfig {
                effort: self.reasoning.effort,
                format: self.format.as_ref(),
            };
            body.field("output_config", &config)?;
        }
        if !counting {
            body.optional("temperature", request.temperature.as_ref())?;
            body.optional("top_p", request.top_p.as_ref())?;
            if !request.stop_sequences.is_empty() {
                body.field("stop_sequences", &request.stop_sequences)?;
            }
        }
        body.optional("context_management", self.context_management.as_ref())?;
        if let Purpose::Compaction { instructions } = self.purpose {
            let compaction = Compaction {
                kind: "summarize",
                instructions,
            };
            body.field("compaction", &compaction)?;
        }
        body.field("messages", &self.messages)?;
        body.end()
    }
}

fn max_tokens(
    request: &CompletionRequest,
    extra: Option<&Map<String, Value>>,
    default: u64,
) -> u64 {
    let budget = match request.thinking {
        Some(ThinkingConfig::Enabled { budget_tokens }) => budget_tokens,
        _ => 0,
    };
    extra
        .and_then(|extra| extra.get("max_tokens")?.as_u64())
        .or(request.max_tokens)
        .unwrap_or_else(|| default.saturating_add(budget))
}

/// Returns the choice of tools. Without tools there is nothing to choose, and the API rejects a choice.
fn tool_choice(request: &CompletionRequest, no_tools: bool) -> Option<Choice<'_>> {
    let one_at_a_time = request.parallel_tool_calls == Some(false);
    let kind = match request.tool_choice.as_ref() {
        None | Some(ToolChoice::Auto | ToolChoice::None) if no_tools => None,
        None => one_at_a_time.then_some(ChoiceKind::Auto),
        Some(ToolChoice::Auto) => Some(ChoiceKind::Auto),
        Some(ToolChoice::None) => Some(ChoiceKind::None),
        Some(ToolChoice::Required) => Some(ChoiceKind::Any),
        Some(ToolChoice::Specific { name }) => Some(ChoiceKind::Tool { name }),
    }?;
    Some(Choice {
        disable_parallel_tool_use: one_at_a_time && !matches!(kind, ChoiceKind::None),
        kind,
    })
}

fn format(request: &CompletionRequest) -> Result<Option<Format<'_>>, ProviderError> {
    match &request.response_format {
        None | Some(ResponseFormat::Text) => Ok(None),
        Some(ResponseFormat::JsonSchema { schema, .. }) => Ok(Some(Format::JsonSchema {
            schema: closed_schema(schema),
        })),
        Some(ResponseFormat::JsonObject) => Err(invalid(
            "anthropic has no JSON answers without a schema: give the response format a JSON Schema",
        )),
    }
}
