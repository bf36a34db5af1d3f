use neuron_types::{CompletionRequest, ProviderError, ReasoningEffort, ThinkingConfig};
use serde::Serialize;

use crate::{
    ModelCapabilities, ThinkingDisplay,
    refusal::{invalid, unsupported},
    request::block::Block,
    request::message::WireMessage,
    settings::Settings,
};

/// The API takes no smaller budget.
const LEAST_BUDGET: u64 = 1024;

/// Thinking and effort as they are sent.
#[derive(Debug, Default)]
pub(crate) struct Reasoning {
    pub(crate) thinking: Option<Thinking>,
    pub(crate) effort: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Thinking {
    #[serde(flatten)]
    mode: Mode,
    #[serde(skip_serializing_if = "Option::is_none")]
    display: Option<ThinkingDisplay>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block_binding: Option<BlockBinding>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Mode {
    Enabled { budget_tokens: u64 },
    Adaptive,
    Disabled,
    BetweenTools,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct BlockBinding {
    prefix_mismatch_behavior: &'static str,
}

impl Thinking {
    /// Returns whether the model thinks within a budget of its own.
    pub(crate) fn has_budget(self) -> bool {
        matches!(self.mode, Mode::Enabled { .. })
    }

    /// Returns whether thinking that lost its place is to be dropped.
    pub(crate) fn drops_mismatched(self) -> bool {
        self.block_binding.is_some()
    }
}

impl Reasoning {
    /// Returns thinking and effort, which belong together: effort asks for adaptive thinking unless the request says
    /// otherwise.
    pub(crate) fn new(
        request: &CompletionRequest,
        settings: &Settings,
        model: &ModelCapabilities,
        max_tokens: u64,
        messages: &[WireMessage<'_>],
    ) -> Result<Self, ProviderError> {
        let name = &request.model;
        let asked = match request.thinking {
            Some(ThinkingConfig::Enabled { budget_tokens }) => {
                check_budget(name, model, budget_tokens, max_tokens)?;
                Some(if newest_tool_turn_lacks_thinking(messages) {
                    Mode::Disabled
                } else {
                    Mode::Enabled { budget_tokens }
                })
            }
            Some(ThinkingConfig::Adaptive) => {
                check_adaptive(name, model)?;
                Some(Mode::Adaptive)
            }
            Some(ThinkingConfig::BetweenTools) => {
                check_between_tools(name, model)?;
                Some(Mode::BetweenTools)
            }
            Some(ThinkingConfig::Disabled) => {
                check_off(name, model, request.reasoning_effort)?;
                Some(Mode::Disabled)
            }
            None => None,
        };
        let (mode, effort) = match request.reasoning_effort {
            None => (asked, None),
            Some(ReasoningEffort::None) => match asked {
                None | Some(Mode::Disabled) => {
                    check_off(name, model, None)?;
                    (Some(Mode::Disabled), None)
                }
                Some(_) => {
                    return Err(invalid(
                        "reasoning effort `none` and thinking exclude each other: leave one of them unset",
                    ));
                }
            },
            Some(effort) => {
                let word = effort_word(name, model, effort)?;
                let adaptive = (model.adaptive_thinking != Some(false)).then_some(Mode::Adaptive);
                (asked.or(adaptive), Some(word))
            }
        };
        Ok(Self {
            thinking: settled(mode, settings, model),
            effort,
        })
    }
}

/// Adds how thinking is shown and bound. For a model that thinks unasked, this asks for thinking explicitly.
fn settled(mode: Option<Mode>, settings: &Settings, model: &ModelCapabilities) -> Option<Thinking> {
    let unasked = (model.thinks_unasked == Some(true)).then_some(Mode::Adaptive);
    let thinks = matches!(
        mode.or(unasked),
        Some(Mode::Adaptive | Mode::Enabled { .. })
    );
    let display = settings.thinking_display.filter(|_| thinks);
    let drops = settings.drop_mismatched_thinking
        && mode.or(unasked) == Some(Mode::Adaptive)
        && model.binds_thinking != Some(false);
    let block_binding = drops.then_some(BlockBinding {
        prefix_mismatch_behavior: "drop_block",
    });
    let mode = if display.is_some() || drops {
        mode.or(unasked)
    } else {
        mode
    };
    Some(Thinking {
        mode: mode?,
        display,
        block_binding,
    })
}

/// Returns whether the newest turn of tools lacks thinking. With a budget, the API requires that each call whose result
/// it now receives follows thinking. A context edit may have taken that away, or another model may have made the call.
fn newest_tool_turn_lacks_thinking(messages: &[WireMessage<'_>]) -> bool {
    let [.., turn, results] = messages else {
        return false;
    };
    let answers = |block: &Block<'_>| matches!(block, Block::ToolResult { .. });
    turn.role == "assistant"
        && results.content.iter().any(answers)
        && turn
            .content
            .first()
            .is_some_and(|block| !block.is_thinking())
}

fn check_budget(
    name: &str,
    model: &ModelCapabilities,
    budget: u64,
    max_tokens: u64,
) -> Result<(), ProviderError> {
    if model.thinking_budget == Some(false) {
        return Err(unsupported(format!(
            "{name} takes no thinking budget: use adaptive thinking and set the reasoning effort"
        )));
    }
    if budget < LEAST_BUDGET {
        return Err(invalid(format!(
            "a thinking budget of {budget} tokens is too small: give at least {LEAST_BUDGET}"
        )));
    }
    if budget >= max_tokens {
        return Err(invalid(format!(
            "a thinking budget of {budget} tokens leaves no room for an answer of at most {max_tokens}: \
             raise `max_tokens` or lower the budget"
        )));
    }
    Ok(())
}

fn check_adaptive(name: &str, model: &ModelCapabilities) -> Result<(), ProviderError> {
    if model.adaptive_thinking == Some(false) {
        return Err(unsupported(format!(
            "{name} has no adaptive thinking: give it a thinking budget in tokens"
        )));
    }
    Ok(())
}

fn check_between_tools(name: &str, model: &ModelCapabilities) -> Result<(), ProviderError> {
    if model.between_tools == Some(false) {
        return Err(unsupported(format!(
            "{name} cannot think between tool calls alone: disable thinking or leave it unset"
        )));
    }
    Ok(())
}

fn check_off(
    name: &str,
    model: &ModelCapabilities,
    effort: Option<ReasoningEffort>,
) -> Result<(), ProviderError> {
    if model.no_thinking == Some(false) {
        let instead = if model.between_tools == Some(true) {
            "let it think between tools alone, or leave thinking unset and lower the reasoning effort"
        } else {
            "leave thinking unset and lower the reasoning effort"
        };
        return Err(unsupported(format!(
            "thinking cannot be turned off in {name}: {instead}"
        )));
    }
    match (effort, model.no_thinking_up_to) {
        (Some(effort), Some(most)) if rank(effort) > rank(most) => Err(unsupported(format!(
            "thinking cannot be turned off in {name} at this reasoning effort: lower the effort to {} or \
             leave thinking unset",
            word(most).unwrap_or_default(),
        ))),
        _ => Ok(()),
    }
}

fn effort_word(
    name: &str,
    model: &ModelCapabilities,
    effort: ReasoningEffort,
) -> Result<&'static str, ProviderError> {
    let Some(asked) = word(effort) else {
        return Err(unsupported(
            "anthropic has no such reasoning effort: use low, medium, high, xhigh or max",
        ));
    };
    match &model.efforts {
        Some(levels) if levels.is_empty() => Err(unsupported(format!(
            "{name} has no levels of reasoning effort: give it a thinking budget in tokens instead"
        ))),
        Some(levels) if !levels.contains(&effort) => {
            let levels: Vec<_> = levels.iter().copied().filter_map(word).collect();
            Err(unsupported(format!(
                "{name} has no reasoning effort {asked}: use one of {}",
                levels.join(", "),
            )))
        }
        _ => Ok(asked),
    }
}

const fn word(effort: ReasoningEffort) -> Option<&'static str> {
    Some(match effort {
        ReasoningEffort::Low => "low",
        ReasoningEffort::Medium => "medium",
        ReasoningEffort::High => "high",
        ReasoningEffort::XHigh => "xhigh",
        ReasoningEffort::Max => "max",
        _ => return None,
    })
}

const fn rank(effort: ReasoningEffort) -> u8 {
    match effort {
        ReasoningEffort::Low => 1,
        ReasoningEffort::Medium => 2,
        ReasoningEffort::High => 3,
        ReasoningEffort::XHigh => 4,
        ReasoningEffort::Max => 5,
        _ => 0,
    }
}
