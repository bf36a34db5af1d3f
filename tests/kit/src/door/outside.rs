//! The outer half of a case: what stands beside its run.

use std::{fmt, sync::Arc};

use neuron_patience::patience;
use neuron_types::RunId;
use serde_json::Value;
use tokio::time::timeout;

use super::{
    reach::Reach,
    room::{Calls, DoorRoom},
};

/// The outer half of a case: it knows the calls that were made for the run, and sends it signals.
#[derive(Clone)]
pub struct Outside {
    room: DoorRoom,
    run: String,
    reach: Arc<dyn Reach>,
}

impl Outside {
    /// Returns the outer half for this run, whose calls are made in this room.
    #[must_use]
    pub fn of(room: &DoorRoom, run: &RunId, reach: impl Reach + 'static) -> Self {
        Self {
            room: room.clone(),
            run: run.to_string(),
            reach: Arc::new(reach),
        }
    }

    /// Returns the calls so far, in the order of their names.
    pub(super) fn calls(&self) -> Vec<String> {
        let calls = self.room.calls();
        let calls = calls.borrow();
        let own = calls.begun.iter().filter(|(run, _)| *run == self.run);
        let mut names: Vec<_> = own.map(|(_, name)| name.clone()).collect();
        names.sort();
        names
    }

    /// Waits until these calls have begun.
    pub(super) async fn begun(&self, names: &[&str]) {
        self.until(names, |calls, call| calls.begun.contains(call))
            .await;
    }

    /// Waits until this call has answered.
    pub(super) async fn ended(&self, name: &str) {
        self.until(&[name], |calls, call| calls.ended.contains(call))
            .await;
    }

    async fn until(&self, names: &[&str], is_so: impl Fn(&Calls, &(String, String)) -> bool) {
        let wanted: Vec<_> = names
            .iter()
            .map(|name| (self.run.clone(), (*name).to_owned()))
            .collect();
        let mut calls = self.room.calls();
        let all = calls.wait_for(|calls| wanted.iter().all(|call| is_so(calls, call)));
        let reached = timeout(patience(), all).await.is_ok();
        assert!(reached, "it does not come to {wanted:?}");
    }

    /// Releases a call that is held.
    pub(super) fn let_go(&self, name: &str) {
        self.room.let_go((self.run.clone(), name.to_owned()));
    }

    pub(super) async fn signal(&self, name: &str, payload: Value) {
        self.reach.signal(name, payload).await;
    }

    /// Cancels the run, for the reason by which the inner half knows it.
    pub(super) async fn cancel(&self) {
        self.reach.cancel("enough").await;
    }
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outside")
            .field("run", &self.run)
            .finish_non_exhaustive()
    }
}
