//! The journal and its door. `World` is what remains when a process dies: the home directory and the room.

mod cancel;
mod decide;
mod events;
mod full;
mod looking;
mod naming;
mod order;
mod patches;
mod replay;
mod segments;
mod signals;
mod steps;
mod store;
mod tables;
mod versions;

use std::time::Instant;

use neuron_local::{Journal, JournalError, JournalOptions, JournaledContext, ParkPolicy};
use neuron_patience::patience;
use neuron_types::{
    AgentSpec, ExitReason, Message, RunEvent, RunId, RunInput, RunOutput, RunPhase, Ticket,
    TokenUsage,
};
use rust_decimal::Decimal;
use serde_json::json;
use tempfile::TempDir;

use crate::room::{Act, Room};

/// Counts the events in the database.
pub(crate) const EVENTS: &str = "SELECT count(*) FROM entries, json_each(entries.events)";

pub(crate) struct World {
    pub(crate) home: TempDir,
    pub(crate) room: Room,
    pub(crate) run_id: RunId,
}

impl World {
    /// Returns a home directory with a run that was never executed.
    pub(crate) async fn acting(acts: impl IntoIterator<Item = Act>) -> Self {
        Self::with(Room::acting(acts)).await
    }

    pub(crate) async fn with(room: Room) -> Self {
        let world = Self {
            home: TempDir::new().unwrap(),
            room,
            run_id: run_id("r"),
        };
        let journal = world.journal().await;
        journal
            .create_run(&world.run_id, input(), "local")
            .await
            .unwrap();
        world
    }

    pub(crate) async fn new() -> Self {
        Self::acting([]).await
    }

    /// Returns the journal as another process would open it.
    pub(crate) async fn journal(&self) -> Journal {
        Journal::open(self.home.path()).await.unwrap()
    }

    pub(crate) async fn limited(&self, max_bytes: u64) -> Journal {
        let options = JournalOptions::default().max_bytes(max_bytes);
        Journal::open_with(self.home.path(), options).await.unwrap()
    }

    /// Returns the run's executor as another process would start it.
    pub(crate) async fn door(&self) -> JournaledContext {
        self.door_to(&self.journal().await).await
    }

    pub(crate) async fn door_to(&self, journal: &Journal) -> JournaledContext {
        let deadline = Instant::now() + patience();
        loop {
            let door = JournaledContext::open(journal, &self.run_id, self.room.executor());
            match door.await {
                // A door that was dropped may still be writing.
                Err(JournalError::Executing { .. }) if Instant::now() < deadline => {}
                door => return door.unwrap().with_sink(self.room.sink.clone()),
            }
        }
    }

    pub(crate) async fn parking_door(&self) -> JournaledContext {
        self.door().await.with_park_policy(ParkPolicy::Suspend)
    }

    /// Returns the database as any program sees it.
    pub(crate) fn database(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.home.path().join("neuron.db")).unwrap()
    }

    pub(crate) fn count(&self, query: &str) -> i64 {
        self.database()
            .query_row(query, [], |row| row.get(0))
            .unwrap()
    }
}

pub(crate) fn run_id(id: &str) -> RunId {
    RunId::new(id).unwrap()
}

pub(crate) fn input() -> RunInput {
    RunInput::new(AgentSpec::default(), Message::user("go"))
}

pub(crate) fn ticket(id: &str) -> Ticket {
    Ticket {
        ticket: id.into(),
        tool: Some("write".into()),
        args: Some(json!({ "path": "a" })),
        digest: format!("digest-of-{id}"),
        reason: "the agent asks".into(),
        ..Ticket::default()
    }
}

pub(crate) fn asked(ticket: Ticket) -> RunEvent {
    RunEvent::ApprovalRequested { turn: 1, ticket }
}

pub(crate) fn ended() -> RunEvent {
    RunEvent::RunEnded {
        exit_reason: ExitReason::Complete,
        output: Some("done".into()),
        error: None,
        pools: None,
    }
}

/// Returns the output of a run that did nothing.
pub(crate) fn plain_output(run_id: &RunId) -> RunOutput {
    RunOutput {
        run_id: run_id.clone(),
        engine: "local".into(),
        agent: "default".into(),
        state: RunPhase::Completed,
        exit_reason: Some(ExitReason::Complete),
        output: Some("done".into()),
        turns: 0,
        usage: TokenUsage::default(),
        cost_usd: Some(Decimal::ZERO),
        tree: None,
        reserved: Default::default(),
        pools: None,
        error: None,
        approvals: Vec::new(),
    }
}
