//! The tool results in a history, as far as its workflow knows them.

use std::collections::BTreeMap;

use neuron_types::{ContentBlock, ContentItem, Message, StepId};

use crate::{
    conversation::digest::{Digest, digest_of_texts},
    wire::stated::{Named, ResultOf, StatedBlock, StatedMessage, step_name},
};

/// The size of text from which on a result is named in the input of a model activity. Smaller results are sent: the
/// call may be made by another worker, which would have to read them from the history.
pub(crate) const NAMED: usize = 16 * 1024;

/// The same size for a model call that is made beside the run, where the results are at hand.
pub(crate) const NAMED_BESIDE: usize = 256;

/// The steps whose results are in the history, by the lengths and the digests of their texts.
#[derive(Debug, Default)]
pub(crate) struct KnownResults(BTreeMap<(usize, Digest), StepId>);

impl KnownResults {
    /// Adds the result of a tool call that is in the history.
    pub(crate) fn note(&mut self, step: StepId, content: &[ContentItem]) {
        let length = length(content);
        if length >= NAMED_BESIDE
            && let Some(digest) = digest(content)
        {
            self.0.insert((length, digest), step);
        }
    }

    /// Returns the message, with names in place of the results that are in the history and have at least so many bytes.
    pub(crate) fn state(&self, message: &Message, least: usize) -> StatedMessage {
        let content = message.content.iter().map(|block| {
            self.name(block, least).map_or_else(
                || StatedBlock::Whole(block.clone()),
                |result_of| StatedBlock::Named(Named { result_of }),
            )
        });
        StatedMessage {
            role: message.role,
            content: content.collect(),
        }
    }

    fn name(&self, block: &ContentBlock, least: usize) -> Option<ResultOf> {
        let ContentBlock::ToolResult(result) = block else {
            return None;
        };
        let length = length(&result.content);
        if length < least || self.0.is_empty() {
            return None;
        }
        let step = self.0.get(&(length, digest(&result.content)?))?;
        Some(ResultOf {
            step: step_name(*step),
            tool_use_id: result.tool_use_id.clone(),
            name: result.name.clone(),
            is_error: result.is_error,
        })
    }
}

/// Returns the size of a result's texts.
pub(crate) fn length(content: &[ContentItem]) -> usize {
    let items = content.iter().map(|item| match item {
        ContentItem::Text(text) => text.len(),
        _ => 0,
    });
    items.sum()
}

/// Returns what distinguishes a result from all others; `None` if the result is not text alone.
fn digest(content: &[ContentItem]) -> Option<Digest> {
    let texts = content.iter().map(|item| match item {
        ContentItem::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Option<Vec<_>>>().map(digest_of_texts)
}

#[cfg(test)]
mod tests {
    use neuron_types::ToolResultBlock;

    use super::*;

    fn answer(text: &str) -> Message {
        Message {
            content: vec![ContentBlock::ToolResult(ToolResultBlock {
                tool_use_id: "c1".into(),
                name: "look".into(),
                content: vec![ContentItem::Text(text.into())],
                is_error: false,
            })],
            ..Message::user("")
        }
    }

    fn named(known: &KnownResults, text: &str, least: usize) -> Option<String> {
        let stated = known.state(&answer(text), least);
        stated.names().next().map(|named| named.step.clone())
    }

    #[test]
    fn names_what_the_history_holds_if_it_is_large_enough() {
        let (large, middling, small) = ("x".repeat(NAMED), "y".repeat(1_000), "z".to_owned());
        let mut known = KnownResults::default();
        for (position, text) in [(1, &large), (2, &middling), (3, &small)] {
            let content = [ContentItem::Text(text.clone())];
            known.note(StepId::new(7, position), &content);
        }
        assert_eq!(named(&known, &large, NAMED).as_deref(), Some("7.1"));
        assert_eq!(named(&known, &middling, NAMED), None);
        assert_eq!(
            named(&known, &middling, NAMED_BESIDE).as_deref(),
            Some("7.2")
        );
        assert_eq!(named(&known, &small, NAMED_BESIDE), None);
        assert_eq!(named(&known, &"w".repeat(NAMED), NAMED_BESIDE), None);
    }
}
