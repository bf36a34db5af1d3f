//! Stored sessions in the state in which killed commands leave them.

use chrono::{TimeDelta, Utc};
use neuron_local::{SessionRun, SessionStorage as _, SqliteSessionStorage};
use neuron_types::Message;

use crate::support::Home;

/// Gives the session `notes` to a run, as if the run had taken it long ago; with these messages in it, or those that it
/// has.
pub(crate) fn give(home: &Home, run: SessionRun, messages: Option<Vec<Message>>) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let path = home.path(".neuron/sessions.db");
        let storage = SqliteSessionStorage::open(path).await.unwrap();
        let mut session = storage.load("notes").await.unwrap();
        session.run = Some(SessionRun {
            since: Utc::now() - TimeDelta::days(1),
            ..run
        });
        if let Some(messages) = messages {
            session.messages = messages;
        }
        storage.save(&session).await.unwrap();
    });
}
