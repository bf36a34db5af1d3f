use std::sync::Arc;

use neuron_types::{
    Decision, RecordedEvent, RunId, RunOutput, RunPhase, RunRequest, RunStatus, Transcript,
    UserMessage,
};
use serde_json::Value;

use super::{EventPage, OpenTicket, PageRequest, RunClient, RunClientError};

/// One run of an engine. Cheap to clone.
///
/// Making one sends nothing to the engine: its methods fail if there is no such run. They are those of
/// [`RunClient`], with the same contracts and errors.
#[derive(Debug, Clone)]
pub struct RunHandle {
    client: Arc<dyn RunClient>,
    run_id: RunId,
}

impl RunHandle {
    /// Returns the handle of the run with this id.
    #[must_use]
    pub fn new(client: Arc<dyn RunClient>, run_id: RunId) -> Self {
        Self { client, run_id }
    }

    /// Starts a run, and returns its handle.
    ///
    /// # Errors
    ///
    /// As [`RunClient::start`].
    pub async fn start(
        client: Arc<dyn RunClient>,
        run_id: RunId,
        request: impl Into<RunRequest>,
    ) -> Result<Self, RunClientError> {
        client.start(&run_id, request.into()).await?;
        Ok(Self { client, run_id })
    }

    /// Returns the run's id.
    #[must_use]
    pub const fn id(&self) -> &RunId {
        &self.run_id
    }

    /// Returns the client of the run's engine.
    #[must_use]
    pub const fn client(&self) -> &Arc<dyn RunClient> {
        &self.client
    }

    /// As [`RunClient::request`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn request(&self) -> Result<Option<RunRequest>, RunClientError> {
        self.client.request(&self.run_id).await
    }

    /// As [`RunClient::was_started_with`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn was_started_with(&self, request: &RunRequest) -> Result<bool, RunClientError> {
        self.client.was_started_with(&self.run_id, request).await
    }

    /// As [`RunClient::status`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn status(&self) -> Result<RunStatus, RunClientError> {
        self.client.status(&self.run_id).await
    }

    /// As [`RunClient::events`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn events(&self, after: u64, limit: usize) -> Result<EventPage, RunClientError> {
        self.client.events(&self.run_id, after, limit).await
    }

    /// As [`RunClient::events_after`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn events_after(&self, after: u64) -> Result<Vec<RecordedEvent>, RunClientError> {
        self.client.events_after(&self.run_id, after).await
    }

    /// As [`RunClient::transcript`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn transcript(&self) -> Result<Transcript, RunClientError> {
        self.client.transcript(&self.run_id).await
    }

    /// As [`RunClient::output`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn output(&self) -> Result<Option<RunOutput>, RunClientError> {
        self.client.output(&self.run_id).await
    }

    /// As [`RunClient::wait`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn wait(&self) -> Result<RunOutput, RunClientError> {
        self.client.wait(&self.run_id).await
    }

    /// As [`RunClient::wait_for_end`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn wait_for_end(&self) -> Result<RunOutput, RunClientError> {
        self.client.wait_for_end(&self.run_id).await
    }

    /// Returns the run's open tickets, in the order in which they were opened.
    ///
    /// # Errors
    ///
    /// As [`RunClient::status`].
    pub async fn tickets(&self) -> Result<Vec<OpenTicket>, RunClientError> {
        let tickets = self
            .client
            .tickets(Some(&self.run_id), PageRequest::default());
        Ok(tickets.await?.tickets)
    }

    /// As [`RunClient::decide`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn decide(&self, decision: &Decision) -> Result<(), RunClientError> {
        self.client.decide(&self.run_id, decision).await
    }

    /// Queues a message of this text, as [`RunClient::send`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn send(&self, text: impl Into<String>) -> Result<(), RunClientError> {
        let message = UserMessage::new(text);
        self.client.send(&self.run_id, message).await
    }

    /// As [`RunClient::signal`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn signal(&self, name: &str, payload: Value) -> Result<(), RunClientError> {
        self.client.signal(&self.run_id, name, payload).await
    }

    /// As [`RunClient::cancel`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn cancel(&self, reason: Option<String>) -> Result<RunPhase, RunClientError> {
        self.client.cancel(&self.run_id, reason).await
    }

    /// As [`RunClient::upgrade`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn upgrade(&self, by: Option<String>) -> Result<(), RunClientError> {
        self.client.upgrade(&self.run_id, by).await
    }

    /// As [`RunClient::is_executing`].
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn is_executing(&self) -> Result<Option<bool>, RunClientError> {
        self.client.is_executing(&self.run_id).await
    }
}
