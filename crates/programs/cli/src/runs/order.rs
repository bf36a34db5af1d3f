//! The order for a new run.

use std::env;

use neuron_types::{
    AgentRef, Conversation, InvalidRunId, Message, Overrides, RunId, RunRequest, RunTags,
    TraceContext,
};
use uuid::Uuid;

use crate::{
    CliError,
    args::RunArgs,
    runs::{
        input,
        stored::{START, Stored},
    },
    session::Session,
};

/// A run that is to be started.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) run_id: RunId,
    prompt: Message,
    tags: RunTags,
    session: Option<String>,
    /// The id of this start.
    start: String,
}

impl Order {
    /// Reads the prompt.
    ///
    /// # Errors
    ///
    /// [`CliError::NoPrompt`], [`CliError::Stdin`].
    pub(crate) fn read(args: RunArgs) -> Result<Self, CliError> {
        let tags = args.changes.tags();
        let prompt = input::prompt(args.prompt)?;
        Ok(Self {
            session: args.session,
            start: Uuid::now_v7().to_string(),
            run_id: args.id.map_or_else(new_id, Ok)?,
            prompt: Message::user(prompt),
            tags,
        })
    }

    /// Takes the session that the run continues, if it names one, and returns its conversation.
    ///
    /// # Errors
    ///
    /// The errors of [`Stored::take`].
    pub(crate) async fn take_session(
        &self,
        session: &Session,
    ) -> Result<(Option<Stored>, Conversation), CliError> {
        let Some(name) = &self.session else {
            return Ok((None, Conversation::default()));
        };
        let (stored, said) = Stored::take(session, name, &self.run_id, &self.start).await?;
        Ok((Some(stored), said))
    }

    /// Returns the request that starts the run.
    pub(crate) fn request(self, agent: impl Into<AgentRef>, overrides: Overrides) -> RunRequest {
        let mut tags = self.tags;
        if self.session.is_some() {
            tags.labels.insert(START.to_owned(), self.start);
        }
        RunRequest {
            tags,
            overrides,
            ..RunRequest::new(agent, self.prompt)
        }
    }
}

/// Returns the distributed trace that the command is a part of, from the variables `TRACEPARENT` and `TRACESTATE`;
/// `None` without them.
pub(crate) fn trace_around() -> Option<TraceContext> {
    let parent = env::var("TRACEPARENT").ok()?;
    TraceContext::from_headers(&parent, env::var("TRACESTATE").ok().as_deref())
}

/// Returns an id that no other machine makes.
fn new_id() -> Result<RunId, InvalidRunId> {
    RunId::new(Uuid::now_v7().to_string())
}
