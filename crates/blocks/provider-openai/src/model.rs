//! What is known of OpenAI's own models, as of 2026-11-21. What is not certain is left out, and a model that
//! is not listed is not checked.

use std::fmt;

use neuron_types::{CompletionRequest, ProviderError, ReasoningEffort, ToolChoice};

use crate::{models, reasoning::refuse};

use ReasoningEffort::{High, Low, Max, Medium, Minimal, None as NoEffort, XHigh};

/// What a model takes.
#[derive(Debug)]
pub(crate) struct Model {
    names: &'static [&'static str],
    /// The efforts that it takes. Empty where it does not reason.
    efforts: &'static [ReasoningEffort],
    /// How hard it reasons by default, where that is certain.
    default_effort: Option<ReasoningEffort>,
    chat_tools: ChatTools,
}

/// Whether Chat Completions offers the model's tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChatTools {
    Always,
    /// Only beside reasoning effort `none`.
    WithoutReasoning,
    Never,
}

/// Sampling settings and reasoning exclude each other on every model that reasons.
const MODELS: &[Model] = &[
    Model {
        names: &[
            models::GPT_6_2_SOL,
            models::GPT_6_2_ASTRA,
            models::GPT_6_1_SOL,
        ],
        efforts: &[Low, Medium, High, XHigh, Max],
        default_effort: Some(Medium),
        chat_tools: ChatTools::Never,
    },
    Model {
        names: &[models::GPT_6_ASTRA, models::GPT_6_1_TERRA],
        efforts: &[NoEffort, Low, Medium, High, XHigh, Max],
        default_effort: Some(Medium),
        chat_tools: ChatTools::Never,
    },
    Model {
        names: &[
            models::GPT_6_SOL,
            models::GPT_6_LUNA,
            models::GPT_5_6,
            models::GPT_5_6_SOL,
            models::GPT_5_6_TERRA,
            models::GPT_5_6_LUNA,
        ],
        efforts: &[NoEffort, Low, Medium, High, XHigh, Max],
        default_effort: Some(Medium),
        chat_tools: ChatTools::WithoutReasoning,
    },
    Model {
        names: &[
            models::GPT_5_5,
            models::GPT_5_4,
            models::GPT_5_4_MINI,
            models::GPT_5_4_NANO,
        ],
        efforts: &[NoEffort, Low, Medium, High, XHigh],
        default_effort: None,
        chat_tools: ChatTools::WithoutReasoning,
    },
    Model {
        names: &[models::GPT_5_2],
        efforts: &[NoEffort, Low, Medium, High, XHigh],
        default_effort: None,
        chat_tools: ChatTools::Always,
    },
    Model {
        names: &[models::GPT_5_1],
        efforts: &[NoEffort, Low, Medium, High],
        default_effort: Some(NoEffort),
        chat_tools: ChatTools::Always,
    },
    Model {
        names: &[models::GPT_5, models::GPT_5_MINI, models::GPT_5_NANO],
        efforts: &[Minimal, Low, Medium, High],
        default_effort: Some(Medium),
        chat_tools: ChatTools::Always,
    },
    Model {
        names: &[models::O3, models::O4_MINI],
        efforts: &[Low, Medium, High],
        default_effort: Some(Medium),
        chat_tools: ChatTools::Always,
    },
    Model {
        names: &[
            models::GPT_4_1,
            models::GPT_4_1_MINI,
            models::GPT_4_1_NANO,
            models::GPT_4O,
            models::GPT_4O_MINI,
        ],
        efforts: &[],
        default_effort: Some(NoEffort),
        chat_tools: ChatTools::Always,
    },
];

impl Model {
    /// Looks a model up by its name, with or without the date of a snapshot.
    pub(crate) fn known(name: &str) -> Option<&'static Self> {
        let family = without_date(name);
        MODELS.iter().find(|model| model.names.contains(&family))
    }

    pub(crate) const fn reasons(&self) -> bool {
        !self.efforts.is_empty()
    }

    /// Rejects what the model would reject on either API. `effort` is the one that was asked for; returned is the one
    /// to send.
    pub(crate) fn check(
        &self,
        request: &CompletionRequest,
        effort: Option<ReasoningEffort>,
    ) -> Result<Option<ReasoningEffort>, ProviderError> {
        let name = &request.model;
        match effort {
            // A model that does not reason rejects an effort, also that of no reasoning.
            Some(NoEffort) if !self.reasons() => return Ok(None),
            Some(_) if !self.reasons() => {
                return Err(refuse(format!(
                    "{name} does not reason: leave the reasoning effort unset or use a model that does"
                )));
            }
            Some(effort) if !self.efforts.contains(&effort) => {
                return Err(refuse(format!(
                    "{name} takes no reasoning effort \"{}\": use {}",
                    word(effort),
                    Choices(self.efforts),
                )));
            }
            _ => {}
        }
        let reasoning = effort
            .or(self.default_effort)
            .is_some_and(|e| e != NoEffort);
        let sampling = [
            ("temperature", request.temperature.is_some()),
            ("top_p", request.top_p.is_some()),
        ];
        if let Some((setting, _)) = sampling.into_iter().find(|(_, set)| reasoning && *set) {
            let or = if self.efforts.contains(&NoEffort) {
                " or set the reasoning effort to \"none\""
            } else {
                ""
            };
            return Err(refuse(format!(
                "{name} takes no `{setting}` while it reasons: leave `{setting}` unset{or}"
            )));
        }
        Ok(effort)
    }

    /// Rejects tools where Chat Completions does not offer them for the model.
    pub(crate) fn check_chat_tools(
        &self,
        request: &CompletionRequest,
        effort: Option<ReasoningEffort>,
    ) -> Result<(), ProviderError> {
        if request.tools.is_empty() || request.tool_choice == Some(ToolChoice::None) {
            return Ok(());
        }
        let name = &request.model;
        match self.chat_tools {
            ChatTools::Never => Err(refuse(format!(
                "{name} takes no tools in chat completions: use the responses API (kind \"openai-responses\")"
            ))),
            ChatTools::WithoutReasoning
                if effort
                    .or(self.default_effort)
                    .is_some_and(|e| e != NoEffort) =>
            {
                Err(refuse(format!(
                    "{name} takes tools in chat completions only with reasoning effort \"none\": set that, \
                     or use the responses API (kind \"openai-responses\")"
                )))
            }
            _ => Ok(()),
        }
    }
}

/// Returns a model's name without a date: `gpt-5.4-2026-03-05` is a snapshot of `gpt-5.4`.
fn without_date(name: &str) -> &str {
    let Some(start) = name.len().checked_sub("-2026-01-01".len()) else {
        return name;
    };
    let is_date = |date: &str| {
        date.char_indices().all(|(at, c)| match at {
            0 | 5 | 8 => c == '-',
            _ => c.is_ascii_digit(),
        })
    };
    match name.split_at_checked(start) {
        Some((family, date)) if is_date(date) => family,
        _ => name,
    }
}

const fn word(effort: ReasoningEffort) -> &'static str {
    match effort {
        NoEffort => "none",
        Minimal => "minimal",
        Low => "low",
        Medium => "medium",
        High => "high",
        XHigh => "xhigh",
        Max => "max",
        _ => "of this name",
    }
}

struct Choices(&'static [ReasoningEffort]);

impl fmt::Display for Choices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, effort) in self.0.iter().enumerate() {
            let before = match index {
                0 => "",
                _ if index + 1 == self.0.len() => " or ",
                _ => ", ",
            };
            write!(f, "{before}{}", word(*effort))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_known_by_its_family() {
        for name in ["gpt-5.4", "gpt-5.4-2026-03-05", "gpt-4o-2024-08-06"] {
            assert!(Model::known(name).is_some(), "{name}");
        }
        for name in [
            "",
            "gpt-5.4-pro",
            "my-gpt-5.4",
            "gpt-5.4-20260305",
            "gpt-7-ü-2026-01-01",
        ] {
            assert!(Model::known(name).is_none(), "{name}");
        }
    }

    #[test]
    fn no_model_is_listed_twice() {
        let names: Vec<_> = MODELS.iter().flat_map(|model| model.names).collect();
        let distinct: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
    }
}
