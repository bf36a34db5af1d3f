use std::{collections::BTreeSet, fmt};

use neuron_types::{CompletionResponse, ContentBlock, FailureKind, StopReason, StreamEvent};
use serde::Deserialize;
use serde_json::{Map, Value};

/// What comes of an answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Outcome {
    Failed(Failed),
    Answered(Answered),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Failed {
    pub(crate) failure: FailureKind,
    /// A part of the message.
    pub(crate) says: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answered {
    #[serde(default)]
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) thinking: String,
    #[serde(default)]
    pub(crate) calls: Vec<Call>,
    pub(crate) stop: StopReason,
    #[serde(default)]
    pub(crate) input_tokens: u64,
    #[serde(default)]
    pub(crate) output_tokens: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) input: Value,
    /// What else is kept of the call.
    #[serde(default)]
    pub(crate) extra: Map<String, Value>,
}

impl Answered {
    pub(crate) fn of(response: &CompletionResponse) -> Self {
        let mut answered = Self {
            text: String::new(),
            thinking: String::new(),
            calls: Vec::new(),
            stop: response.stop_reason.clone(),
            input_tokens: response.usage.input_tokens,
            output_tokens: response.usage.output_tokens,
        };
        for block in &response.message.content {
            match block {
                ContentBlock::Text(text) => answered.text.push_str(text),
                ContentBlock::Thinking { thinking, .. } => answered.thinking.push_str(thinking),
                ContentBlock::ToolUse {
                    name, input, extra, ..
                } => {
                    let mut extra = extra.clone().unwrap_or_default();
                    let extra = extra.as_object_mut().map(std::mem::take);
                    answered.calls.push(Call {
                        name: name.clone(),
                        input: input.clone(),
                        extra: extra.unwrap_or_default(),
                    });
                }
                // Mistral's thoughts are kept as they came.
                ContentBlock::Other(part) if part["type"] == "thinking" => {
                    let texts = part["thinking"].as_array().into_iter().flatten();
                    let texts = texts.filter_map(|text| text["text"].as_str());
                    answered.thinking.extend(texts);
                }
                _ => {}
            }
        }
        answered
    }

    /// Keeps of the calls' other fields those that are asked about.
    pub(crate) fn like(mut self, expected: &Self) -> Self {
        for (call, expected) in self.calls.iter_mut().zip(&expected.calls) {
            call.extra
                .retain(|name, _| expected.extra.contains_key(name));
        }
        self
    }
}

fn ids(response: &CompletionResponse) -> Vec<(String, String)> {
    let blocks = response.message.content.iter();
    let ids = blocks.filter_map(|block| match block {
        ContentBlock::ToolUse { id, name, .. } => Some((id.clone(), name.clone())),
        _ => None,
    });
    ids.collect()
}

/// Checks that each call has an id, and one of its own unless the server gives several the same: then the run makes others.
pub(crate) fn check_ids(
    response: &CompletionResponse,
    repeats_ids: bool,
    context: fmt::Arguments<'_>,
) {
    let ids = ids(response);
    assert!(
        ids.iter().all(|(id, _)| !id.is_empty()),
        "{context}: {ids:?}"
    );
    let distinct: BTreeSet<_> = ids.iter().map(|(id, _)| id).collect();
    assert!(
        repeats_ids || distinct.len() == ids.len(),
        "{context}: {ids:?}"
    );
}

/// Checks that what a reader sees of a stream is what its answer holds.
pub(crate) fn check_seen(
    seen: &[StreamEvent],
    response: &CompletionResponse,
    context: fmt::Arguments<'_>,
) {
    let (mut text, mut thinking) = (String::new(), String::new());
    let (mut begun, mut ended) = (Vec::new(), Vec::new());
    for event in seen {
        match event {
            StreamEvent::TextDelta(more) => text.push_str(more),
            StreamEvent::ThinkingDelta(more) => thinking.push_str(more),
            StreamEvent::ToolUseStart { id, name } => begun.push((id.clone(), name.clone())),
            StreamEvent::ToolUseEnd { id } => ended.push(id.clone()),
            _ => {}
        }
    }
    let answered = Answered::of(response);
    assert_eq!(text, answered.text, "{context}");
    assert_eq!(begun, ids(response), "{context}");
    let mut begun: Vec<_> = begun.into_iter().map(|(id, _)| id).collect();
    begun.sort();
    ended.sort();
    assert_eq!(ended, begun, "{context}");
    // The reasoning of Responses is kept as it came.
    if !answered.thinking.is_empty() {
        assert_eq!(thinking, answered.thinking, "{context}");
    }
}
