use neuron_types::ReasoningEffort;

const LEVELS: [ReasoningEffort; 5] = [
    ReasoningEffort::Low,
    ReasoningEffort::Medium,
    ReasoningEffort::High,
    ReasoningEffort::XHigh,
    ReasoningEffort::Max,
];

/// What a model takes. `None` is not known: a request is then sent as it is, and the API decides.
///
/// [`ModelCapabilities::of`] has what Anthropic's documentation says of the models that this crate knows;
/// [`Anthropic::model`](crate::Anthropic::model) asks the API.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelCapabilities {
    /// `temperature`, `top_p` and `top_k`, under version 2023-06-01.
    pub sampling: Option<bool>,
    /// Thinking with a budget in tokens.
    pub thinking_budget: Option<bool>,
    /// Thinking whose amount the model decides.
    pub adaptive_thinking: Option<bool>,
    /// Switching thinking off.
    pub no_thinking: Option<bool>,
    /// Thinking between tool calls alone.
    pub between_tools: Option<bool>,
    /// It thinks unless the request switches thinking off.
    pub thinks_unasked: Option<bool>,
    /// The highest effort at which thinking can be switched off; any where `None`.
    pub no_thinking_up_to: Option<ReasoningEffort>,
    /// The levels of effort, from the lowest. Empty where it has none.
    pub efforts: Option<Vec<ReasoningEffort>>,
    /// A tool choice that demands a call.
    pub forced_tool_choice: Option<bool>,
    /// System messages inside the conversation.
    pub system_messages: Option<bool>,
    /// A conversation that ends with the beginning of the answer.
    pub prefill: Option<bool>,
    /// Answers that fit a JSON Schema.
    pub structured_outputs: Option<bool>,
    /// Compaction on demand.
    pub compaction: Option<bool>,
    /// It rejects thinking whose place in the conversation changed.
    pub binds_thinking: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Haiku,
    Sonnet,
    Opus,
    /// Fable and Mythos, which differ in nothing that matters here but the 5.1 models.
    Fable,
    Mythos,
}

impl ModelCapabilities {
    /// Returns what is known of the model of this name, also as gateways write it, such as
    /// `anthropic.claude-opus-4-5-20251101-v1:0`. Nothing is known for a name of another kind.
    #[must_use]
    pub fn of(model: &str) -> Self {
        match parse(model) {
            Some((family, version)) => known(family, version),
            None => Self::default(),
        }
    }
}

fn known(family: Family, version: (u8, u8)) -> ModelCapabilities {
    match version {
        (3, 7) | (4, 0..=5) => ModelCapabilities {
            sampling: Some(true),
            thinking_budget: Some(true),
            adaptive_thinking: Some(false),
            no_thinking: Some(true),
            between_tools: Some(false),
            thinks_unasked: Some(false),
            efforts: Some(match (family, version) {
                (Family::Opus, (4, 5)) => LEVELS.into_iter().take(3).collect(),
                _ => Vec::new(),
            }),
            forced_tool_choice: Some(true),
            system_messages: Some(false),
            prefill: Some(true),
            compaction: Some(false),
            binds_thinking: Some(false),
            ..ModelCapabilities::default()
        },
        (4, minor @ 6..=8) => ModelCapabilities {
            sampling: Some(minor == 6),
            thinking_budget: Some(minor == 6),
            no_thinking: Some(true),
            between_tools: Some(false),
            thinks_unasked: Some(false),
            efforts: Some(
                LEVELS
                    .into_iter()
                    .filter(|level| minor > 6 || *level != ReasoningEffort::XHigh)
                    .collect(),
            ),
            forced_tool_choice: Some(true),
            system_messages: Some(minor == 8),
            binds_thinking: Some(false),
            ..newer()
        },
        (5, minor) => fifth(family, minor),
        _ => ModelCapabilities::default(),
    }
}

fn fifth(family: Family, minor: u8) -> ModelCapabilities {
    let common = ModelCapabilities {
        sampling: Some(false),
        thinking_budget: Some(false),
        thinks_unasked: Some(true),
        efforts: Some(LEVELS.into()),
        ..newer()
    };
    match (family, minor) {
        (Family::Sonnet, 0) => ModelCapabilities {
            no_thinking: Some(true),
            forced_tool_choice: Some(true),
            ..common
        },
        (Family::Opus, 0) => ModelCapabilities {
            // Documented as rejected, and documented as working.
            thinking_budget: None,
            no_thinking: Some(true),
            no_thinking_up_to: Some(ReasoningEffort::High),
            forced_tool_choice: Some(true),
            system_messages: Some(true),
            binds_thinking: Some(true),
            ..common
        },
        (Family::Fable | Family::Mythos, 0) => ModelCapabilities {
            no_thinking: Some(false),
            forced_tool_choice: Some(true),
            system_messages: (family == Family::Fable).then_some(true),
            ..common
        },
        (Family::Fable, 1) | (Family::Opus, 5) => ModelCapabilities {
            no_thinking: Some(false),
            forced_tool_choice: Some(false),
            system_messages: Some(true),
            binds_thinking: Some(true),
            ..common
        },
        (Family::Sonnet, 5) => ModelCapabilities {
            no_thinking: Some(false),
            between_tools: Some(true),
            forced_tool_choice: Some(false),
            system_messages: Some(true),
            binds_thinking: Some(true),
            ..common
        },
        (Family::Haiku, 5) => ModelCapabilities {
            binds_thinking: Some(true),
            ..common
        },
        (Family::Fable | Family::Mythos, 1 | 2) => common,
        _ => ModelCapabilities::default(),
    }
}

/// Returns what every model from 4.6 on has in common.
fn newer() -> ModelCapabilities {
    ModelCapabilities {
        adaptive_thinking: Some(true),
        prefill: Some(false),
        compaction: Some(true),
        ..ModelCapabilities::default()
    }
}

/// Parses family and version: `claude-opus-4-5-20251101`, and the older `claude-3-7-sonnet-20250219`.
fn parse(model: &str) -> Option<(Family, (u8, u8))> {
    let (_, name) = model.rsplit_once("claude-")?;
    let mut parts = name.split(|c: char| !c.is_ascii_alphanumeric()).peekable();
    let before = parts.peek().copied().and_then(family);
    if before.is_some() {
        parts.next();
    }
    let major = parts.next().and_then(number)?;
    let minor = parts.peek().copied().and_then(number);
    if minor.is_some() {
        parts.next();
    }
    let family = before.or_else(|| parts.next().and_then(family))?;
    Some((family, (major, minor.unwrap_or(0))))
}

fn family(word: &str) -> Option<Family> {
    Some(match word {
        "haiku" => Family::Haiku,
        "sonnet" => Family::Sonnet,
        "opus" => Family::Opus,
        "fable" => Family::Fable,
        "mythos" => Family::Mythos,
        _ => return None,
    })
}

/// Parses a part of a version. A date has more digits.
fn number(word: &str) -> Option<u8> {
    (word.len() <= 2).then(|| word.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_vendors_and_gateways_write_it() {
        for (name, parsed) in [
            ("claude-opus-5-5", (Family::Opus, (5, 5))),
            ("claude-fable-5", (Family::Fable, (5, 0))),
            ("claude-opus-4-20250514", (Family::Opus, (4, 0))),
            ("claude-3-7-sonnet-20250219", (Family::Sonnet, (3, 7))),
            ("anthropic/claude-haiku-4.5", (Family::Haiku, (4, 5))),
            (
                "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                (Family::Sonnet, (4, 5)),
            ),
            ("claude-opus-4-6@20260101", (Family::Opus, (4, 6))),
        ] {
            assert_eq!(parse(name), Some(parsed), "{name}");
        }
    }

    #[test]
    fn nothing_is_known_of_other_names() {
        for name in [
            "qwen3",
            "claude-",
            "claude-sonnet-latest",
            "claude-opus-9",
            "claude-instant-1",
            "claude-3-opus-20240229",
            "",
        ] {
            assert_eq!(
                ModelCapabilities::of(name),
                ModelCapabilities::default(),
                "{name}"
            );
        }
    }
}
