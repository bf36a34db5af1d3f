//! A run that is complete with the result of its first tool.

use neuron_types::{ASK_PERSON, CallState, ContentItem, FIND_TOOLS, PendingCall};

use crate::AgentMachine;

impl AgentMachine {
    /// Takes the result that completes the run as its output, where the agent has such a result. Returns whether there
    /// is one: a call of the turn was made and has not failed. A person's answer is no result of a tool, nor is a list
    /// of tools that were found, and a run that is handed over continues.
    pub(crate) fn takes_first_result(&mut self) -> bool {
        if !self.state.agent.stop_on_first_tool || self.state.handover.is_some() {
            return false;
        }
        let Some(text) = self.state.calls.iter().find_map(result_text) else {
            return false;
        };
        self.state.last_text = Some(text).filter(|text| !text.is_empty());
        true
    }
}

/// The text of a call's result; `None` if it has failed, or was not made.
fn result_text(slot: &PendingCall) -> Option<String> {
    let CallState::Done(result) = &slot.state else {
        return None;
    };
    if result.is_error || [ASK_PERSON, FIND_TOOLS].contains(&slot.call.name.as_str()) {
        return None;
    }
    // The note of what was changed is for the model.
    let noted = usize::from(slot.edited || slot.replaced);
    let texts = result.content.iter().skip(noted);
    let texts = texts.filter_map(|item| match item {
        ContentItem::Text(text) => Some(text.as_str()),
        _ => None,
    });
    Some(texts.collect::<Vec<_>>().join("\n"))
}
