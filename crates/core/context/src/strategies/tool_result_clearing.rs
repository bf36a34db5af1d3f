//! Clearing older tool results.

use neuron_types::{
    ContentBlock, ContentItem, ContextError, ContextStrategy, Message, ModelHandle, ToolResultBlock,
};

use crate::{DEFAULT_AT_TOKENS, TokenCounter, strategies::fit::Fit, strategies::thinking};

/// Replaces the content of older tool results by a note that says how to get it again.
///
/// Every message stays, and every call keeps its result. A result that is no larger than the note is left
/// as it is. A result that was cleared before is not one of the [`keep`](Self::keep) newest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToolResultClearing {
    /// How many of the newest results stay.
    pub keep: usize,
    /// The size in tokens from which the conversation is compacted.
    pub at_tokens: u64,
    /// What tokens are estimated with.
    pub counter: TokenCounter,
}

impl ToolResultClearing {
    /// Keeps this many results, with [`DEFAULT_AT_TOKENS`] and the default counter.
    #[must_use]
    pub fn new(keep: usize) -> Self {
        Self {
            keep,
            at_tokens: DEFAULT_AT_TOKENS,
            counter: TokenCounter::default(),
        }
    }
}

impl ContextStrategy for ToolResultClearing {
    fn should_compact(&self, _messages: &[Message], token_count: u64) -> bool {
        token_count >= self.at_tokens
    }

    async fn compact<M: ModelHandle>(
        &self,
        mut messages: Vec<Message>,
        model: &M,
    ) -> Result<Vec<Message>, ContextError> {
        let fit = Fit::new(self.token_estimate(&messages), self.at_tokens, model);
        clear(&mut messages, self.keep, self.counter)?;
        let estimate = self.token_estimate(&messages);
        fit.judge(messages, estimate, || {
            format!(
                "every message and the newest {} tool results stay: lower keep, add another context \
                 strategy or raise at_tokens",
                self.keep
            )
        })
    }

    fn token_estimate(&self, messages: &[Message]) -> u64 {
        self.counter.estimate_messages(messages)
    }
}

/// Clears what is older. On an error the messages are as they were.
pub(crate) fn clear(
    messages: &mut Vec<Message>,
    keep: usize,
    counter: TokenCounter,
) -> Result<(), ContextError> {
    let mut newer = 0_usize;
    let mut first_edit = None;
    for (index, message) in messages.iter_mut().enumerate().rev() {
        for block in message.content.iter_mut().rev() {
            let ContentBlock::ToolResult(result) = block else {
                continue;
            };
            let note = vec![ContentItem::Text(note(result))];
            if result.content == note {
                continue;
            }
            newer += 1;
            if newer > keep && counter.items(&note) < counter.items(&result.content) {
                result.content = note;
                first_edit = Some(index);
            }
        }
    }
    let Some(first_edit) = first_edit else {
        return Err(ContextError::CompactionFailed(format!(
            "no tool result before the newest {keep} is larger than the note that would replace it: \
             lower keep or add another context strategy"
        )));
    };
    thinking::strip_bound(messages, first_edit);
    Ok(())
}

/// The same for every result of a tool, so that a cleared result is known by it.
fn note(result: &ToolResultBlock) -> String {
    format!(
        "[This result of {tool} was cleared to save space. To see it again call {tool} with the same \
         arguments, unless that would change something a second time: then read what it changed.]",
        tool = result.name
    )
}
