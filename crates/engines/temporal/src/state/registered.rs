//! The search attributes that a namespace has.

use std::{
    convert::Infallible,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use temporalio_client::{
    Client,
    tonic::{Code, Request, Status},
};
use temporalio_common::protos::temporal::api::{
    enums::v1::IndexedValueType,
    operatorservice::v1::{ListSearchAttributesRequest, ListSearchAttributesResponse},
    workflowservice::v1::ListWorkflowExecutionsRequest,
};

use crate::state::search_attributes::{AGENT, Attributes, COST, LABELS, OWNER, STATE, TENANT};

/// How long a worker waits for the server's answer before it continues without the attributes.
const PATIENCE: Duration = Duration::from_secs(10);

/// The delay before an unanswered question is sent to the server again.
const AGAIN: Duration = Duration::from_secs(60);

/// Whether the runs of a worker set search attributes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchAttributes {
    /// All of them: the namespace has them. A run whose namespace lacks one is stuck.
    On,
    /// No attribute.
    Off,
    /// Those that the namespace has: the worker asks the server, and asks again while the server does not answer.
    #[default]
    Probe,
}

/// The attributes of a worker's namespace: none until they are known.
///
/// This is read only when a history begins, and the result is recorded there: a replay, by whatever worker, follows the
/// record.
#[derive(Debug, Default)]
pub(crate) struct Registered {
    wanted: SearchAttributes,
    found: Mutex<Attributes>,
}

impl Registered {
    /// Returns the attributes that are wanted.
    pub(crate) fn new(wanted: SearchAttributes) -> Self {
        let is_on = wanted == SearchAttributes::On;
        Self {
            wanted,
            found: Mutex::new(Attributes {
                state: is_on,
                tags: is_on,
            }),
        }
    }

    pub(crate) fn get(&self) -> Attributes {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the server, if that is wanted. Returns `false` if the server did not answer: runs set no attributes until
    /// it does.
    pub(crate) async fn ask(&self, client: &Client) -> bool {
        if self.wanted != SearchAttributes::Probe {
            return true;
        }
        let Some(attributes) = ask(client).await else {
            tracing::warn!(
                "the server does not say which search attributes it has: none are used until it does"
            );
            return false;
        };
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = attributes;
        true
    }

    /// Asks the server every minute until it answers. Never ends.
    pub(crate) async fn ask_again(&self, client: &Client) -> Infallible {
        loop {
            tokio::time::sleep(AGAIN).await;
            if self.ask(client).await {
                return std::future::pending().await;
            }
        }
    }
}

/// Returns the attributes of the client's namespace. Returns `None` if the server does not answer.
pub(crate) async fn ask(client: &Client) -> Option<Attributes> {
    tokio::time::timeout(PATIENCE, answer(client)).await.ok()?
}

async fn answer(client: &Client) -> Option<Attributes> {
    let namespace = client.options().namespace.clone();
    let mut service = client.connection().operator_service();
    let request = Request::new(ListSearchAttributesRequest { namespace });
    match service.list_search_attributes(request).await {
        Ok(answer) => Some(listed(&answer.into_inner())),
        Err(status) if is_no_answer(&status) => None,
        // Temporal Cloud does not reveal the list. Whether it accepts a query shows the same.
        Err(status) => {
            tracing::debug!(%status, "the server does not list its search attributes: queries are tried");
            Some(Attributes {
                state: takes(client, &state_query()).await?,
                tags: takes(client, &tags_query()).await?,
            })
        }
    }
}

fn is_no_answer(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::Unavailable | Code::DeadlineExceeded | Code::ResourceExhausted | Code::Cancelled
    )
}

fn listed(answer: &ListSearchAttributesResponse) -> Attributes {
    let has = |name: &str, kind: IndexedValueType| {
        answer.custom_attributes.get(name) == Some(&(kind as i32))
    };
    let state = [
        has(AGENT.name(), IndexedValueType::Keyword),
        has(STATE.name(), IndexedValueType::Keyword),
        has(COST.name(), IndexedValueType::Double),
    ];
    let tags = [
        has(TENANT.name(), IndexedValueType::Keyword),
        has(OWNER.name(), IndexedValueType::Keyword),
        has(LABELS.name(), IndexedValueType::KeywordList),
    ];
    if is_in_part(state) {
        tracing::warn!(
            "runs do not say by search attributes where they stand: the namespace needs NeuronAgent and \
             NeuronState as Keyword and NeuronCostUsd as Double"
        );
    }
    if is_in_part(tags) {
        tracing::warn!(
            "runs do not say by search attributes whose they are: the namespace needs NeuronTenant and \
             NeuronOwner as Keyword and NeuronLabels as KeywordList"
        );
    }
    Attributes {
        state: !state.contains(&false),
        tags: !tags.contains(&false),
    }
}

fn is_in_part(registered: [bool; 3]) -> bool {
    registered.contains(&true) && registered.contains(&false)
}

/// Returns a query that only a namespace with all of these attributes, of the right types, accepts: a text has no
/// `STARTS_WITH`.
fn state_query() -> String {
    let (agent, state, cost) = (AGENT.name(), STATE.name(), COST.name());
    format!("{agent} STARTS_WITH 'x' AND {state} STARTS_WITH 'x' AND {cost} > 0.5")
}

fn tags_query() -> String {
    let (tenant, owner, labels) = (TENANT.name(), OWNER.name(), LABELS.name());
    format!("{tenant} STARTS_WITH 'x' AND {owner} STARTS_WITH 'x' AND {labels} IN ('x')")
}

/// Returns whether the server accepts this query. Returns `None` if it does not answer.
async fn takes(client: &Client, query: &str) -> Option<bool> {
    let mut service = client.connection().workflow_service();
    let request = ListWorkflowExecutionsRequest {
        namespace: client.options().namespace.clone(),
        page_size: 1,
        query: query.to_owned(),
        ..ListWorkflowExecutionsRequest::default()
    };
    match service
        .list_workflow_executions(Request::new(request))
        .await
    {
        Ok(_) => Some(true),
        Err(status) if is_no_answer(&status) => None,
        Err(_) => Some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_says_it_is_not_asked() {
        let on = Registered::new(SearchAttributes::On).get();
        assert!(on.state && on.tags);
        for wanted in [SearchAttributes::Off, SearchAttributes::Probe] {
            assert_eq!(Registered::new(wanted).get(), Attributes::default());
        }
    }

    #[test]
    fn a_list_counts_only_with_all_of_it() {
        let mut answer = ListSearchAttributesResponse::default();
        let mut has = |name: &str, kind: IndexedValueType| {
            answer
                .custom_attributes
                .insert(name.to_owned(), kind as i32);
            listed(&answer)
        };
        has(AGENT.name(), IndexedValueType::Keyword);
        has(STATE.name(), IndexedValueType::Text);
        assert!(!has(COST.name(), IndexedValueType::Double).state);
        assert!(has(STATE.name(), IndexedValueType::Keyword).state);
        assert!(!has(TENANT.name(), IndexedValueType::Keyword).tags);
    }

    #[test]
    fn a_query_names_what_it_asks_for() {
        assert_eq!(
            state_query(),
            "NeuronAgent STARTS_WITH 'x' AND NeuronState STARTS_WITH 'x' AND NeuronCostUsd > 0.5"
        );
        assert!(tags_query().ends_with("NeuronLabels IN ('x')"));
    }
}
