//! Asking a run about itself, through all of its histories.

use neuron_types::{Message, RecordedEvent, RunId, RunStatus};
use serde::{Serialize, de::DeserializeOwned};
use temporalio_client::{
    Client, WorkflowExecutionInfo, WorkflowHandle, errors::WorkflowQueryError,
};

use crate::{
    AgentClient, ClientError,
    client::{answered, no_worker, not_there, says_no_worker},
    host::AgentRun,
    messages::{self, RunQuery},
    pages::{EventsPage, MessagesPage},
};

impl AgentClient {
    /// The run's status. A worker must be there to answer.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotThere`], [`ClientError::NoWorker`] or [`ClientError::Temporal`].
    pub async fn status(&self, run_id: &RunId) -> Result<RunStatus, ClientError> {
        let handle = self.handle(run_id);
        self.query(run_id, &handle, messages::STATUS, 0).await
    }

    /// The run's events so far. A worker must be there to answer.
    ///
    /// # Errors
    ///
    /// As [`status`](Self::status).
    pub async fn events(&self, run_id: &RunId) -> Result<Vec<RecordedEvent>, ClientError> {
        self.events_after(run_id, 0).await
    }

    /// The run's events behind number `after`, in order. A worker must be there to answer: it replays the
    /// histories that hold them, and no earlier ones. Those that the server has deleted, when their time was
    /// over, are missing.
    ///
    /// # Errors
    ///
    /// As [`status`](Self::status).
    pub async fn events_after(
        &self,
        run_id: &RunId,
        after: u64,
    ) -> Result<Vec<RecordedEvent>, ClientError> {
        let mut pages: Vec<EventsPage> = Vec::new();
        let newest = self.handle(run_id);
        let mut page = self.events_page(run_id, &newest, after).await?;
        loop {
            let earlier = page.previous.clone().filter(|_| page.first > after + 1);
            pages.push(page);
            let Some(earlier) = earlier else {
                break;
            };
            let handle = self.history(run_id, earlier);
            page = match self.events_page(run_id, &handle, after).await {
                Err(ClientError::NotThere { .. }) => break,
                page => page?,
            };
        }
        let mut events = Vec::new();
        for mut page in pages.into_iter().rev() {
            let handle = self.history(run_id, page.history.clone());
            loop {
                let last = page.events.last().map_or(after, |event| event.seq);
                events.append(&mut page.events);
                if !page.more {
                    break;
                }
                page = self.events_page(run_id, &handle, last).await?;
            }
        }
        Ok(events)
    }

    async fn events_page(
        &self,
        run_id: &RunId,
        handle: &WorkflowHandle<Client, AgentRun>,
        after: u64,
    ) -> Result<EventsPage, ClientError> {
        self.query(run_id, handle, messages::EVENTS_AFTER, after)
            .await
    }

    /// The conversation as the newest model call knows it. A worker must be there to answer.
    ///
    /// # Errors
    ///
    /// As [`status`](Self::status).
    pub async fn transcript(&self, run_id: &RunId) -> Result<Vec<Message>, ClientError> {
        let handle = self.handle(run_id);
        let mut conversation = Vec::new();
        let mut known = 0;
        let mut seen = None;
        loop {
            let page: MessagesPage = self
                .query(run_id, &handle, messages::TRANSCRIPT_AFTER, known)
                .await?;
            let form = Some((page.history.clone(), page.form));
            if known > 0 && form != seen {
                // It was rolled over or compacted meanwhile.
                conversation.clear();
                known = 0;
                continue;
            }
            seen = form;
            known = page.known;
            let more = page.more;
            page.append_to(&mut conversation);
            if !more {
                return Ok(conversation);
            }
        }
    }

    /// One history of the run, by the id that Temporal gave it.
    pub(crate) fn history(
        &self,
        run_id: &RunId,
        history: String,
    ) -> WorkflowHandle<Client, AgentRun> {
        let info = WorkflowExecutionInfo::builder()
            .namespace(self.namespace())
            .workflow_id(run_id.as_str())
            .run_id(history)
            .build();
        WorkflowHandle::new(self.temporal().clone(), info)
    }

    async fn query<T: Serialize + DeserializeOwned + 'static>(
        &self,
        run_id: &RunId,
        handle: &WorkflowHandle<Client, AgentRun>,
        name: &'static str,
        after: u64,
    ) -> Result<T, ClientError> {
        let asked = handle.query(RunQuery::<T>::new(name), after, Default::default());
        let answer = answered(run_id, asked).await?;
        answer.map_err(|error| match error {
            WorkflowQueryError::NotFound(_) => not_there(run_id),
            WorkflowQueryError::Rpc(status) if says_no_worker(&status) => no_worker(run_id),
            error => ClientError::temporal(error),
        })
    }
}
