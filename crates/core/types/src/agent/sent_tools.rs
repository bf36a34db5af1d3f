//! Which of many tools a model is sent.

use std::sync::Arc;

use crate::{
    ASK_PERSON, AgentSpec, FindTools, RequestHead, ToolChoice, ToolDefinition, json_bytes,
};

/// How large all tools of a request are at most as JSON, where none is loaded.
const MOST_BYTES: usize = 8_000;

/// How large the tools of no server are of these, so that there is room for names.
const MOST_OWN_BYTES: usize = 6_000;

/// How many bytes a token has, roughly.
const BYTES_OF_TOKEN: u64 = 4;

/// The tools of an agent that has too many.
struct Split<'a> {
    sent: Vec<&'a ToolDefinition>,
    searched: Vec<&'a ToolDefinition>,
}

/// What room there is for tools.
struct Room {
    tools: usize,
    bytes: usize,
}

impl Room {
    fn is_for(&self, tools: usize, bytes: usize) -> bool {
        tools <= self.tools && bytes <= self.bytes
    }
}

impl AgentSpec {
    /// Returns what a model call has in common with the others of a run that has loaded these tools: the head as it is, unless
    /// there are [too many](crate::ToolSearch) tools. Those that it does not send are
    /// [beside them](RequestHead::searched_tools) where the provider [is to search](crate::ToolSearch::provider).
    #[must_use]
    pub fn sent_head(&self, loaded: &[String]) -> Arc<RequestHead> {
        let Some(Split { sent, searched }) = self.split() else {
            return Arc::clone(&self.head);
        };
        let finder = FindTools::definition(&searched, MOST_BYTES.saturating_sub(bytes_of(&sent)));
        let is_loaded = |tool: &ToolDefinition| loaded.contains(&tool.name);
        let found = loaded.iter().filter_map(|name| {
            let mut known = searched.iter().copied();
            known.find(|tool| tool.name == *name).cloned()
        });
        // What is loaded comes last, so that what a provider has cached of the tools stays good.
        let tools = sent.iter().copied().cloned().chain([finder]);
        let mut head = self.head.with_tools(tools.chain(found).collect());
        if self.tool_search.is_some_and(|search| search.provider) {
            let others = searched.iter().filter(|tool| !is_loaded(tool));
            head.searched_tools = others.copied().cloned().collect();
        }
        Arc::new(head)
    }

    /// Returns the tools that are sent only once they are loaded; none if all are sent.
    #[must_use]
    pub fn searched_tools(&self) -> Vec<&ToolDefinition> {
        self.split().map(|split| split.searched).unwrap_or_default()
    }

    /// Returns whether there are too many tools to send all.
    #[must_use]
    pub fn searches_tools(&self) -> bool {
        self.split().is_some()
    }

    fn split(&self) -> Option<Split<'_>> {
        let search = self.tool_search?;
        if !self.may_search_tools() {
            return None;
        }
        let tools = self.head.tools.iter();
        let (mut sent, others): (Vec<_>, Vec<_>) = tools.partition(|tool| self.is_kept(tool));
        let window = self.context.threshold().saturating_mul(BYTES_OF_TOKEN);
        let share = window / 100 * u64::from(search.at_percent);
        let mut room = Room {
            tools: usize::try_from(search.above).unwrap_or(usize::MAX),
            bytes: usize::try_from(share).unwrap_or(usize::MAX),
        };
        if others.len() <= room.tools && room.is_for(others.len(), bytes_of(&others)) {
            return None;
        }
        let own_bytes = MOST_OWN_BYTES.saturating_sub(bytes_of(&sent));
        room.bytes = room.bytes.min(own_bytes);
        let mut searched = Vec::new();
        let (mut tools, mut bytes) = (0, 0);
        for tool in others {
            let (tools_with, bytes_with) = (tools + 1, bytes + bytes_of(&[tool]));
            if tool.server().is_none() && room.is_for(tools_with, bytes_with) {
                (tools, bytes) = (tools_with, bytes_with);
                sent.push(tool);
            } else {
                searched.push(tool);
            }
        }
        Some(Split { sent, searched })
    }

    /// Returns whether a tool is sent however many there are.
    fn is_kept(&self, tool: &ToolDefinition) -> bool {
        let name = &tool.name;
        let is_chosen = match &self.head.tool_choice {
            Some(ToolChoice::Specific { name: chosen }) => chosen == name,
            _ => false,
        };
        let is_of_loop = self.subagent(name).is_some() || self.handoff(name).is_some();
        is_chosen || is_of_loop || name == ASK_PERSON
    }
}

/// Returns how large tools are as JSON. A definition holds nothing that JSON cannot.
fn bytes_of(tools: &[&ToolDefinition]) -> usize {
    json_bytes(&tools).unwrap_or(usize::MAX)
}
