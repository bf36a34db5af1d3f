//! The server's own tables: what it knows of runs without a worker.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use neuron_engine::read_request;
use neuron_types::{RunId, RunRequest, RunStatus, RunTags};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;

use super::{
    RestateClient,
    fault::HttpFault,
    restate_client::{BETWEEN_LOOKS, TABLES_PATIENCE, post},
};
use crate::wire::{
    pages::{self, PREFIX, Page},
    service_names::{ENGINE, ServiceNames},
};

/// How long a server that has just started may be unable to query its tables.
const STARTING: Duration = Duration::from_secs(10);

/// How many journals are read at once: the input of a run may be large.
const JOURNALS: usize = 100;

/// The invocation of a run as the server has it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Invocation {
    id: String,
    #[serde(rename = "target_service_key")]
    pub(super) run: String,
    pub(super) created_at: DateTime<Utc>,
    status: String,
    /// The failure that it completed with, if it did.
    #[serde(default)]
    pub(super) completion_failure: Option<String>,
}

/// Returns the SQL condition that holds for the invocations of runs, and for no others. The names were checked when
/// they were made: they have no quote.
pub(super) fn of_runs(names: &ServiceNames) -> String {
    let (agent, segments) = (names.agent(), names.segments(None));
    format!(
        "((target_service_name = '{agent}' AND target_handler_name = 'run') \
         OR (starts_with(target_service_name, '{segments}') AND target_handler_name = 'segment'))"
    )
}

impl Invocation {
    pub(super) fn is_over(&self) -> bool {
        self.status == "completed"
    }
}

/// What a run shows in the tables.
#[derive(Debug)]
pub(super) enum Shown {
    Status(Box<RunStatus>),
    /// It has shown nothing yet.
    Nothing,
    /// A worker of another version wrote it.
    Unreadable,
}

/// A page of a run as the server has it.
#[derive(Deserialize)]
struct PageRow {
    service_name: String,
    service_key: String,
    value_utf8: String,
}

impl PageRow {
    /// Returns the page; `None` if this build cannot read it.
    fn page(&self) -> Option<Page> {
        serde_json::from_str(&self.value_utf8).ok()
    }

    /// Returns whether both are of one run, kept in one place.
    fn is_of(&self, other: &Self) -> bool {
        self.service_name == other.service_name && self.service_key == other.service_key
    }
}

/// A journal's first entry, which has the input of its invocation.
#[derive(Deserialize)]
pub(super) struct FirstEntry {
    id: String,
    entry_json: String,
}

impl FirstEntry {
    /// Returns the run's request; `None` if this build cannot read it. The reason is left out: it may contain what
    /// people wrote.
    pub(super) fn request(&self) -> Option<RunRequest> {
        let input = serde_json::from_slice(&input_in(&self.entry_json)?).ok()?;
        read_request(input).ok()
    }
}

impl RestateClient {
    /// Returns the invocations of `run` that match a condition in SQL.
    pub(super) async fn invocations(
        &self,
        condition: &str,
        limit: usize,
    ) -> Result<Vec<Invocation>, HttpFault> {
        // The names were checked when they were made: they have no quote.
        let agent = self.names.agent();
        let query = format!(
            "SELECT id, target_service_key, created_at, status, completion_failure \
             FROM sys_invocation \
             WHERE target_service_name = '{agent}' AND target_handler_name = 'run' AND {condition} \
             ORDER BY created_at DESC, target_service_key LIMIT {limit}"
        );
        self.query(&query).await
    }

    /// Returns what each of these runs showed last, in the order of the ids.
    pub(super) async fn shown(&self, run_ids: &[RunId]) -> Result<Vec<Shown>, HttpFault> {
        if run_ids.is_empty() {
            return Ok(Vec::new());
        }
        let (agent, record) = (self.names.agent(), self.names.record());
        let keys: Vec<String> = run_ids.iter().map(|run_id| format!("'{run_id}'")).collect();
        let keys = keys.join(", ");
        let pages = format!(
            "service_name IN ('{agent}', '{record}') AND service_key IN ({keys}) \
             AND key LIKE '{PREFIX}%'"
        );
        let query = format!(
            "SELECT page.service_name AS service_name, page.service_key AS service_key, \
             page.value_utf8 AS value_utf8 FROM state page \
             JOIN (SELECT service_name, service_key, MAX(key) AS key FROM state \
                   WHERE {pages} GROUP BY service_name, service_key) newest \
             ON page.service_name = newest.service_name \
             AND page.service_key = newest.service_key AND page.key = newest.key"
        );
        let rows: Vec<PageRow> = self.query(&query).await?;
        let newest: Vec<Option<(&PageRow, Option<Page>)>> = run_ids
            .iter()
            .map(|run_id| {
                let own = rows.iter().filter(|row| row.service_key == run_id.as_str());
                // The record of a run is newer than its workflow's state.
                let newest = own.max_by_key(|row| row.service_name == record)?;
                Some((newest, newest.page()))
            })
            .collect();
        let bases = self.bases(newest.iter().flatten()).await?;
        let shown = newest.into_iter().map(|newest| match newest {
            None => Shown::Nothing,
            Some((_, None)) => Shown::Unreadable,
            Some((row, Some(page))) => {
                let base = bases.iter().find(|base| base.is_of(row));
                match page.into_status(base.and_then(PageRow::page)) {
                    Ok(status) => Shown::Status(Box::new(status)),
                    Err(_) => Shown::Unreadable,
                }
            }
        });
        Ok(shown.collect())
    }

    /// Returns the pages that these pages state the changes to.
    async fn bases<'a>(
        &self,
        pages: impl Iterator<Item = &'a (&'a PageRow, Option<Page>)>,
    ) -> Result<Vec<PageRow>, HttpFault> {
        let wanted = pages.filter_map(|(row, page)| {
            let key = pages::key(page.as_ref()?.since()?);
            let (service, run) = (&row.service_name, &row.service_key);
            Some(format!(
                "(service_name = '{service}' AND service_key = '{run}' AND key = '{key}')"
            ))
        });
        let wanted = wanted.collect::<Vec<_>>().join(" OR ");
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let query =
            format!("SELECT service_name, service_key, value_utf8 FROM state WHERE {wanted}");
        self.query(&query).await
    }

    /// Returns the statuses of runs that have shown nothing, in their order: their inputs are in their journals.
    pub(super) async fn first_statuses(
        &self,
        runs: &[(RunId, Invocation)],
    ) -> Result<Vec<RunStatus>, HttpFault> {
        let mut statuses = Vec::with_capacity(runs.len());
        for runs in runs.chunks(JOURNALS) {
            let entries = self.first_entries(runs.iter().map(|(_, run)| run)).await?;
            statuses.extend(runs.iter().map(|(run_id, invocation)| {
                let entry = entries.iter().find(|entry| entry.id == invocation.id);
                let started = entry.and_then(|entry| started_with(&entry.entry_json));
                let (agent, tags) = started.unwrap_or_default();
                RunStatus::new(run_id.clone(), ENGINE, &agent, invocation.created_at)
                    .with_tags(&tags)
            }));
        }
        Ok(statuses)
    }

    /// Returns the first entries of these journals, as far as the server has them.
    pub(super) async fn first_entries<'a>(
        &self,
        invocations: impl IntoIterator<Item = &'a Invocation>,
    ) -> Result<Vec<FirstEntry>, HttpFault> {
        let ids = invocations.into_iter().map(|run| format!("'{}'", run.id));
        let ids = ids.collect::<Vec<_>>().join(", ");
        let query =
            format!("SELECT id, entry_json FROM sys_journal WHERE id IN ({ids}) AND \"index\" = 0");
        self.query(&query).await
    }

    pub(super) async fn query<T: DeserializeOwned>(
        &self,
        query: &str,
    ) -> Result<Vec<T>, HttpFault> {
        #[derive(Deserialize)]
        struct Rows<T> {
            rows: Vec<T>,
        }
        let body = json!({ "query": query });
        let deadline = Instant::now() + STARTING;
        loop {
            let reply = post(&self.admin, "/query", Some(&body), TABLES_PATIENCE).await?;
            let found = reply.read::<Rows<T>>().await;
            let is_starting = matches!(found, Err(HttpFault::Answered { status: 500.., .. }));
            if is_starting && Instant::now() < deadline {
                tokio::time::sleep(BETWEEN_LOOKS).await;
                continue;
            }
            return Ok(found?.rows);
        }
    }
}

/// Returns the input of an invocation, from its journal's first entry.
fn input_in(entry: &str) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    enum Entry {
        Command(Command),
    }
    #[derive(Deserialize)]
    enum Command {
        Input { payload: Vec<u8> },
    }
    let Entry::Command(Command::Input { payload }) = serde_json::from_str(entry).ok()?;
    Some(payload)
}

/// Returns the agent's name and the run's tags, from a journal's first entry. Requests of other builds are read too.
fn started_with(entry: &str) -> Option<(String, RunTags)> {
    #[derive(Deserialize)]
    struct Input {
        agent: Agent,
        #[serde(flatten)]
        tags: RunTags,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Agent {
        Named(String),
        Defined { name: String },
    }
    let input: Input = serde_json::from_slice(&input_in(entry)?).ok()?;
    let (Agent::Named(name) | Agent::Defined { name }) = input.agent;
    Some((name, input.tags))
}

#[cfg(test)]
mod tests {
    use neuron_types::Message;

    use super::*;

    #[test]
    fn the_agent_is_found_in_what_a_run_was_started_with() {
        for input in [
            json!({"agent": {"name": "default", "head": {}}, "prompt": "go"}),
            json!({"agent": "default", "prompt": "go"}),
        ] {
            let started = started_with(&entry(&input));
            assert_eq!(started, Some(("default".to_owned(), RunTags::default())));
        }
        assert_eq!(started_with("{}"), None);
    }

    #[test]
    fn whose_a_run_is_is_found_in_what_it_was_started_with() {
        let input = json!({
            "agent": "default", "prompt": "go", "tenant": "acme", "owner": "ada", "labels": {"team": "blue"},
        });
        let tags = RunTags {
            tenant: Some("acme".into()),
            owner: Some("ada".into()),
            labels: [("team".to_owned(), "blue".to_owned())].into(),
        };
        assert_eq!(started_with(&entry(&input)), Some(("default".into(), tags)));
    }

    #[test]
    fn the_request_is_what_the_run_was_started_with_and_none_if_another_build_wrote_it() {
        let request = |input| {
            let entry = FirstEntry {
                id: "inv_1".into(),
                entry_json: entry(&input),
            };
            entry.request()
        };
        let json = json!({"agent": "default", "prompt": "go", "tenant": "acme", "overrides": {"deny": ["bash"]}});
        let expected = RunRequest::new("default", Message::user("go"))
            .tenant("acme")
            .deny("bash");
        assert_eq!(request(json), Some(expected));
        for unread in [
            json!({"agent": "default", "prompt": "go", "version": 99}),
            json!({"agent": "default", "prompt": "go", "quota": 1}),
            json!("go"),
        ] {
            assert_eq!(request(unread), None);
        }
    }

    fn entry(input: &serde_json::Value) -> String {
        let payload = serde_json::to_vec(input).unwrap();
        json!({"Command": {"Input": {"headers": [], "payload": payload}}}).to_string()
    }
}
