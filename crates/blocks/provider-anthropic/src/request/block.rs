use std::borrow::Cow;

use neuron_types::{ContentItem, DocumentSource, ImageSource};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use crate::request::marker::Marker;

/// A content block as it is sent. Everything but the marker is borrowed.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Block<'a> {
    Text {
        text: &'a str,
        #[serde(flatten)]
        rest: Rest<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Marker>,
    },
    Image {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Marker>,
    },
    Document {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Marker>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: &'a str,
        input: Input<'a>,
        #[serde(flatten)]
        rest: Rest<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Marker>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        content: Vec<ResultItem<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Marker>,
    },
    Compaction {
        content: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Marker>,
    },
    #[serde(untagged)]
    Raw(Cow<'a, Value>),
}

impl Block<'_> {
    /// Returns whether this is thinking, of whatever kind.
    pub(crate) fn is_thinking(&self) -> bool {
        match self {
            Self::Thinking { .. } | Self::RedactedThinking { .. } => true,
            Self::Raw(value) => is_raw_thinking(value),
            _ => false,
        }
    }

    /// Returns whether this is the provider's summary of what was before it.
    pub(crate) fn is_compaction(&self) -> bool {
        match self {
            Self::Compaction { .. } => true,
            Self::Raw(value) => value.get("type").and_then(Value::as_str) == Some("compaction"),
            _ => false,
        }
    }

    /// Returns whether this is the call of a tool that the API runs itself, or the result of one.
    pub(crate) fn is_of_server_tool(&self) -> bool {
        let Self::Raw(value) = self else {
            return false;
        };
        let kind = value.get("type").and_then(Value::as_str);
        kind.is_some_and(|kind| kind == "server_tool_use" || kind.ends_with("_tool_result"))
    }

    /// Returns whether this is text.
    pub(crate) fn is_plain_text(&self) -> bool {
        matches!(self, Self::Text { .. })
    }

    /// Returns whether the block brought a cache marker of its own.
    pub(crate) fn has_own_marker(&self) -> bool {
        match self {
            Self::Text { rest, .. } | Self::ToolUse { rest, .. } => rest.has("cache_control"),
            Self::Raw(value) => Marker::of_native(value).is_some(),
            _ => false,
        }
    }

    /// Ends a cached prefix here. Returns false where the API allows no marker.
    pub(crate) fn mark(&mut self, marker: Marker) -> bool {
        match self {
            Self::Text { cache_control, .. }
            | Self::ToolUse { cache_control, .. }
            | Self::Image { cache_control, .. }
            | Self::Document { cache_control, .. }
            | Self::ToolResult { cache_control, .. }
            | Self::Compaction { cache_control, .. } => {
                *cache_control = Some(marker);
                true
            }
            Self::Thinking { .. } | Self::RedactedThinking { .. } | Self::Raw(_) => false,
        }
    }
}

/// Returns whether a block that was received with fields of its own is thinking.
pub(crate) fn is_raw_thinking(block: &Value) -> bool {
    let kind = block.get("type").and_then(Value::as_str);
    matches!(kind, Some("thinking" | "redacted_thinking"))
}

/// One piece of a tool result.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ResultItem<'a> {
    Text { text: &'a str },
    Image { source: Source<'a> },
}

impl<'a> ResultItem<'a> {
    /// Returns `None` for blank text, which the API rejects.
    pub(crate) fn new(item: &'a ContentItem) -> Option<Self> {
        match item {
            ContentItem::Text(text) if text.trim().is_empty() => None,
            ContentItem::Text(text) => Some(Self::Text { text }),
            ContentItem::Image { source } => Some(Self::Image {
                source: source.into(),
            }),
            _ => None,
        }
    }
}

/// Where the bytes of an image or document are.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
    Text { media_type: &'a str, data: &'a str },
    Url { url: &'a str },
}

impl<'a> From<&'a ImageSource> for Source<'a> {
    fn from(source: &'a ImageSource) -> Self {
        match source {
            ImageSource::Base64 { media_type, data } => Self::Base64 { media_type, data },
            ImageSource::Url { url } => Self::Url { url },
        }
    }
}

impl<'a> From<&'a DocumentSource> for Source<'a> {
    fn from(source: &'a DocumentSource) -> Self {
        match source {
            DocumentSource::Base64Pdf { data } => Self::Base64 {
                media_type: "application/pdf",
                data,
            },
            DocumentSource::PlainText { data } => Self::Text {
                media_type: "text/plain",
                data,
            },
            DocumentSource::Url { url } => Self::Url { url },
        }
    }
}

/// A tool call's arguments. The API takes objects only, so anything else that a model once wrote goes
/// into one.
#[derive(Debug)]
pub(crate) struct Input<'a>(pub(crate) &'a Value);

impl Serialize for Input<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(object) => object.serialize(serializer),
            Value::Null => serializer.serialize_map(Some(0))?.end(),
            other => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("raw_arguments", other)?;
                map.end()
            }
        }
    }
}

/// The fields of a block that it was received with and that have no place of their own.
#[derive(Debug)]
pub(crate) struct Rest<'a> {
    fields: Option<&'a Map<String, Value>>,
    without: &'static [&'static str],
}

impl<'a> Rest<'a> {
    pub(crate) const NONE: Self = Self {
        fields: None,
        without: &[],
    };

    /// Takes the fields of `value`, except those that are named.
    pub(crate) fn of(value: &'a Value, without: &'static [&'static str]) -> Self {
        Self {
            fields: value.as_object(),
            without,
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        let value = self.fields.and_then(|fields| fields.get(name));
        !self.without.contains(&name) && value.is_some_and(|value| !value.is_null())
    }
}

impl Serialize for Rest<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.fields.into_iter().flatten() {
            if !self.without.contains(&name.as_str()) {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}
