//! Tools that the model is sent once they are loaded.

use neuron_types::{ContentItem, FIND_TOOLS, Message, ToolDefinition, ToolOutput};

use crate::AgentMachine;

impl AgentMachine {
    /// Loads the tools that the model calls by their names without having been sent them.
    pub(crate) fn load_called(&mut self) {
        if !self.state.agent.may_search_tools() {
            return;
        }
        let state = &mut self.state;
        let called = state.calls.iter().map(|slot| slot.call.name.as_str());
        let loaded = state.loaded.load(&state.agent, called);
        self.count_loaded(loaded);
    }

    /// Loads what a call has found, and says to the model which of it the run does not have: the executor that made the call
    /// may have another definition of the agent.
    pub(crate) fn load_found(&mut self, index: usize, output: &mut ToolOutput) {
        let found = std::mem::take(&mut output.loaded);
        let slot = self.state.calls.get(index);
        let is_finding = slot.is_some_and(|slot| slot.call.name == FIND_TOOLS);
        if !is_finding || output.is_error || !self.state.agent.may_search_tools() {
            return;
        }
        let state = &mut self.state;
        let loaded = state
            .loaded
            .load(&state.agent, found.iter().map(String::as_str));
        let tools = &state.agent.head.tools;
        let is_missing = |name: &&String| !tools.iter().any(|tool| tool.name == **name);
        let missing: Vec<&str> = found
            .iter()
            .filter(is_missing)
            .map(String::as_str)
            .collect();
        if !missing.is_empty() {
            let note = format!("[not in this run: {}]", missing.join(", "));
            output.content.push(ContentItem::Text(note));
        }
        self.count_loaded(loaded);
    }

    /// So many tools are sent from now on whose size is not known yet.
    fn count_loaded(&mut self, tools: u32) {
        let context = &mut self.state.context;
        context.uncounted_tools = context.uncounted_tools.saturating_add(tools);
        context.reported.tools_since = context.reported.tools_since.saturating_add(tools);
    }

    /// Returns a message that is as large as the tools that were loaded since the size of the conversation was last known;
    /// `None` if none were.
    #[must_use]
    pub fn uncounted_tools(&self) -> Option<Message> {
        let newest = self.newest_loaded(self.state.context.uncounted_tools);
        let text: String = newest
            .map(|tool| format!("{}{}{}", tool.name, tool.description, tool.input_schema))
            .collect();
        (!text.is_empty()).then(|| Message::user(text))
    }

    /// The definitions of the tools that were loaded last, as far as there still are any.
    pub(crate) fn newest_loaded(&self, count: u32) -> impl Iterator<Item = &ToolDefinition> {
        let agent = &self.state.agent;
        let loaded = self.state.loaded.of(&agent.name);
        let newest = loaded.iter().rev();
        let newest = newest.take(usize::try_from(count).unwrap_or(usize::MAX));
        newest.filter_map(|name| agent.head.tools.iter().find(|tool| tool.name == *name))
    }
}
