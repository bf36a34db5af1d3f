//! What a run starts with.

use crate::{
    AgentOrigin, AgentSpec, Conversation, Message, OverrideRejected, Parent, RunTags, TraceContext,
};

/// What a run starts with: a [`RunRequest`](crate::RunRequest) that has [begun](crate::DurableContext::begin).
#[derive(Debug, Clone, PartialEq)]
pub struct RunInput {
    /// The agent.
    pub agent: AgentSpec,
    /// How the run came to it, where it names the agent. Without it the run keeps its definition for ever.
    pub origin: Option<AgentOrigin>,
    /// Whose the run is.
    pub tags: RunTags,
    /// The directory that the run works in, as the door knows it or had it journaled; `None` if it does not.
    pub directory: Option<String>,
    /// The run that started it, if one did. The [agent](Self::agent) is held to what that may do.
    pub parent: Option<Box<Parent>>,
    /// What it is a part of in a distributed trace, if the caller who started it named one.
    pub trace: Option<TraceContext>,
    /// What was said before the prompt, most often nothing.
    pub preamble: Conversation,
    /// The prompt.
    pub prompt: Message,
    /// Why the prompt is not what the agent [is given](AgentSpec::input), as the executor found and the door journaled;
    /// `None` if it is. A run with a reason fails before its first model call.
    pub mismatch: Option<String>,
    /// Why the agent does not take what the caller who started the run [changes](crate::Overrides) of it; `None` if it
    /// does. A run with a reason fails before its first step.
    pub rejected: Option<OverrideRejected>,
}

impl RunInput {
    /// A run of this agent with this prompt, and nothing said before it.
    #[must_use]
    pub fn new(agent: AgentSpec, prompt: Message) -> Self {
        Self {
            agent,
            origin: None,
            tags: RunTags::default(),
            directory: None,
            parent: None,
            trace: None,
            preamble: Conversation::default(),
            prompt,
            mismatch: None,
            rejected: None,
        }
    }
}
