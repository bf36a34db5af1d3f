//! Sessions that use a client for their runs.

use std::{future::Future, sync::Arc};

use neuron_engine::{RunClient, RunClientError};
use neuron_types::{
    Decision, Place, RecordedEvent, RunId, RunOutput, RunRequest, RunStatus, UserMessage,
};
use serde_json::Value;

use crate::{HostError, Session};

/// A [`Session`] whose runs are submitted, watched and signalled by a [`RunClient`].
pub trait ClientSession {
    /// Returns the client of the session's engine.
    fn client(&self) -> &Arc<dyn RunClient>;

    /// See [`Session::execute`].
    fn execute(&self) -> impl Future<Output = Result<(), HostError>>;

    /// See [`Session::kill`].
    fn kill(&self) -> impl Future<Output = Result<(), HostError>>;

    /// See [`Session::restart_engine`].
    fn restart_engine(&self) -> impl Future<Output = Result<(), HostError>>;

    /// See [`Session::histories`].
    fn histories(&self, run_id: &RunId) -> impl Future<Output = Result<u64, HostError>>;

    /// See [`Session::submit`].
    fn submit(
        &self,
        run_id: &RunId,
        request: RunRequest,
    ) -> impl Future<Output = Result<(), HostError>> {
        async move { Ok(self.client().start(run_id, request).await?) }
    }

    /// See [`Session::signal`].
    fn signal(
        &self,
        run_id: &RunId,
        name: &str,
        payload: Value,
    ) -> impl Future<Output = Result<(), HostError>> {
        async move {
            let sent = self.client().signal(run_id, name, payload).await;
            sent.map_err(rejections)
        }
    }

    /// See [`Session::wait`].
    fn wait(&self, run_id: &RunId) -> impl Future<Output = Result<RunOutput, HostError>> {
        async move { Ok(self.client().wait_for_end(run_id).await?) }
    }
}

impl<S: ClientSession> Session for S {
    async fn execute(&self) -> Result<(), HostError> {
        ClientSession::execute(self).await
    }

    async fn kill(&self) -> Result<(), HostError> {
        ClientSession::kill(self).await
    }

    async fn restart_engine(&self) -> Result<(), HostError> {
        ClientSession::restart_engine(self).await
    }

    fn place(&self) -> Place {
        self.client().place()
    }

    async fn submit(&self, run_id: &RunId, request: RunRequest) -> Result<(), HostError> {
        ClientSession::submit(self, run_id, request).await
    }

    async fn decide(&self, run_id: &RunId, decision: &Decision) -> Result<(), HostError> {
        let decided = self.client().decide(run_id, decision).await;
        decided.map_err(rejections)
    }

    async fn send(&self, run_id: &RunId, message: &UserMessage) -> Result<(), HostError> {
        Ok(self.client().send(run_id, message.clone()).await?)
    }

    async fn signal(&self, run_id: &RunId, name: &str, payload: Value) -> Result<(), HostError> {
        ClientSession::signal(self, run_id, name, payload).await
    }

    async fn cancel(&self, run_id: &RunId, reason: Option<String>) -> Result<(), HostError> {
        Ok(self.client().cancel(run_id, reason).await.map(drop)?)
    }

    async fn status(&self, run_id: &RunId) -> Result<RunStatus, HostError> {
        Ok(self.client().status(run_id).await?)
    }

    async fn events(&self, run_id: &RunId) -> Result<Vec<RecordedEvent>, HostError> {
        Ok(self.client().events_after(run_id, 0).await?)
    }

    async fn histories(&self, run_id: &RunId) -> Result<u64, HostError> {
        ClientSession::histories(self, run_id).await
    }

    async fn wait(&self, run_id: &RunId) -> Result<RunOutput, HostError> {
        ClientSession::wait(self, run_id).await
    }
}

fn rejections(error: RunClientError) -> HostError {
    if error.is_rejected() {
        HostError::Refused(error.to_string())
    } else {
        error.into()
    }
}
