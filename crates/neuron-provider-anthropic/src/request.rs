use neuron_provider_http::{BodyWriter, extra_fields};
use neuron_types::{
    CompletionRequest, ContextEdit, FailureKind, ProviderError, ReasoningEffort, ResponseFormat,
    SystemPrompt, ThinkingConfig, ToolChoice, ToolDefinition,
};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{
    ApiVersion,
    cache::{self, Marker},
    client::Settings,
    message::{self, WireMessage},
};

const RESERVED: &[&str] = &["model", "messages", "stream"];
const SAMPLING: &[&str] = &["temperature", "top_p", "top_k"];

/// A request body that borrows the conversation.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    pub(crate) system: Vec<SystemPart<'a>>,
    pub(crate) tools: Vec<Tool<'a>>,
    pub(crate) messages: Vec<WireMessage<'a>>,
    request: &'a CompletionRequest,
    max_tokens: u64,
    thinking: Option<Thinking>,
    output_config: Option<OutputConfig<'a>>,
    tool_choice: Option<Choice<'a>>,
    context_management: Option<Edits<'a>>,
    extra: Option<&'a Map<String, Value>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct SystemPart<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cache_control: Option<Marker>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Tool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cache_control: Option<Marker>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Thinking {
    Enabled { budget_tokens: u64 },
    Disabled,
    Adaptive,
}

#[derive(Debug, Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonSchema { schema: &'a Value },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Choice<'a> {
    Auto,
    None,
    Any,
    Tool { name: &'a str },
}

#[derive(Debug, Serialize)]
struct Edits<'a> {
    edits: Vec<Edit<'a>>,
}

#[derive(Debug, Serialize)]
struct Edit<'a> {
    #[serde(rename = "type")]
    strategy: &'a str,
}

impl<'a> Body<'a> {
    /// Writes down what to send, and refuses what the API would refuse for certain.
    pub(crate) fn new(
        request: &'a CompletionRequest,
        settings: &Settings,
    ) -> Result<Self, ProviderError> {
        let extra = extra_fields(request, RESERVED)?;
        check_sampling(request, extra, settings.version)?;
        let (thinking, effort) = reasoning(request)?;
        let format = format(request)?;
        let mut body = Self {
            system: system(request),
            tools: request.tools.iter().map(Tool::from).collect(),
            messages: message::messages(&request.messages),
            request,
            max_tokens: max_tokens(request, settings.max_tokens),
            thinking,
            output_config: (effort.is_some() || format.is_some())
                .then_some(OutputConfig { effort, format }),
            tool_choice: tool_choice(request),
            context_management: edits(request),
            extra,
        };
        if settings.automatic_caching {
            cache::place(&mut body);
        }
        Ok(body)
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let request = self.request;
        let mut body = BodyWriter::begin(serializer, self.extra)?;
        body.field("model", &request.model)?;
        body.field("max_tokens", &self.max_tokens)?;
        if !self.system.is_empty() {
            body.field("system", &self.system)?;
        }
        if !self.tools.is_empty() {
            body.field("tools", &self.tools)?;
        }
        body.optional("tool_choice", self.tool_choice.as_ref())?;
        body.optional("thinking", self.thinking.as_ref())?;
        body.optional("output_config", self.output_config.as_ref())?;
        body.optional("temperature", request.temperature.as_ref())?;
        body.optional("top_p", request.top_p.as_ref())?;
        if !request.stop_sequences.is_empty() {
            body.field("stop_sequences", &request.stop_sequences)?;
        }
        body.optional("context_management", self.context_management.as_ref())?;
        body.field("messages", &self.messages)?;
        body.end()
    }
}

impl<'a> From<&'a ToolDefinition> for Tool<'a> {
    fn from(tool: &'a ToolDefinition) -> Self {
        Self {
            name: &tool.name,
            description: &tool.description,
            input_schema: &tool.input_schema,
            cache_control: tool.cache_control.as_ref().map(Marker::from),
        }
    }
}

fn refuse(message: impl Into<String>) -> ProviderError {
    ProviderError::new(FailureKind::InvalidRequest, message)
}

fn check_sampling(
    request: &CompletionRequest,
    extra: Option<&Map<String, Value>>,
    version: ApiVersion,
) -> Result<(), ProviderError> {
    if version.takes_sampling() {
        return Ok(());
    }
    let asked = |name: &&&str| match **name {
        "temperature" if request.temperature.is_some() => true,
        "top_p" if request.top_p.is_some() => true,
        name => extra.is_some_and(|extra| extra.contains_key(name)),
    };
    match SAMPLING.iter().find(asked) {
        Some(name) => Err(refuse(format!(
            "anthropic's API version {} takes no `{name}`: leave it unset, or choose version {} and a model \
             that takes it",
            version.as_str(),
            ApiVersion::V2023_06_01.as_str(),
        ))),
        None => Ok(()),
    }
}

fn max_tokens(request: &CompletionRequest, default: u64) -> u64 {
    let budget = match request.thinking {
        Some(ThinkingConfig::Enabled { budget_tokens }) => budget_tokens,
        _ => 0,
    };
    request
        .max_tokens
        .unwrap_or_else(|| default.saturating_add(budget))
}

fn system(request: &CompletionRequest) -> Vec<SystemPart<'_>> {
    let part = |text, cache_control| SystemPart {
        kind: "text",
        text,
        cache_control,
    };
    let mut parts = match &request.system {
        None => Vec::new(),
        Some(SystemPrompt::Text(text)) => vec![part(text.as_str(), None)],
        Some(SystemPrompt::Blocks(blocks)) => blocks
            .iter()
            .map(|block| part(&block.text, block.cache_control.as_ref().map(Marker::from)))
            .collect(),
    };
    parts.retain(|part| !part.text.trim().is_empty());
    parts
}

/// Without tools there is nothing to choose, and the API refuses to be told so.
fn tool_choice(request: &CompletionRequest) -> Option<Choice<'_>> {
    match request.tool_choice.as_ref()? {
        ToolChoice::Auto | ToolChoice::None if request.tools.is_empty() => None,
        ToolChoice::Auto => Some(Choice::Auto),
        ToolChoice::None => Some(Choice::None),
        ToolChoice::Required => Some(Choice::Any),
        ToolChoice::Specific { name } => Some(Choice::Tool { name }),
    }
}

/// Thinking and effort, which belong together: effort asks for adaptive thinking unless told otherwise.
fn reasoning(
    request: &CompletionRequest,
) -> Result<(Option<Thinking>, Option<&'static str>), ProviderError> {
    let thinking = request.thinking.map(|thinking| match thinking {
        ThinkingConfig::Enabled { budget_tokens } => Thinking::Enabled { budget_tokens },
        ThinkingConfig::Disabled => Thinking::Disabled,
        ThinkingConfig::Adaptive => Thinking::Adaptive,
    });
    let effort = match request.reasoning_effort {
        None => return Ok((thinking, None)),
        Some(ReasoningEffort::None) => {
            return match thinking {
                None | Some(Thinking::Disabled) => Ok((Some(Thinking::Disabled), None)),
                _ => Err(refuse(
                    "reasoning effort `none` and thinking exclude each other: leave one of them unset",
                )),
            };
        }
        Some(ReasoningEffort::Low) => "low",
        Some(ReasoningEffort::Medium) => "medium",
        Some(ReasoningEffort::High) => "high",
        Some(ReasoningEffort::XHigh) => "xhigh",
        Some(ReasoningEffort::Max) => "max",
        Some(_) => {
            return Err(refuse(
                "anthropic has no such reasoning effort: use low, medium, high, xhigh or max",
            ));
        }
    };
    Ok((thinking.or(Some(Thinking::Adaptive)), Some(effort)))
}

fn format(request: &CompletionRequest) -> Result<Option<Format<'_>>, ProviderError> {
    match &request.response_format {
        None | Some(ResponseFormat::Text) => Ok(None),
        Some(ResponseFormat::JsonSchema { schema, .. }) => Ok(Some(Format::JsonSchema { schema })),
        Some(ResponseFormat::JsonObject) => Err(refuse(
            "anthropic has no JSON answers without a schema: give the response format a JSON Schema",
        )),
    }
}

fn edits(request: &CompletionRequest) -> Option<Edits<'_>> {
    let edits: Vec<_> = compactions(request)
        .map(|strategy| Edit { strategy })
        .collect();
    (!edits.is_empty()).then_some(Edits { edits })
}

fn compactions(request: &CompletionRequest) -> impl Iterator<Item = &str> {
    let edits = request.context_management.iter().flat_map(|m| &m.edits);
    edits.filter_map(|edit| match edit {
        ContextEdit::Compact { strategy } => Some(strategy.as_str()),
        _ => None,
    })
}

/// The beta flags that the request's own fields need: `compact_20260112` needs `compact-2026-01-12`.
pub(crate) fn betas(request: &CompletionRequest) -> impl Iterator<Item = String> {
    compactions(request).filter_map(|strategy| {
        let date = strategy.strip_prefix("compact_")?;
        let digits = date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit());
        let (year, rest) = date.split_at_checked(4).filter(|_| digits)?;
        let (month, day) = rest.split_at_checked(2)?;
        Some(format!("compact-{year}-{month}-{day}"))
    })
}
