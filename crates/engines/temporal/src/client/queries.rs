//! Queries to a worker about a run, through all of the run's histories.

use neuron_engine::{EventPage, RunClientError};
use neuron_types::{Message, RecordedEvent, RunId, RunStatus};
use serde::{Serialize, de::DeserializeOwned};
use temporalio_client::{Client, WorkflowExecutionInfo, WorkflowHandle};

use super::{AgentClient, fault::answered};
use crate::wire::{
    agent_run::AgentRun,
    messages::{self, RunQuery},
    pages::{EventsPage, MessagesPage},
};

impl AgentClient {
    /// Returns the status that a worker has.
    pub(super) async fn worker_status(&self, run_id: &RunId) -> Result<RunStatus, RunClientError> {
        let handle = self.handle(run_id);
        self.query(run_id, &handle, messages::STATUS, 0).await
    }

    /// Returns the first events behind number `after` that a worker has: the worker replays the histories that contain
    /// them, and no earlier ones.
    pub(super) async fn worker_events(
        &self,
        run_id: &RunId,
        after: u64,
        limit: usize,
    ) -> Result<EventPage, RunClientError> {
        let mut pages: Vec<EventsPage> = Vec::new();
        let mut incomplete = None;
        let newest = self.handle(run_id);
        let mut page = self.events_page(run_id, &newest, after).await?;
        loop {
            let first = page.first;
            let earlier = page.previous.clone().filter(|_| first > after + 1);
            pages.push(page);
            let Some(earlier) = earlier else {
                break;
            };
            let handle = self.history(run_id, earlier);
            page = match self.events_page(run_id, &handle, after).await {
                Err(error) if error.is_unknown_run() => {
                    incomplete = Some(format!(
                        "the server has deleted the events before number {first}"
                    ));
                    break;
                }
                page => page?,
            };
        }
        let mut events: Vec<RecordedEvent> = Vec::new();
        for mut page in pages.into_iter().rev() {
            let handle = self.history(run_id, page.history.clone());
            loop {
                let last = page.events.last().map_or(after, |event| event.seq);
                events.append(&mut page.events);
                if events.len() > limit {
                    events.truncate(limit);
                    return Ok(EventPage::new(events, true).incomplete(incomplete));
                }
                if !page.more {
                    break;
                }
                page = self.events_page(run_id, &handle, last).await?;
            }
        }
        Ok(EventPage::new(events, false).incomplete(incomplete))
    }

    async fn events_page(
        &self,
        run_id: &RunId,
        handle: &WorkflowHandle<Client, AgentRun>,
        after: u64,
    ) -> Result<EventsPage, RunClientError> {
        self.query(run_id, handle, messages::EVENTS_AFTER, after)
            .await
    }

    /// Returns the conversation as the newest model call knows it. A worker must be there to answer.
    ///
    /// # Errors
    ///
    /// As [`RunClient::status`](neuron_engine::RunClient::status).
    pub async fn conversation(&self, run_id: &RunId) -> Result<Vec<Message>, RunClientError> {
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
                // The run continued as new or was compacted meanwhile.
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

    /// Returns one history of the run, identified by Temporal's run id.
    pub(super) fn history(
        &self,
        run_id: &RunId,
        history: String,
    ) -> WorkflowHandle<Client, AgentRun> {
        let info = WorkflowExecutionInfo::builder()
            .namespace(self.namespace())
            .workflow_id(run_id.as_str())
            .run_id(history)
            .build();
        WorkflowHandle::new(self.client.clone(), info)
    }

    async fn query<T: Serialize + DeserializeOwned + 'static>(
        &self,
        run_id: &RunId,
        handle: &WorkflowHandle<Client, AgentRun>,
        name: &'static str,
        after: u64,
    ) -> Result<T, RunClientError> {
        let asked = handle.query(RunQuery::<T>::new(name), after, Default::default());
        let answer = answered(run_id, asked).await?;
        answer.map_err(|error| self.query_error(run_id, error))
    }
}
