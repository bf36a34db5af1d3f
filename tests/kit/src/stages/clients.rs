//! Helpers of the scenarios about a client.

use std::sync::Arc;

use neuron_engine::{Cursor, PageRequest, RunClient, RunClientError, RunFilter};
use neuron_patience::patience;
use neuron_types::RunStatus;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{ClientSession, Host, Stage};

pub(super) fn answering() -> Value {
    json!({"turns": [{"text": "Done."}]})
}

pub(super) async fn opened<H: Host>(host: &H, name: &str) -> (Stage<H::Session>, Arc<dyn RunClient>)
where
    H::Session: ClientSession,
{
    let stage = Stage::open_idle(host, name).await;
    let client = Arc::clone(stage.session.client());
    (stage, client)
}

/// Returns the result of a future that resolves within [`patience`].
pub(super) async fn soon<T>(
    work: impl Future<Output = Result<T, RunClientError>>,
    what: &str,
) -> T {
    match timeout(patience(), work).await {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => panic!("{what}: {error:?}"),
        Err(_) => panic!("{what}: not within {:?}", patience()),
    }
}

/// Returns the runs on all pages of this size, in order.
pub(super) async fn listed(
    client: &dyn RunClient,
    filter: &RunFilter,
    size: usize,
) -> Vec<RunStatus> {
    let mut runs = Vec::new();
    let mut page = PageRequest::first(size);
    loop {
        let listed = soon(client.list(filter, page), "a page of runs").await;
        assert!(listed.runs.len() <= size);
        assert_eq!(listed.incomplete, None);
        runs.extend(listed.runs);
        match listed.next {
            // The cursor is restored as by a program that stores it.
            Some(next) => page = PageRequest::first(size).after(Cursor::new(next.as_str())),
            None => return runs,
        }
    }
}
