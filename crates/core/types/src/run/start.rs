//! Where a run, or a segment of it, begins.

use crate::{AgentOrigin, AgentSpec, Conversation, Message, OverrideRejected, RunState, RunTags};

/// What a run starts with: a [`RunRequest`](crate::RunRequest) whose agent is resolved.
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
    /// What was said before the prompt, most often nothing.
    pub preamble: Conversation,
    /// The prompt.
    pub prompt: Message,
    /// Why the prompt is not what the agent [is given](AgentSpec::input), as the executor found and the door journaled;
    /// `None` if it is. A run with a reason fails before its first model call.
    pub mismatch: Option<String>,
    /// Why the agent does not take what whoever started the run [changes](crate::Overrides) of it; `None` if it does. A run
    /// with a reason fails before its first step.
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
            preamble: Conversation::default(),
            prompt,
            mismatch: None,
            rejected: None,
        }
    }
}

/// Where a history of a run begins: at the run's start, or where an earlier history left off.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one a history")]
pub enum RunStart {
    /// A new run.
    New(RunInput),
    /// A run that [continued as new](crate::DurableContext::continue_as_new).
    Continued(Box<RunState>),
}

impl RunStart {
    /// The agent that runs.
    #[must_use]
    pub fn agent(&self) -> &AgentSpec {
        match self {
            Self::New(input) => &input.agent,
            Self::Continued(state) => &state.agent,
        }
    }
}

impl From<RunInput> for RunStart {
    fn from(input: RunInput) -> Self {
        Self::New(input)
    }
}

impl From<RunState> for RunStart {
    fn from(state: RunState) -> Self {
        Self::Continued(Box::new(state))
    }
}
