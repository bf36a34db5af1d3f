//! The messages that a run leaves in its session.

use std::collections::{BTreeMap, BTreeSet};

use neuron_types::{
    ContentBlock, ContentItem, Message, Role, ToolResultBlock, Transcript, TranscriptItem,
};

/// What a model reads in place of a result that is not kept.
const MISSING: &str = "the result of this call is not kept";

/// Returns what was said in a run as messages that another run can continue from: prompts, messages, answers, and calls
/// with their results. Reasoning is left out, because its provider only accepts it in the conversation that it was made
/// in.
///
/// Every call is followed by its result, however the run ended.
#[must_use]
pub fn conversation_of(transcript: &Transcript) -> Vec<Message> {
    let mut fold = Fold::of(transcript);
    for entry in &transcript.entries {
        fold.take_in(&entry.item);
    }
    fold.answer_open_calls();
    fold.messages
}

struct Fold<'a> {
    messages: Vec<Message>,
    /// The results of calls, by the calls' ids. A result may follow what was said while the call was in flight.
    results: BTreeMap<&'a str, (&'a [ContentItem], bool)>,
    /// The calls that have no result yet, with their tools, in their order.
    open: Vec<(String, String)>,
    /// The calls that already had a result: an id is used once.
    answered: BTreeSet<String>,
}

impl<'a> Fold<'a> {
    fn of(transcript: &'a Transcript) -> Self {
        let mut results = BTreeMap::new();
        for entry in &transcript.entries {
            if let TranscriptItem::ToolResult {
                call_id,
                content: Some(content),
                is_error,
                ..
            } = &entry.item
            {
                let result = (content.as_slice(), *is_error);
                results.entry(call_id.as_str()).or_insert(result);
            }
        }
        Self {
            messages: Vec::new(),
            results,
            open: Vec::new(),
            answered: BTreeSet::new(),
        }
    }

    fn take_in(&mut self, item: &TranscriptItem) {
        match item {
            TranscriptItem::Prompt { text }
            | TranscriptItem::Message { text }
            | TranscriptItem::AgentAsked { text, .. } => {
                self.answer_open_calls();
                self.say(Role::User, ContentBlock::Text(text.clone()));
            }
            TranscriptItem::Text { text } if !text.is_empty() => {
                self.answer_open_calls();
                self.say(Role::Assistant, ContentBlock::Text(text.clone()));
            }
            TranscriptItem::ToolCall {
                call_id,
                tool,
                args,
            } => {
                self.open.push((call_id.clone(), tool.clone()));
                self.say(
                    Role::Assistant,
                    ContentBlock::tool_use(call_id, tool, args.clone()),
                );
            }
            TranscriptItem::ToolResult {
                call_id,
                tool,
                is_error,
                content,
                ..
            } => {
                let Some(index) = self.open.iter().position(|(id, _)| id == call_id) else {
                    return;
                };
                self.open.remove(index);
                let missing = || vec![ContentItem::Text(MISSING.to_owned())];
                let content = content.clone().unwrap_or_else(missing);
                self.result(call_id, tool, content, *is_error);
            }
            _ => {}
        }
    }

    fn answer_open_calls(&mut self) {
        for (id, tool) in std::mem::take(&mut self.open) {
            let known = self.results.get(id.as_str());
            let (content, is_error) = match known {
                Some((content, is_error)) => (content.to_vec(), *is_error),
                None => (vec![ContentItem::Text(MISSING.to_owned())], true),
            };
            self.result(&id, &tool, content, is_error);
        }
    }

    fn result(&mut self, id: &str, tool: &str, content: Vec<ContentItem>, is_error: bool) {
        if !self.answered.insert(id.to_owned()) {
            return;
        }
        let block = ContentBlock::ToolResult(ToolResultBlock {
            tool_use_id: id.to_owned(),
            name: tool.to_owned(),
            content,
            is_error,
        });
        self.say(Role::User, block);
    }

    /// Adds a block to the last message, if it is of the same role.
    fn say(&mut self, role: Role, block: ContentBlock) {
        match self.messages.last_mut() {
            Some(last) if last.role == role => last.content.push(block),
            _ => self.messages.push(Message {
                role,
                content: vec![block],
            }),
        }
    }
}
