//! What lists of runs can be filtered by: search attributes, on namespaces that have them.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use neuron_types::{RunPhase, RunStatus};
use rust_decimal::prelude::ToPrimitive as _;
use temporalio_client::{Client, tonic::Request};
use temporalio_common::{
    protos::temporal::api::{
        enums::v1::IndexedValueType, operatorservice::v1::ListSearchAttributesRequest,
    },
    search_attributes::{SearchAttributeError, SearchAttributeKey, SearchAttributeUpdate},
};

/// A mark in a history: it sets search attributes.
pub(crate) const MARK: &str = "neuron-search-attributes";

const AGENT: SearchAttributeKey<String> = SearchAttributeKey::keyword("NeuronAgent");
const STATE: SearchAttributeKey<String> = SearchAttributeKey::keyword("NeuronState");
const COST: SearchAttributeKey<f64> = SearchAttributeKey::float("NeuronCostUsd");

/// How long a worker waits for the server's answer before it goes without.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether a worker's namespace has the attributes. It has not until it is asked.
///
/// It is looked at only when a history begins, and what came of it is recorded there: a replay, by whatever
/// worker, goes by that.
#[derive(Debug, Default)]
pub(crate) struct Registered(AtomicBool);

impl Registered {
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Asks the server. Where it does not answer, runs go without the attributes.
    pub(crate) async fn ask(&self, client: &Client) {
        let namespace = client.options().namespace.clone();
        let mut service = client.connection().operator_service();
        let request = Request::new(ListSearchAttributesRequest { namespace });
        let asked = service.list_search_attributes(request);
        let answer = match tokio::time::timeout(PATIENCE, asked).await {
            Ok(Ok(answer)) => answer.into_inner(),
            Ok(Err(status)) => {
                tracing::warn!(%status, "the server does not say which search attributes it has: runs set none");
                return;
            }
            Err(_) => {
                tracing::warn!(
                    "the server did not say which search attributes it has: runs set none"
                );
                return;
            }
        };
        let has = |name: &str, kind: IndexedValueType| {
            answer.custom_attributes.get(name) == Some(&(kind as i32))
        };
        let is_registered = [
            has(AGENT.name(), IndexedValueType::Keyword),
            has(STATE.name(), IndexedValueType::Keyword),
            has(COST.name(), IndexedValueType::Double),
        ];
        if is_registered.contains(&true) && is_registered.contains(&false) {
            tracing::warn!(
                "runs set no search attributes: the namespace needs NeuronAgent and NeuronState as Keyword and \
                 NeuronCostUsd as Double"
            );
        }
        let all = is_registered.iter().all(|is_registered| *is_registered);
        self.0.store(all, Ordering::Relaxed);
    }
}

/// What a history has set.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    is_on: bool,
    state: Option<RunPhase>,
}

impl Shown {
    /// This history sets attributes.
    pub(crate) fn turn_on(&mut self) {
        self.is_on = true;
    }

    /// Whether this history sets attributes.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// What is to be set now: all at first, state and cost with every change of state, or nothing.
    pub(crate) fn updates(
        &mut self,
        status: &RunStatus,
    ) -> Result<Vec<SearchAttributeUpdate>, SearchAttributeError> {
        let mut updates = Vec::new();
        if !self.is_on || self.state == Some(status.state) {
            return Ok(updates);
        }
        if self.state.is_none() {
            updates.push(AGENT.try_value_set(status.agent.clone())?);
        }
        updates.push(STATE.try_value_set(status.state.to_string())?);
        let cost = status.cost_usd.and_then(|cost| cost.to_f64());
        updates.push(match cost {
            Some(cost) => COST.try_value_set(cost)?,
            None => COST.value_unset(),
        });
        self.state = Some(status.state);
        Ok(updates)
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use neuron_types::RunId;

    use super::*;

    fn names(updates: &[SearchAttributeUpdate]) -> Vec<&str> {
        updates.iter().map(SearchAttributeUpdate::name).collect()
    }

    #[test]
    fn sets_all_at_first_and_then_what_changes_with_the_state() {
        let run_id = RunId::new("r1").unwrap();
        let mut status = RunStatus::new(run_id, "temporal", "a", DateTime::UNIX_EPOCH);
        let mut shown = Shown::default();
        assert!(shown.updates(&status).unwrap().is_empty());
        shown.turn_on();
        let first = shown.updates(&status).unwrap();
        assert_eq!(
            names(&first),
            ["NeuronAgent", "NeuronState", "NeuronCostUsd"]
        );
        assert!(shown.updates(&status).unwrap().is_empty());
        status.state = RunPhase::Completed;
        status.cost_usd = None;
        let last = shown.updates(&status).unwrap();
        assert_eq!(names(&last), ["NeuronState", "NeuronCostUsd"]);
        assert!(last[1].is_unset());
    }
}
